import { COMMAND_IDS, COMMAND_NAMES, type Command, hasShortMessage, LAYOUTS } from './commands.js'

/** A protocol data unit. Absent fields of its command are sent as empty or 0. */
export interface Pdu extends Partial<Fields> {
  command: Command
  status: number
  sequence: number
  shortMessage?: Buffer
  /** Optional parameters by tag; the first of duplicates wins. */
  tlvs?: ReadonlyMap<number, Buffer>
}

interface Fields {
  systemId: string
  password: string
  systemType: string
  interfaceVersion: number
  addrTon: number
  addrNpi: number
  addressRange: string
  serviceType: string
  sourceTon: number
  sourceNpi: number
  source: string
  destTon: number
  destNpi: number
  destination: string
  esmClass: number
  protocolId: number
  priority: number
  scheduleTime: string
  validity: string
  registeredDelivery: number
  replaceIfPresent: number
  dataCoding: number
  defaultMessageId: number
  messageId: string
  finalDate: string
  messageState: number
  errorCode: number
}

export const HEADER = 16
/** A message_payload may have 64 KiB; no valid PDU is longer than this. */
export const MAX_PDU = 70_000

/** A field is too long for its place in the PDU. */
export class PduTooLong extends Error {}

const scratch = Buffer.alloc(MAX_PDU)

export function encodePdu(pdu: Pdu): Buffer {
  let at = HEADER
  const values = pdu as unknown as Record<string, string | number | undefined>
  for (const [name, kind] of LAYOUTS[pdu.command]) {
    const value = values[name]
    if (kind === 'u8') {
      scratch[at++] = (value as number | undefined) ?? 0
      continue
    }
    const text = (value as string | undefined) ?? ''
    if (text.length >= kind || text.includes('\0'))
      throw new PduTooLong(`${name}: must have at most ${kind - 1} characters`)
    at += scratch.write(text, at, 'latin1')
    scratch[at++] = 0
  }
  if (hasShortMessage(pdu.command)) {
    const message = pdu.shortMessage ?? Buffer.alloc(0)
    if (message.length > 255) throw new PduTooLong('short_message: must have at most 255 octets')
    scratch[at++] = message.length
    at += message.copy(scratch, at)
  }
  for (const [tag, value] of pdu.tlvs ?? []) {
    if (at + 4 + value.length > MAX_PDU) throw new PduTooLong('tlvs: the PDU would exceed 70,000 octets')
    at = scratch.writeUInt16BE(tag, at)
    at = scratch.writeUInt16BE(value.length, at)
    at += value.copy(scratch, at)
  }
  scratch.writeUInt32BE(at, 0)
  scratch.writeUInt32BE(COMMAND_IDS[pdu.command], 4)
  scratch.writeUInt32BE(pdu.status, 8)
  scratch.writeUInt32BE(pdu.sequence, 12)
  return Buffer.from(scratch.subarray(0, at))
}

/** The header of a PDU with an unknown command. */
export interface UnknownPdu {
  command: undefined
  commandId: number
  sequence: number
}

/**
 * Reads one whole PDU without trusting it: a string without NUL ends with the octets, an excessive length is cut,
 * and missing fields are empty. Some peers omit the body when they report an error.
 */
export function decodePdu(octets: Buffer): Pdu | UnknownPdu {
  const commandId = octets.readUInt32BE(4)
  const sequence = octets.readUInt32BE(12)
  const command = COMMAND_NAMES.get(commandId)
  if (!command) return { command: undefined, commandId, sequence }
  const pdu: Record<string, unknown> = { command, status: octets.readUInt32BE(8), sequence }
  let at = HEADER
  for (const [name, kind] of LAYOUTS[command]) {
    if (kind === 'u8') {
      pdu[name] = at < octets.length ? octets[at++] : 0
      continue
    }
    let end = octets.indexOf(0, at)
    if (end < 0) end = octets.length
    pdu[name] = octets.toString('latin1', at, end)
    at = Math.min(end + 1, octets.length)
  }
  if (hasShortMessage(command)) {
    const length = at < octets.length ? octets[at++]! : 0
    pdu.shortMessage = Buffer.from(octets.subarray(at, at + length))
    at += length
  }
  // The rest of an alert_notification is not optional parameters.
  if (at < octets.length && command !== 'alert_notification') pdu.tlvs = readTlvs(octets, at)
  return pdu as unknown as Pdu
}

function readTlvs(octets: Buffer, from: number): Map<number, Buffer> {
  const tlvs = new Map<number, Buffer>()
  for (let at = from; at + 4 <= octets.length; ) {
    const tag = octets.readUInt16BE(at)
    const length = octets.readUInt16BE(at + 2)
    at += 4
    if (!tlvs.has(tag)) tlvs.set(tag, Buffer.from(octets.subarray(at, at + length)))
    at += length
  }
  return tlvs
}
