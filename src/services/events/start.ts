import { nextTurn } from '../../base/turns.js'
import { AppError } from '../../core/errors.js'
import { findEventFrom, findLastSeq, listEvents } from '../../storage/events/events.js'
import type { Ctx } from '../ctx.js'
import { DAY_MS, eventDaysOf } from './retention.js'

/** Where a reader starts: after an event, from a time, or now. */
export type Bookmark = { field: string; after: number } | { from: number } | 'now'

/** Times in the log may be out of order by the length of a transaction plus the difference between clocks. */
const OVERLAP_MS = 60_000
const AT_ONCE = 500

/** The sequence number after which reading begins. */
export async function startOf(ctx: Ctx, accountId: string, bookmark: Bookmark): Promise<number> {
  const last = await findLastSeq(ctx.db, accountId)
  if (bookmark === 'now') return last
  if ('from' in bookmark) return afterTime(ctx, accountId, bookmark.from, last)
  if (bookmark.after > last)
    throw new AppError(
      'invalid',
      `${bookmark.field}: this account has no event ${bookmark.after}; its last one is ${last}`,
    )
  return bookmark.after
}

/** The sequence number just before the first event from this time on. */
async function afterTime(ctx: Ctx, accountId: string, time: number, last: number): Promise<number> {
  const oldest = await findEventFrom(ctx.db, accountId, 1)
  const eventDays = await eventDaysOf(ctx, accountId)
  const isKept = eventDays === 0 || time >= ctx.clock.now() - eventDays * DAY_MS
  // Removed events may be from after that time: the reader gets a gap.
  if (!isKept && (oldest?.seq ?? last + 1) > 1) return 0
  if (!oldest) return last
  const low = await seqNear(ctx, accountId, time - OVERLAP_MS, oldest.seq, last)
  for (let after = low - 1; ; ) {
    await nextTurn(accountId)
    const events = await listEvents(ctx.db, accountId, after, AT_ONCE)
    const found = events.find((event) => event.at >= time)
    if (found) return found.seq - 1
    after = events.at(-1)?.seq ?? after
    if (events.length < AT_ONCE) return after
  }
}

/** An approximate sequence number for a time, by bisection: the log is only nearly in the order of its times. */
export async function seqNear(
  ctx: Ctx,
  accountId: string,
  time: number,
  oldest: number,
  last: number,
): Promise<number> {
  let low = oldest
  for (let high = last + 1; low < high; ) {
    const middle = Math.floor((low + high) / 2)
    const event = await findEventFrom(ctx.db, accountId, middle)
    if (!event || event.at >= time) high = middle
    else low = middle + 1
  }
  return low
}
