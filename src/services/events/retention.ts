import { shorterDays } from '../../core/accounts/retention.js'
import { findRetention } from '../../storage/accounts/retention.js'
import { deleteEvents, listAccountsWithOldEvents, listEvents } from '../../storage/events/events.js'
import { findFeed } from '../../storage/webhooks/feeds.js'
import type { Ctx } from '../ctx.js'

export const DAY_MS = 24 * 3_600_000
const AT_ONCE = 200
const ACCOUNTS_AT_ONCE = 100
/** Steps of one round; the next round continues. */
const MAX_STEPS = 500

/** Removes expired events, oldest first, except those that webhooks still wait for. */
export async function dropOldEvents(ctx: Ctx): Promise<void> {
  const { eventDays } = ctx.config
  if (eventDays === 0) return
  const until = ctx.clock.now() - eventDays * DAY_MS
  for (let step = 0; step < MAX_STEPS; ) {
    const accounts = await listAccountsWithOldEvents(ctx.db, until, ACCOUNTS_AT_ONCE)
    if (accounts.length === 0) return
    for (const accountId of accounts) {
      await dropOldest(ctx, accountId, until)
      step++
    }
  }
}

/** Removes some of an account's expired events. Returns their number, and the time of the last one. */
export async function dropOldest(
  ctx: Ctx,
  accountId: string,
  until: number,
): Promise<{ removed: number; at: number; isDone: boolean }> {
  const delivered = (await findFeed(ctx.db, accountId))?.seq
  const events = await listEvents(ctx.db, accountId, 0, AT_ONCE)
  const kept = events.findIndex((event) => event.at >= until || event.seq > (delivered ?? event.seq))
  const last = (kept === -1 ? events : events.slice(0, kept)).at(-1)
  const removed = last ? await deleteEvents(ctx.db, accountId, last.seq) : 0
  return { removed, at: last?.at ?? 0, isDone: kept !== -1 || events.length < AT_ONCE }
}

/** Days that an account's events can be read again; 0 for ever. */
export async function eventDaysOf(ctx: Ctx, accountId: string): Promise<number> {
  return shorterDays(ctx.config.eventDays, (await findRetention(ctx.db, accountId)).events)
}
