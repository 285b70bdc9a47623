import { TAG } from './commands.js'
import type { Pdu } from './pdu.js'
import type { Encoded } from './text.js'

/** How a text too long for one message travels. */
export type LongText = 'udh' | 'sar' | 'payload'

/** What a part adds to the PDU that carries it. */
export type PartFields = Required<Pick<Pdu, 'esmClass' | 'shortMessage'>> & Pick<Pdu, 'tlvs'>

const UDH_PRESENT = 0x40
/** Parts are counted in one octet. */
export const MAX_PARTS = 255

/** The pieces of a text, never cut within a character. */
export function cut({ octets, breaks, room }: Encoded): Buffer[] {
  if (octets.length <= room.whole) return [octets]
  const pieces: Buffer[] = []
  for (let from = 0; from < octets.length; ) {
    let to = Math.min(from + room.part, octets.length)
    while (to < octets.length && breaks(to)) to--
    pieces.push(octets.subarray(from, to))
    from = to
  }
  return pieces
}

/** `ref` is the same in all parts of a text; the carrier's side takes its low octet, or two. */
export function partsOf(text: Encoded, how: LongText, ref: number): PartFields[] {
  if (how === 'payload' && text.octets.length > text.room.whole)
    return [
      { esmClass: 0, shortMessage: Buffer.alloc(0), tlvs: new Map([[TAG.messagePayload, text.octets]]) },
    ]
  const pieces = cut(text)
  if (pieces.length === 1) return [{ esmClass: 0, shortMessage: pieces[0]! }]
  return pieces.map((piece, i): PartFields => {
    if (how === 'sar') {
      const tlvs = new Map([
        [TAG.sarMsgRefNum, Buffer.from([(ref >> 8) & 0xff, ref & 0xff])],
        [TAG.sarTotalSegments, Buffer.from([pieces.length])],
        [TAG.sarSegmentSeqnum, Buffer.from([i + 1])],
      ])
      return { esmClass: 0, shortMessage: piece, tlvs }
    }
    const header = Buffer.from([5, 0, 3, ref & 0xff, pieces.length, i + 1])
    return { esmClass: UDH_PRESENT, shortMessage: Buffer.concat([header, piece]) }
  })
}

export interface Arrived {
  octets: Buffer
  /** Which part of which text, counted from 1; absent when it is whole. */
  part?: { ref: string; n: number; total: number }
}

/** The text of a PDU that came in, without its header, and its place among others. */
export function arrivedIn(pdu: Pdu): Arrived {
  const payload = pdu.tlvs?.get(TAG.messagePayload)
  const message = pdu.shortMessage?.length ? pdu.shortMessage : (payload ?? Buffer.alloc(0))
  if (((pdu.esmClass ?? 0) & UDH_PRESENT) === 0) return { octets: message, part: sarOf(pdu) }
  const length = message[0] ?? 0
  // A header that says it is longer than everything is none.
  if (length + 1 > message.length) return { octets: message }
  return { octets: message.subarray(length + 1), part: concatenationIn(message.subarray(1, length + 1)) }
}

function concatenationIn(header: Buffer): Arrived['part'] {
  for (let at = 0; at + 2 <= header.length; ) {
    const kind = header[at]!
    const value = header.subarray(at + 2, at + 2 + header[at + 1]!)
    if (kind === 0 && value.length === 3) return placeOf(`8:${value[0]}`, value[2]!, value[1]!)
    if (kind === 8 && value.length === 4) return placeOf(`16:${value.readUInt16BE(0)}`, value[3]!, value[2]!)
    at += 2 + value.length
  }
  return undefined
}

function sarOf({ tlvs }: Pdu): Arrived['part'] {
  const ref = tlvs?.get(TAG.sarMsgRefNum)
  const total = tlvs?.get(TAG.sarTotalSegments)?.[0]
  const n = tlvs?.get(TAG.sarSegmentSeqnum)?.[0]
  if (!ref || ref.length < 2 || total === undefined || n === undefined) return undefined
  return placeOf(`sar:${ref.readUInt16BE(0)}`, n, total)
}

/** A place that cannot be is none: the text is taken as it is. */
function placeOf(ref: string, n: number, total: number): Arrived['part'] {
  return total > 1 && n >= 1 && n <= total ? { ref, n, total } : undefined
}
