import { HEADER, MAX_PDU } from './pdu.js'

export type Framed = { pdus: Buffer[]; broken?: { length: number; sequence: number } }

/**
 * Cuts what a socket brings into PDUs. A length that cannot be one ends it: there is no way to find the beginning
 * of the next PDU, so the connection is of no more use.
 */
export function createFramer(): (chunk: Buffer) => Framed {
  let rest: Buffer[] = []
  let held = 0
  let broken = false

  /** Joined only when a whole PDU is there: a peer that sends single octets costs no copies of what came before. */
  const join = () => {
    if (rest.length > 1) rest = [Buffer.concat(rest, held)]
    return rest[0]!
  }
  /** The first four octets, wherever they are. */
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
    // A copy, so that a few octets do not keep a whole chunk alive.
    rest = at < octets.length ? [Buffer.from(octets.subarray(at))] : []
    held = octets.length - at
    return { pdus }
  }
}
