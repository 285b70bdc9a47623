import { type Fields, fieldsOf, textOf, wholeOf } from '../../core/fields.js'
import type { Progress } from '../../core/lines/progress.js'
import { type Channels, withChannel } from './channels.js'
import { wordsOf } from './codes.js'

const STATUSES: Readonly<Record<string, Progress['status']>> = {
  accepted: 'ACCEPTED',
  scheduled: 'ACCEPTED',
  queued: 'ACCEPTED',
  sending: 'ACCEPTED',
  sent: 'SENT',
  partially_delivered: 'SENT',
  delivered: 'DELIVERED',
  read: 'DELIVERED',
  undelivered: 'ERROR',
  failed: 'ERROR',
  canceled: 'DECLINED',
}

/** A message of ours, as a webhook or a message resource tells it. */
export interface Told {
  status: string
  errorCode: number | undefined
  from: string
  to: string
}

/** Reads a status of Twilio; undefined if it is none of an outbound message. */
export function progressOf(settings: Channels, told: Told): Progress | undefined {
  const progress = statusIn(told)
  return progress && withChannel(settings, progress, told)
}

function statusIn({ status, errorCode }: Told): Progress | undefined {
  const ours = Object.hasOwn(STATUSES, status) ? STATUSES[status]! : undefined
  if (ours === 'DECLINED')
    return { status: ours, code: 'canceled', detail: 'The message was cancelled at Twilio' }
  if (ours !== 'ERROR') return ours && { status: ours }
  return { status: ours, code: String(errorCode ?? status), detail: wordsOf(errorCode) }
}

/** A message resource, as far as a send is concerned. */
export interface SentRow {
  sid: string
  direction: string
  to: string
  body: string
  media: number
  createdAt: number
  progress: Progress | undefined
}

/** Reads a message resource; undefined if it lacks what identifies a message. */
export function sentRowOf(settings: Channels, json: unknown): SentRow | undefined {
  const row = fieldsOf(json)
  const sid = sidOf(row.sid)
  const createdAt = Date.parse(textOf(row.date_created))
  if (!sid || !(createdAt > 0)) return undefined
  return {
    sid,
    direction: textOf(row.direction),
    to: textOf(row.to),
    body: textOf(row.body),
    media: countOf(row.num_media),
    createdAt,
    progress: progressOf(settings, toldIn(row)),
  }
}

export function toldIn({ status, error_code: code, from, to }: Fields): Told {
  return { status: textOf(status), errorCode: wholeOf(code), from: textOf(from), to: textOf(to) }
}

/** Ids of texts begin with SM, ids of messages with files with MM. */
export function sidOf(value: unknown): string | undefined {
  const text = textOf(value)
  return /^[SM]M[0-9a-fA-F]{32}$/.test(text) ? text : undefined
}

/** Twilio writes counts as text. */
export function countOf(value: unknown): number {
  const count = Number(textOf(value) || wholeOf(value) || 0)
  return Number.isSafeInteger(count) && count > 0 ? count : 0
}
