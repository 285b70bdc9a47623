import { addUsage, NO_USAGE, USAGE_NAMES, type UsageNumbers, usageOf } from '../../core/accounts/usage.js'
import { outcomeOf } from '../../core/insight/overview.js'
import { type Message, STATUSES } from '../../core/messages/message.js'
import type { Columns, Param, Reads, Writes } from '../engine/db.js'
import { DAY_MS } from '../messages/counts.js'

/**
 * The usage of a day is the sum of two tables: the totals of the messages that are there, which lists need anyway, and
 * the numbers of those that have left the totals. So sends and receipts write nothing for it.
 */

const COLUMNS = {
  account_id: 'text',
  day: 'bigint',
  line_id: 'text',
  accepted: 'bigint',
  delivered: 'bigint',
  failed: 'bigint',
  received: 'bigint',
} as const satisfies Columns

type CountedMessage = Pick<Message, 'accountId' | 'lineId' | 'isOutbound' | 'status' | 'createdAt'>

/** Keeps the usage of messages that leave the totals; -1 takes it away again, of messages that change afterwards. */
export async function keepUsage(
  sql: Writes,
  messages: readonly (readonly [message: CountedMessage, n: 1 | -1])[],
): Promise<void> {
  const sums = new Map<string, { place: [string, number, string]; numbers: UsageNumbers }>()
  for (const [message, n] of messages) {
    const place: [string, number, string] = [message.accountId, midnightOf(message.createdAt), message.lineId]
    const sum = sums.get(place.join(' ')) ?? { place, numbers: NO_USAGE }
    sums.set(place.join(' '), { place, numbers: addUsage(sum.numbers, usageOf(message), n) })
  }
  // A fixed order, so that two transactions cannot deadlock.
  const rows = [...sums.entries()]
    .filter(([, { numbers }]) => Object.values(numbers).some((n) => n !== 0))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { place, numbers: n }]) => [...place, n.accepted, n.delivered, n.failed, n.received])
  if (rows.length === 0) return
  await sql.atCommit((last) =>
    last.insertMany(
      'usage_days',
      COLUMNS,
      rows,
      `on conflict (account_id, day, line_id) do update set
         accepted = usage_days.accepted + excluded.accepted, delivered = usage_days.delivered + excluded.delivered,
         failed = usage_days.failed + excluded.failed, received = usage_days.received + excluded.received`,
    ),
  )
}

/** The midnight, in UTC, with which the day of a time begins. */
export const midnightOf = (at: number): number => Math.floor(at / DAY_MS) * DAY_MS

/** The usage of a line in a day. */
export interface DayUsage extends UsageNumbers {
  day: number
  lineId: string
}

export interface UsageFilter {
  accountId: string
  /** First day, and the day after the last. */
  from: number
  to: number
  lineId?: string | undefined
}

const listed = (outcome: string) =>
  STATUSES.filter((status) => outcomeOf(status) === outcome)
    .map((status) => `'${status}'`)
    .join(', ')
const count = (condition: string) => `sum(case when ${condition} then n else 0 end)`

/** Both tables with columns of the same names. */
const SOURCES = [
  {
    table: 'message_counts',
    day: 'bucket',
    where: `series = 'created' and width = ${DAY_MS} and n > 0`,
    accepted: count('is_outbound = 1'),
    delivered: count(`is_outbound = 1 and status in (${listed('delivered')})`),
    failed: count(`is_outbound = 1 and status in (${listed('failed')})`),
    received: count('is_outbound = 0'),
  },
  {
    table: 'usage_days',
    day: 'day',
    where: '1 = 1',
    accepted: 'sum(accepted)',
    delivered: 'sum(delivered)',
    failed: 'sum(failed)',
    received: 'sum(received)',
  },
] as const

const SUMS = USAGE_NAMES.map((name) => `sum(${name}) as ${name}`).join(', ')

/** One statement for both tables: between two, a message could move from one to the other. */
function bothTables(
  { lineId }: UsageFilter,
  more = (_day: string) => '',
  tail = (_day: string) => '',
): string {
  return SOURCES.map(
    (source) => `select * from (
       select ${source.day} as day, line_id, ${USAGE_NAMES.map((name) => `${source[name]} as ${name}`).join(', ')}
       from ${source.table}
       where account_id = $1 and ${source.where} and ${source.day} >= $2 and ${source.day} < $3
         ${lineId === undefined ? '' : 'and line_id = $4'} ${more(source.day)}
       group by ${source.day}, line_id ${tail(source.day)}) as ${source.table}_part`,
  ).join(' union all ')
}

const paramsOf = ({ accountId, from, to, lineId }: UsageFilter): Param[] =>
  lineId === undefined ? [accountId, from, to] : [accountId, from, to, lineId]

/** Usage by day and line after a place in this order. */
export async function listUsage(
  sql: Reads,
  filter: UsageFilter,
  after: { day: number; lineId: string } | undefined,
  limit: number,
): Promise<DayUsage[]> {
  const params = paramsOf(filter)
  const at = params.length
  const parts = bothTables(
    filter,
    (day) => `and (${day}, line_id) > ($${at + 1}, $${at + 2})`,
    // Each part has everything up to its last row, so the first rows of both together are complete.
    (day) => `order by ${day}, line_id limit ${limit}`,
  )
  const rows = await sql.all<DayUsage>(
    `select day, line_id as "lineId", ${SUMS} from (${parts}) as parts
     group by day, line_id order by day, line_id limit ${limit}`,
    [...params, after?.day ?? filter.from, after?.lineId ?? ''],
  )
  return rows.map((row) => ({ day: row.day, lineId: row.lineId, ...numeric(row) }))
}

/** The usage of all days and lines together. */
export async function sumUsage(sql: Reads, filter: UsageFilter): Promise<UsageNumbers> {
  const text = `select ${SUMS} from (${bothTables(filter)}) as parts`
  return numeric((await sql.one<UsageNumbers>(text, paramsOf(filter)))!)
}

/** Messages that an account has sent since midnight UTC. */
export async function countToday(sql: Reads, accountId: string, now: number): Promise<number> {
  const from = midnightOf(now)
  return (await sumUsage(sql, { accountId, from, to: from + DAY_MS })).accepted
}

/** PostgreSQL gives sums as text, and both engines give null for the sum of no rows. */
const numeric = ({ accepted, delivered, failed, received }: UsageNumbers): UsageNumbers => ({
  accepted: Number(accepted ?? 0),
  delivered: Number(delivered ?? 0),
  failed: Number(failed ?? 0),
  received: Number(received ?? 0),
})
