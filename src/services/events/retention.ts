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

async function dropOldest(ctx: Ctx, accountId: string, until: number): Promise<void> {
  const delivered = (await findFeed(ctx.db, accountId))?.seq
  const events = await listEvents(ctx.db, accountId, 0, AT_ONCE)
  const kept = events.findIndex((event) => event.at >= until || event.seq > (delivered ?? event.seq))
  const last = (kept === -1 ? events : events.slice(0, kept)).at(-1)
  if (last) await deleteEvents(ctx.db, accountId, last.seq)
}
