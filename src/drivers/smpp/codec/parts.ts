import { TAG } from './commands.js'
import type { Pdu } from './pdu.js'
import type { EncodedText } from './text.js'

/** How a text that is too long for one message is sent. */
export type LongText = 'udh' | 'sar' | 'payload'

/** Fields that differ between the parts of a text. */
export type PartFields = Required<Pick<Pdu, 'esmClass' | 'shortMessage'>> & Pick<Pdu, 'tlvs'>

const UDH_PRESENT = 0x40
/** The part count is one octet. */
export const MAX_PARTS = 255

/** Splits a text without breaking a character. */
export function cut({ octets, breaks, room }: EncodedText): Buffer[] {
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

/** `ref` is shared by all parts of a text; UDH uses its low octet, SAR both. */
export function partsOf(text: EncodedText, how: LongText, ref: number): PartFields[] {
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

export interface IncomingText {
  octets: Buffer
  /** Position in a longer text, counted from 1; absent for a complete text. */
  part?: { ref: string; n: number; total: number }
}

/** Reads the text of an inbound PDU and its position in a longer text. */
export function readIncoming(pdu: Pdu): IncomingText {
  const payload = pdu.tlvs?.get(TAG.messagePayload)
  const message = pdu.shortMessage?.length ? pdu.shortMessage : (payload ?? Buffer.alloc(0))
  if (((pdu.esmClass ?? 0) & UDH_PRESENT) === 0) return { octets: message, part: sarOf(pdu) }
  const length = message[0] ?? 0
  // A header length beyond the message is invalid: there is no header.
  if (length + 1 > message.length) return { octets: message }
  return { octets: message.subarray(length + 1), part: concatenationIn(message.subarray(1, length + 1)) }
}

function concatenationIn(header: Buffer): IncomingText['part'] {
  for (let at = 0; at + 2 <= header.length; ) {
    const kind = header[at]!
    const value = header.subarray(at + 2, at + 2 + header[at + 1]!)
    if (kind === 0 && value.length === 3) return validPart(`8:${value[0]}`, value[2]!, value[1]!)
    if (kind === 8 && value.length === 4)
      return validPart(`16:${value.readUInt16BE(0)}`, value[3]!, value[2]!)
    at += 2 + value.length
  }
  return undefined
}

function sarOf({ tlvs }: Pdu): IncomingText['part'] {
  const ref = tlvs?.get(TAG.sarMsgRefNum)
  const total = tlvs?.get(TAG.sarTotalSegments)?.[0]
  const n = tlvs?.get(TAG.sarSegmentSeqnum)?.[0]
  if (!ref || ref.length < 2 || total === undefined || n === undefined) return undefined
  return validPart(`sar:${ref.readUInt16BE(0)}`, n, total)
}

/** Undefined for an impossible position: the text is then taken as complete. */
function validPart(ref: string, n: number, total: number): IncomingText['part'] {
  return total > 1 && n >= 1 && n <= total ? { ref, n, total } : undefined
}
