import { TAG } from './commands.js'
import type { Pdu } from './pdu.js'

/** What a carrier says of a message it took before. */
export interface DeliveryReport {
  /** As the carrier writes it here, which need not be how it wrote it before. Empty when it gives none. */
  id: string
  /** The number we gave the send, when the carrier hands it back. */
  ref: number | undefined
  status: 'SENT' | 'DELIVERED' | 'ERROR' | undefined
  code: string
  detail: string
  /** When it took the message, by a clock whose zone it does not tell. */
  submittedAt: number | undefined
  /** How the message begins. */
  text: string
}

type Status = DeliveryReport['status']

/** By the first letters that all carriers agree in, and by the number of the optional parameter. */
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

/** Reads a receipt whose form is the carrier's own; undefined when it has another. */
export type ReceiptReader = (text: string) => Pick<Written, 'id' | 'stat' | 'err'> | undefined

/** Whether a person wrote it. */
export function isMessage({ esmClass = 0, tlvs }: Pdu): boolean {
  return (esmClass & KIND) === MESSAGE && !tlvs?.has(TAG.receiptedMessageId)
}

/**
 * Undefined when the PDU is a message of a person. "Nothing": it is none, and tells us nothing, such as the
 * acknowledgement of a phone.
 */
export function reportIn(
  pdu: Pdu,
  text: string,
  own?: ReceiptReader,
): DeliveryReport | 'nothing' | undefined {
  if (isMessage(pdu)) return undefined
  const kind = (pdu.esmClass ?? 0) & KIND
  const idParameter = pdu.tlvs?.get(TAG.receiptedMessageId)
  if (kind !== MESSAGE && kind !== DELIVERY_RECEIPT && kind !== INTERMEDIATE) return 'nothing'
  const written = { ...parseReceipt(text), ...own?.(text) }
  const id = (idParameter && cString(idParameter)) || (written.id ?? '')
  const ref = pdu.tlvs?.get(TAG.userMessageReference)
  if (!id && !ref) return 'nothing'
  const state = pdu.tlvs?.get(TAG.messageState)?.[0]
  const known =
    STATES.find(([, number]) => number === state) ?? STATES.find(([name]) => written.stat?.startsWith(name))
  const network = pdu.tlvs?.get(TAG.networkErrorCode)
  const code = network && network.length >= 3 ? String(network.readUInt16BE(1)) : (written.err ?? '')
  const status = known?.[2]
  return {
    id,
    ref: ref && ref.length >= 2 ? ref.readUInt16BE(0) : undefined,
    // What is not final may still turn out well.
    status: status && kind === INTERMEDIATE ? 'SENT' : status,
    code,
    detail: [written.stat ?? known?.[0], code && `error ${code}`].filter(Boolean).join(', '),
    submittedAt: written.submitted,
    text: written.text ?? '',
  }
}

interface Written {
  id?: string
  stat?: string
  err?: string
  submitted?: number
  text?: string
}

const KEY = /(?:^|[\s,;])(id|sub|dlvrd|submit date|done date|stat|err|text)\s*:\s*/gi

/** `id:X sub:001 dlvrd:001 submit date:… done date:… stat:DELIVRD err:000 text:…`, in whatever order and spelling. */
export function parseReceipt(text: string): Written {
  const found: Record<string, string> = {}
  const marks = [...text.slice(0, 1000).matchAll(KEY)]
  for (const [i, mark] of marks.entries()) {
    const key = mark[1]!.toLowerCase()
    const from = mark.index + mark[0].length
    if (!(key in found)) found[key] = text.slice(from, marks[i + 1]?.index).trim()
    // What follows is the message itself, which may look like anything.
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

/** YYMMDDhhmm, perhaps with seconds. Carriers do not say of which zone: it is read as UTC. */
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
