import { topics } from '../../core/topics.js'
import { saveBodiesUntil } from '../../storage/requests/requests.js'
import type { Ctx } from '../ctx.js'

/** Lets the request log keep bodies of these accounts' calls for some minutes; with 0, no longer. */
export async function keepBodies(
  ctx: Ctx,
  accountIds: readonly string[],
  minutes: number,
): Promise<number | null> {
  const until = minutes === 0 ? null : Date.now() + minutes * 60_000
  await ctx.db.tx((sql) => saveBodiesUntil(sql, accountIds, until))
  ctx.directory.forget()
  ctx.wakes.wake(topics.access)
  return until
}
