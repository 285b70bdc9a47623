import type { Message } from '../messages/message.js'

/** Data that an account may keep for a limited time. The API, its document and the command line follow from this table. */
interface KeptData {
  about: string
  /** Fewer days would remove what a repeated request or a late receipt still needs. */
  minDays: number
}

const keptData = <N extends string>(table: Record<N, KeptData>): Readonly<Record<N, KeptData>> => table

export const RETENTION = keptData({
  messages: {
    about:
      'Messages with their attempts, after their last change, and their texts in webhook bodies. SENT and ACCEPTED messages stay for at least 7 days, because a receipt may come',
    // An Idempotency-Key is remembered for two days.
    minDays: 3,
  },
  media: { about: 'Uploaded and received media, except for files that waiting messages need', minDays: 1 },
  events: { about: 'Events that can be read again, except for those that webhooks wait for', minDays: 1 },
  attempts: {
    about: 'Attempts to send ended messages, and ended webhook deliveries with their attempts',
    minDays: 7,
  },
})

export type RetentionName = keyof typeof RETENTION
/** Days by kind of data. What is not named is kept as long as the settings of the server say. */
export type Retention = { readonly [N in RetentionName]?: number }
/** Null: kept as long as the settings of the server say. */
export type RetentionChanges = { readonly [N in RetentionName]?: number | null }

export const RETENTION_NAMES = Object.keys(RETENTION) as RetentionName[]
export const MAX_RETENTION_DAYS = 36_500

export const RETENTION_DAY_MS = 86_400_000
/** How long a receipt for a message without a final status may take. */
const RECEIPT_MS = 7 * RETENTION_DAY_MS

/** The shorter of the server's setting, whose 0 is for ever, and the account's own number of days. 0 is for ever. */
export function shorterDays(setting: number, own: number | undefined): number {
  if (own === undefined) return setting
  return setting === 0 ? own : Math.min(setting, own)
}

/** Whether nothing is under way with a message that has not changed since `until`. */
export function isRemovable(
  message: Pick<Message, 'status' | 'nextActionAt' | 'dueAt' | 'updatedAt'>,
  until: number,
  now: number,
): boolean {
  const { status, nextActionAt, dueAt, updatedAt } = message
  if (nextActionAt !== null || dueAt !== null || updatedAt > until) return false
  return (status !== 'SENT' && status !== 'ACCEPTED') || updatedAt <= now - RECEIPT_MS
}
