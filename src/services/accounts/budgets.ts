import {
  BUDGET_NAMES,
  type BudgetChanges,
  type BudgetName,
  changedLimits,
  type LimitedAccount,
  payerOf,
} from '../../core/accounts/budgets.js'
import { AppError } from '../../core/errors.js'
import {
  findLimitedAccount,
  findTotal,
  listPlans,
  type Plan,
  savePlan,
} from '../../storage/accounts/budgets.js'
import { countToday } from '../../storage/accounts/usage.js'
import { countAllContacts } from '../../storage/contacts/contacts.js'
import { listBacklogs } from '../../storage/messages/counts.js'
import { listWorlds } from '../../storage/sim/worlds.js'
import { countWaiting } from '../../storage/webhooks/deliveries.js'
import { countWebhooks } from '../../storage/webhooks/webhooks.js'
import type { Ctx } from '../ctx.js'

/** What an account uses of a budget. Budgets that each process counts are those of this process. */
export interface BudgetUse {
  name: BudgetName
  used: number
  limit: number
  /** Who set the limit. */
  setBy: 'account' | 'plan' | 'default'
}

/** The use of every budget by an account: a live account, a test account or one of a world. */
export async function usageOf(ctx: Ctx, id: string): Promise<BudgetUse[]> {
  const account = await findLimitedAccount(ctx.db, id)
  if (!account) throw new AppError('not_found', `There is no account ${id}`)
  const payer = (await ctx.directory.account(payerOf(account))) ?? account
  const plan = (await listPlans(ctx.db)).find(({ name }) => name === payer.plan)
  const used = await measure(ctx, account)
  return BUDGET_NAMES.map((name) => ({
    name,
    used: used[name],
    limit: account.limits[name],
    setBy:
      payer.budgets[name] !== undefined ? 'account' : plan?.budgets[name] !== undefined ? 'plan' : 'default',
  }))
}

/** `queued` and `webhooks` have a limit for each line and type: the fullest counts. */
async function measure(ctx: Ctx, account: LimitedAccount): Promise<Record<BudgetName, number>> {
  const { db } = ctx
  const { id } = account
  const fullest = (counts: readonly number[]) => Math.max(0, ...counts)
  return {
    ...ctx.meters.used(account),
    queued: fullest((await listBacklogs(db, id)).map(({ queued }) => queued)),
    scheduled: await findTotal(db, id, 'scheduled'),
    daily: await countToday(db, id, ctx.clock.now()),
    media: await findTotal(db, id, 'media'),
    contacts: await countAllContacts(db, { accountId: id, lineNumbers: null }),
    webhooks: fullest(await countWebhooks(db, id)),
    deliveries: await countWaiting(db, id),
    worlds: (await listWorlds(db, id)).length,
  }
}

/** Sets limits for the accounts of a plan. */
export async function changePlan(ctx: Ctx, name: string, changes: BudgetChanges): Promise<Plan> {
  const plan = await ctx.db.tx(async (sql) => {
    const before = (await listPlans(sql)).find((one) => one.name === name)
    const after = { name, budgets: changedLimits(before?.budgets ?? {}, changes) }
    await savePlan(sql, after)
    return after
  })
  ctx.directory.forget()
  return plan
}
