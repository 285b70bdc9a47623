import { AppError } from '../../core/errors.js'
import { topics } from '../../core/topics.js'
import type { Sql } from '../../storage/engine/db.js'
import type { Delivery } from '../../storage/webhooks/deliveries.js'
import {
  dropDeliveries,
  findDelivery,
  type LogFilter,
  listDeliveries,
  reopenDeliveries,
} from '../../storage/webhooks/log.js'
import type { Ctx } from '../ctx.js'

/** Deliveries that one call can replay. */
export const REPLAY_AT_ONCE = 10_000
const PAGE = 200
const DROP_AT_ONCE = 100

export interface ReplayedDeliveries {
  replayed: number
  more: boolean
}

/** Posts one delivery again, under the same webhook id. */
export async function replayDelivery(ctx: Ctx, sql: Sql, accountId: string, id: number): Promise<Delivery> {
  const delivery = await findDelivery(sql, accountId, id)
  if (!delivery) throw new AppError('not_found', 'There is no such delivery')
  if (delivery.nextAt !== null)
    throw new AppError('conflict', 'This delivery has not ended yet: it is posted without being asked')
  if (delivery.body === '')
    throw new AppError('conflict', 'What this delivery was about has been deleted: there is nothing to post')
  await reopen(ctx, sql, accountId, [id])
  return { ...delivery, state: 'pending', tries: 0, nextAt: ctx.clock.now(), finishedAt: null }
}

/**
 * Replays all ended deliveries that match, the oldest last, in transactions of a page. Deliveries that have not ended
 * are posted anyway.
 */
export async function replayMatching(
  ctx: Ctx,
  accountId: string,
  filter: LogFilter,
): Promise<ReplayedDeliveries> {
  let replayed = 0
  let place: { createdAt: number; id: number } | undefined
  do {
    const page = await listDeliveries(ctx.db, accountId, filter, place, PAGE)
    const ids = page.deliveries.filter((one) => one.nextAt === null).map((one) => one.id)
    replayed += await ctx.db.tx((sql) => reopen(ctx, sql, accountId, ids))
    place = page.next
  } while (place && replayed < REPLAY_AT_ONCE)
  return { replayed, more: place !== undefined }
}

async function reopen(ctx: Ctx, sql: Sql, accountId: string, ids: readonly number[]): Promise<number> {
  if (ids.length === 0) return 0
  const { reopened, lanes } = await reopenDeliveries(sql, accountId, ids, ctx.clock.now())
  for (const lane of lanes) sql.announce(topics.webhooksReplayed, accountId, lane)
  return reopened
}

/** Ended deliveries are deleted after a while; others stay. */
export async function sweepDeliveries(ctx: Ctx): Promise<void> {
  const { webhookDays } = ctx.config
  if (webhookDays === 0) return
  const before = ctx.clock.now() - webhookDays * 86_400_000
  while (await ctx.db.tx((sql) => dropDeliveries(sql, before, DROP_AT_ONCE))) {}
}
