import { HEADER, MAX_PDU } from './pdu.js'

export type Frames = { pdus: Buffer[]; broken?: { length: number; sequence: number } }

/**
 * Splits a byte stream into PDUs. An invalid length ends the stream, because the start of the next PDU cannot be
 * found.
 */
export function createFramer(): (chunk: Buffer) => Frames {
  let rest: Buffer[] = []
  let held = 0
  let broken = false

  /** Joins chunks only when a whole PDU is there, so that a peer that sends single octets causes no copies. */
  const join = () => {
    if (rest.length > 1) rest = [Buffer.concat(rest, held)]
    return rest[0]!
  }
  /** The command_length field, which may span chunks. */
  const lengthAt = () => (rest[0]!.length >= 4 ? rest[0]! : join()).readUInt32BE(0)

  return (chunk) => {
    if (broken) return { pdus: [] }
    if (chunk.length > 0) rest.push(chunk)
    held += chunk.length
    if (held < 4) return { pdus: [] }
    let length = lengthAt()
    if (length >= HEADER && length <= MAX_PDU && held < length) return { pdus: [] }
    const octets = join()
    const pdus: Buffer[] = []
    let at = 0
    while (octets.length - at >= 4) {
      length = octets.readUInt32BE(at)
      if (length < HEADER || length > MAX_PDU) {
        broken = true
        rest = []
        const hasSequence = octets.length - at >= HEADER
        return { pdus, broken: { length, sequence: hasSequence ? octets.readUInt32BE(at + 12) : 0 } }
      }
      if (octets.length - at < length) break
      pdus.push(octets.subarray(at, at + length))
      at += length
    }
    // A copy, so that a few octets do not keep the whole chunk in memory.
    rest = at < octets.length ? [Buffer.from(octets.subarray(at))] : []
    held = octets.length - at
    return { pdus }
  }
}
