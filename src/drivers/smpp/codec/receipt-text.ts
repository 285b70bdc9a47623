import { TAG } from './commands.js'
import type { Pdu } from './pdu.js'

/** A carrier's report about an accepted message. */
export interface DeliveryReport {
  /** The id as spelled in the report, which may differ from the one in the answer; empty if there is none. */
  id: string
  /** Our reference number of the send, if the carrier returns it. */
  ref: number | undefined
  status: 'SENT' | 'DELIVERED' | 'ERROR' | undefined
  code: string
  detail: string
  /** When the carrier accepted the message, in local time of an unknown zone. */
  submittedAt: number | undefined
  /** The beginning of the message. */
  text: string
}

type Status = DeliveryReport['status']

/**
 * The name is the prefix that all carriers share; the number is the value of the optional parameter message_state.
 */
const STATES: readonly (readonly [name: string, state: number, status: Status])[] = [
  ['ENROUTE', 1, 'SENT'],
  ['DELIV', 2, 'DELIVERED'],
  ['DELVRD', 2, 'DELIVERED'],
  ['DLVRD', 2, 'DELIVERED'],
  ['EXPIRED', 3, 'ERROR'],
  ['DELETED', 4, 'ERROR'],
  ['UNDELIV', 5, 'ERROR'],
  ['ACCEPT', 6, 'SENT'],
  ['UNKNOWN', 7, undefined],
  ['REJECT', 8, 'ERROR'],
]

const KIND = 0x3c
const MESSAGE = 0x00
const DELIVERY_RECEIPT = 0x04
const INTERMEDIATE = 0x20

/** What a line's own pattern found in a receipt. */
export type OwnReading = Pick<ParsedReceipt, 'id' | 'stat' | 'err'>

/** Reads a receipt in the carrier's own format; undefined if it does not match. */
export type ReceiptReader = (text: string) => Promise<OwnReading | undefined>

/** Whether the PDU is a message, not a receipt. */
export function isMessage({ esmClass = 0, tlvs }: Pdu): boolean {
  return (esmClass & KIND) === MESSAGE && !tlvs?.has(TAG.receiptedMessageId)
}

/**
 * Undefined for a message. "nothing" for a notification without information, such as the acknowledgement of a
 * phone.
 */
export function reportIn(pdu: Pdu, text: string, own?: OwnReading): DeliveryReport | 'nothing' | undefined {
  if (isMessage(pdu)) return undefined
  const kind = (pdu.esmClass ?? 0) & KIND
  const idParameter = pdu.tlvs?.get(TAG.receiptedMessageId)
  if (kind !== MESSAGE && kind !== DELIVERY_RECEIPT && kind !== INTERMEDIATE) return 'nothing'
  const parsed = { ...parseReceipt(text), ...own }
  const id = (idParameter && cString(idParameter)) || (parsed.id ?? '')
  const ref = pdu.tlvs?.get(TAG.userMessageReference)
  if (!id && !ref) return 'nothing'
  const state = pdu.tlvs?.get(TAG.messageState)?.[0]
  const known =
    STATES.find(([, number]) => number === state) ?? STATES.find(([name]) => parsed.stat?.startsWith(name))
  const network = pdu.tlvs?.get(TAG.networkErrorCode)
  const code = network && network.length >= 3 ? String(network.readUInt16BE(1)) : (parsed.err ?? '')
  const status = known?.[2]
  return {
    id,
    ref: ref && ref.length >= 2 ? ref.readUInt16BE(0) : undefined,
    // An intermediate notification is not final.
    status: status && kind === INTERMEDIATE ? 'SENT' : status,
    code,
    detail: [parsed.stat ?? known?.[0], code && `error ${code}`].filter(Boolean).join(', '),
    submittedAt: parsed.submitted,
    text: parsed.text ?? '',
  }
}

interface ParsedReceipt {
  id?: string
  stat?: string
  err?: string
  submitted?: number
  text?: string
}

const KEY = /(?:^|[\s,;])(id|sub|dlvrd|submit date|done date|stat|err|text)\s*:\s*/gi

/** Parses `id:X sub:001 dlvrd:001 submit date:… done date:… stat:DELIVRD err:000 text:…`, in any order and case. */
export function parseReceipt(text: string): ParsedReceipt {
  const found: Record<string, string> = {}
  const marks = [...text.slice(0, 1000).matchAll(KEY)]
  for (const [i, mark] of marks.entries()) {
    const key = mark[1]!.toLowerCase()
    const from = mark.index + mark[0].length
    if (!(key in found)) found[key] = text.slice(from, marks[i + 1]?.index).trim()
    // The rest is the message itself, which may contain anything.
    if (key === 'text') break
  }
  const word = (value: string | undefined) => value?.split(/[\s,;]/)[0] || undefined
  return {
    id: word(found.id)?.slice(0, 65),
    stat: word(found.stat)?.toUpperCase(),
    err: word(found.err),
    submitted: timeOf(found['submit date']),
    text: found.text,
  }
}

const TIME = /^(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})?$/

/** YYMMDDhhmm, optionally with seconds. The zone is unknown, so it is read as UTC. */
function timeOf(text: string | undefined): number | undefined {
  const parts = TIME.exec(text ?? '')
  if (!parts) return undefined
  const [year, month, day, hour, minute, second] = parts.slice(1).map((part) => Number(part ?? 0))
  const time = Date.UTC(2000 + year!, month! - 1, day, hour, minute, second)
  return Number.isNaN(time) ? undefined : time
}

function cString(value: Buffer): string {
  const end = value.indexOf(0)
  return value.toString('latin1', 0, end < 0 ? value.length : end).trim()
}
