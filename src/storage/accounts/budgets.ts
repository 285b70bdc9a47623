import { ADMIN_OWNER } from '../../core/accounts/account.js'
import { type BudgetLimits, type LimitedAccount, limitsOf } from '../../core/accounts/budgets.js'
import type { Param, Sql, Writes } from '../engine/db.js'
import { findValue } from '../engine/query.js'
import { table } from '../engine/table.js'
import { ACCOUNTS } from './accounts.js'

/** Limits of the accounts with a plan, where they differ from the defaults. */
export interface Plan {
  name: string
  budgets: BudgetLimits
}

const PLANS = table<Plan>()('plans', { text: 'name', json: 'budgets' })

export async function savePlan(sql: Sql, plan: Plan): Promise<void> {
  await PLANS.save(sql, plan, 'name')
}

export function listPlans(sql: Sql): Promise<Plan[]> {
  return PLANS.list(sql, '1 = 1 order by name')
}

/** An account with the limits that it, its plan or, for a world, its owner has. */
export async function findLimitedAccount(sql: Sql, id: string): Promise<LimitedAccount | undefined> {
  const row = await sql.one(
    `select a.*, coalesce(o.budgets, a.budgets) as own_budgets, p.budgets as plan_budgets from accounts a
     left join accounts o on o.id = a.owner left join plans p on p.name = coalesce(o.plan, a.plan)
     where a.id = $1 and a.removed_at is null`,
    [id],
  )
  if (!row) return undefined
  const account = ACCOUNTS.read(row)
  const isWorld = account.owner !== null && account.owner !== ADMIN_OWNER
  const [plan, own] = [row.plan_budgets ?? '{}', row.own_budgets].map((text) => JSON.parse(text as string))
  return { ...account, limits: limitsOf(plan, own, isWorld) }
}

/** Saves the limits of an account's own, for its live and its test world. */
export async function saveBudgets(
  sql: Sql,
  account: { id: string; twinId: string },
  budgets: BudgetLimits,
): Promise<void> {
  await sql.run('update accounts set budgets = $3 where id in ($1, $2)', [
    account.id,
    account.twinId,
    JSON.stringify(budgets),
  ])
}

/** What is counted in rows of its own, because counting the things themselves would read all of them. */
export type Total = 'media' | 'scheduled'

/** Adds to totals, in the transaction of the things that are counted. */
export async function addToTotals(
  sql: Writes,
  name: Total,
  amounts: ReadonlyMap<string, number>,
): Promise<void> {
  // In a fixed order, so that two transactions cannot deadlock.
  const rows = [...amounts].sort(([a], [b]) => (a < b ? -1 : 1))
  await sql.insertMany(
    'account_totals',
    { account_id: 'text', name: 'text', n: 'bigint' },
    rows.map(([accountId, n]): Param[] => [accountId, name, n]),
    'on conflict (account_id, name) do update set n = account_totals.n + excluded.n',
  )
}

export async function findTotal(sql: Sql, accountId: string, name: Total): Promise<number> {
  const text = 'select n from account_totals where account_id = $1 and name = $2'
  return (await findValue<number>(sql, text, [accountId, name])) ?? 0
}

/** Amounts by account, for `addToTotals`. */
export function sumByAccount<T extends { accountId: string }>(
  items: readonly T[],
  amount: (item: T) => number,
): Map<string, number> {
  const sums = new Map<string, number>()
  for (const item of items) sums.set(item.accountId, (sums.get(item.accountId) ?? 0) + amount(item))
  return sums
}
