import { receiptOf } from '../../core/lines/progress.js'
import { hasTwin } from '../../core/messages/open-send.js'
import type { Evidence } from '../../core/messages/outcome.js'
import type { AttemptRef } from '../contract.js'
import type { DriverHost } from '../host.js'
import { type Api, pagesOf, troubleOf } from './api.js'
import { sentFilters } from './channels.js'
import { type SentRow, sentRowOf } from './statuses.js'

/** Tolerated difference between Twilio's clock and ours. */
const SKEW_MS = 120_000
const PAGE = 200
/** A list that goes on after this many pages cannot be read to its end. */
const MAX_PAGES = 25
const AGAIN_MS = 15_000
/** A trial account's texts begin with this note. */
const TRIAL = /^Sent from your Twilio trial account - /

type Host = Pick<DriverHost, 'receipt' | 'knownSends' | 'openSends' | 'clock' | 'log'>

/**
 * Looks for a message whose answer was lost. Twilio returns nothing of ours with a message, so it is recognised by
 * recipient, text, files and time. A message that is not there counts as never sent only if nothing else in the
 * complete list could be it, and only after the line's settle time.
 */
export function createLookup(api: Api, number: string, settleMs: number, host: Host) {
  return async (attempt: AttemptRef): Promise<Evidence> => {
    // The message was deleted, so there is nothing to recognise it by.
    if (attempt.handle === '') return { found: undefined }
    const left = attempt.unknownSince + settleMs - host.clock.now()
    const again: Evidence = { found: undefined, againMs: left > 0 ? Math.min(AGAIN_MS, left) : AGAIN_MS }
    const rows = await listSent(api, number, attempt).catch((error) => {
      host.log.warn(troubleOf(error), 'could not ask Twilio about a send')
      return undefined
    })
    if (!rows) return again
    const free = await unclaimed(host, rows)
    const equal = free.filter((row) => isAlike(row, attempt))
    const [row] = equal
    if (row && equal.length === 1 && !hasTwin(await host.openSends(), attempt, 2 * SKEW_MS))
      return conclude(host, row, attempt, again)
    // A status callback names the send, so it may still settle this.
    if (row) return { found: undefined }
    if (left > 0) return again
    // A Messaging Service may have changed the text.
    return free.length > 0 ? { found: undefined } : { found: false }
  }
}

/** The outcome of an attempt that was found. */
async function conclude(host: Host, { sid, progress }: SentRow, { ref }: AttemptRef, again: Evidence) {
  if (!progress) return again
  if (!progress.tryNextService) return { found: true as const, providerId: sid, status: progress.status }
  // A receipt, unlike evidence, leads to the next service, and ends the question.
  await host.receipt({ ...receiptOf(sid, progress, host.clock.now()), ref })
  return again
}

/**
 * Messages to the recipient since the attempt. A message that waits has no sending day yet, so the list is read
 * without a day, too, as far as the attempt.
 */
async function listSent(api: Api, number: string, attempt: AttemptRef): Promise<SentRow[]> {
  const since = attempt.wireAt - SKEW_MS
  const day = { 'DateSent>': new Date(since).toISOString().slice(0, 10) }
  const found = new Map<string, SentRow>()
  for (const query of sentFilters(api.settings, attempt, number).flatMap((one) => [
    { ...one, ...day },
    one,
  ])) {
    const list = new URLSearchParams({ ...query, PageSize: String(PAGE) })
    let pages = 0
    for await (const { rows } of pagesOf(api, `Messages.json?${list}`, 'messages')) {
      const read = rows.map((row) => sentRowOf(api.settings, row))
      if (read.includes(undefined) || ++pages > MAX_PAGES)
        throw new Error('The list of messages cannot be read')
      const recent = read.filter((row) => row!.createdAt >= since) as SentRow[]
      for (const row of recent) if (row.direction === 'outbound-api') found.set(row.sid, row)
      if (recent.length === 0) break
    }
  }
  return [...found.values()]
}

async function unclaimed(host: Host, rows: readonly SentRow[]): Promise<SentRow[]> {
  const known = new Set(rows.length > 0 ? await host.knownSends(rows.map(({ sid }) => sid)) : [])
  return rows.filter(({ sid }) => !known.has(sid))
}

/** Twilio counts a file once it has fetched it, so a message with a file may say that it has none. */
function isAlike({ body, media }: SentRow, { content, mediaUrl }: AttemptRef): boolean {
  return (body === content || body.replace(TRIAL, '') === content) && (media === 0 || mediaUrl !== '')
}
