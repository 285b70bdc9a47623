import { NO_USAGE, type UsageNumbers } from '../../core/accounts/usage.js'
import { AppError } from '../../core/errors.js'
import { findAccount, listAccountIds } from '../../storage/accounts/accounts.js'
import { type DayUsage, listUsage, midnightOf, sumUsage } from '../../storage/accounts/usage.js'
import { findNumbersEver } from '../../storage/lines/lines.js'
import { DAY_MS } from '../../storage/messages/counts.js'
import type { Ctx } from '../ctx.js'

/** Days that one request may ask for. */
export const MAX_USAGE_DAYS = 92
export const USUAL_USAGE_DAYS = 30
/** Accounts that one request looks at: many of them may have no usage. */
const ACCOUNTS_AT_ONCE = 50

export interface UsageRow extends DayUsage {
  accountId: string
  /** The number of the line; null if the line is not known any more. */
  line: string | null
}

export interface UsagePlace {
  accountId: string
  day: number
  lineId: string
}

export interface UsageQuery {
  /** First and last day, as any time within them. */
  from?: number | undefined
  to?: number | undefined
  lineId?: string | undefined
  after?: UsagePlace | undefined
  limit: number
}

export interface UsagePage {
  rows: UsageRow[]
  /** Of the whole range, on the first page of one account. */
  totals: UsageNumbers | null
  next: UsagePlace | null
}

/** The usage of an account by day and line, oldest first. */
export async function readUsage(ctx: Ctx, accountId: string, query: UsageQuery): Promise<UsagePage> {
  const sql = ctx.db.aside(accountId)
  const filter = { accountId, lineId: query.lineId, ...rangeOf(ctx, query) }
  const days = await listUsage(sql, filter, query.after, query.limit)
  const numbers = await findNumbersEver(
    sql,
    days.map(({ lineId }) => lineId),
  )
  const rows = days.map((one) => ({ ...one, accountId, line: numbers.get(one.lineId) ?? null }))
  return {
    rows,
    totals: query.after ? null : rows.length === 0 ? NO_USAGE : await sumUsage(sql, filter),
    next: rows.length < query.limit ? null : placeOf(rows.at(-1)!),
  }
}

/** The usage of every account, one after the other. */
export async function readAllUsage(ctx: Ctx, query: UsageQuery): Promise<UsagePage> {
  const first = query.after?.accountId ?? ''
  const accounts = await listAccountIds(ctx.db, first, ACCOUNTS_AT_ONCE + 1)
  const rows: UsageRow[] = []
  for (const accountId of accounts.slice(0, ACCOUNTS_AT_ONCE)) {
    const after = accountId === first ? query.after : { accountId, day: 0, lineId: '' }
    const page = await readUsage(ctx, accountId, { ...query, after, limit: query.limit - rows.length })
    rows.push(...page.rows)
    if (page.next) return { rows, totals: null, next: page.next }
  }
  const further = accounts[ACCOUNTS_AT_ONCE]
  return {
    rows,
    totals: null,
    next: further === undefined ? null : { accountId: further, day: 0, lineId: '' },
  }
}

/** The usage of an account that an operator names. */
export async function readUsageOf(ctx: Ctx, accountId: string, query: UsageQuery): Promise<UsagePage> {
  if (!(await findAccount(ctx.db, accountId)))
    throw new AppError('not_found', `There is no account ${accountId}`)
  return readUsage(ctx, accountId, query)
}

const placeOf = ({ accountId, day, lineId }: UsageRow): UsagePlace => ({ accountId, day, lineId })

function rangeOf({ clock }: Ctx, { from, to }: UsageQuery): { from: number; to: number } {
  const last = midnightOf(to ?? clock.now())
  const first = midnightOf(from ?? Math.max(0, last - (USUAL_USAGE_DAYS - 1) * DAY_MS))
  const days = (last - first) / DAY_MS + 1
  if (days < 1) throw new AppError('invalid', 'to: must not be before from')
  if (days > MAX_USAGE_DAYS)
    throw new AppError('invalid', `from, to: at most ${MAX_USAGE_DAYS} days in one request, not ${days}`)
  return { from: first, to: last + DAY_MS }
}
