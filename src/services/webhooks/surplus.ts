import { DEFAULT_LIMITS } from '../../core/accounts/budgets.js'
import { SLICE } from '../../storage/engine/slices.js'
import { failThrough, findSurplus } from '../../storage/webhooks/deliveries.js'
import type { Ctx } from '../ctx.js'

/** The most new deliveries of an account between two looks at its budget. */
const LOOK_AFTER = 1000

/**
 * Gives up the oldest waiting deliveries beyond an account's budget: receivers that never answer would otherwise fill
 * the table. Looks once for a tenth of the budget in new deliveries, because the look reads as many rows as wait.
 */
export function createSurplusWatch(ctx: Ctx, accountId: string): (added: number) => Promise<void> {
  // At once for the first deliveries: an earlier process may have left too many.
  let unseen = Number.POSITIVE_INFINITY
  return async (added) => {
    unseen += added
    const { deliveries: limit } = (await ctx.directory.account(accountId))?.limits ?? DEFAULT_LIMITS
    if (added === 0 || unseen < Math.min(LOOK_AFTER, limit / 10)) return
    unseen = 0
    const last = await findSurplus(ctx.db, accountId, limit)
    if (last === undefined) return
    const size = limit.toLocaleString('en-US')
    const reason = `Given up, because more than ${size} deliveries of the account waited (budget "deliveries") and this was the oldest. Fix the receivers that do not answer, then replay it.`
    let failed = 0
    for (let n = SLICE; n === SLICE; failed += n)
      n = await ctx.db.tx((sql) => failThrough(sql, accountId, last, reason, ctx.clock.now()))
    ctx.log.warn({ account: accountId, failed, limit }, 'the oldest waiting webhook deliveries were given up')
  }
}
