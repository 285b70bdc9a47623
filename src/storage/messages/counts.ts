import type { Message, Service, Status } from '../../core/messages/message.js'
import type { Columns, Db, Param, Reads, Sql, Writes } from '../engine/db.js'
import { findValue } from '../engine/query.js'
import { deleteInSlices } from '../engine/slices.js'

/**
 * Maintained totals, so that a list's `pagination.total` is exact and costs the same for a million rows as for ten
 * thousand: whole days and hours come from counters; only partial hours at the ends are counted.
 */
export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

const COLUMNS = {
  account_id: 'text',
  series: 'text',
  width: 'bigint',
  bucket: 'bigint',
  line_id: 'text',
  is_outbound: 'bigint',
  status: 'text',
  service: 'text',
  type: 'text',
  n: 'bigint',
} as const satisfies Columns

export type DateField = 'created' | 'updated' | 'sent'
const DATE_FIELDS: readonly DateField[] = ['created', 'updated', 'sent']

type CountedFields = Pick<
  Message,
  'accountId' | 'lineId' | 'isOutbound' | 'status' | 'service' | 'type' | 'createdAt' | 'updatedAt' | 'sentAt'
>

/** Changes to the totals of a batch; messages with equal counted columns share one entry. */
interface Tally {
  add(message: CountedFields, n: number): void
  rows(): Param[][]
}

export function createTally(): Tally {
  const alike = new Map<string, { message: CountedFields; n: number }>()
  let last: { message: CountedFields; n: number } | undefined
  return {
    add(m, n) {
      // Messages of a batch are mostly alike, and comparing with the previous one is cheaper than building a key.
      if (last && countsAlike(last.message, m)) {
        last.n += n
        return
      }
      const hours = `${Math.floor(m.createdAt / HOUR_MS)} ${Math.floor(m.updatedAt / HOUR_MS)} ${Math.floor(m.sentAt / HOUR_MS)}`
      const key = `${m.accountId} ${m.lineId} ${m.isOutbound} ${m.status} ${m.service} ${m.type} ${hours}`
      last = alike.get(key)
      if (last) last.n += n
      else {
        last = { message: m, n }
        alike.set(key, last)
      }
    },
    rows() {
      const sums = new Map<string, Param[]>()
      for (const { message: m, n } of alike.values()) {
        if (n === 0) continue
        const dimensions = [m.lineId, m.isOutbound ? 1 : 0, m.status, m.service, m.type]
        const times = { created: m.createdAt, updated: m.updatedAt, sent: m.sentAt }
        const cells: [string, number, number][] = [['all', 0, 0]]
        for (const field of DATE_FIELDS) {
          for (const width of [HOUR_MS, DAY_MS])
            cells.push([field, width, Math.floor(times[field] / width) * width])
        }
        for (const cell of cells) {
          const row = [m.accountId, ...cell, ...dimensions, n]
          const key = row.slice(0, -1).join(' ')
          const sum = sums.get(key)
          if (sum) sum[sum.length - 1] = (sum.at(-1) as number) + n
          else sums.set(key, row)
        }
      }
      // A fixed order, so that two transactions cannot deadlock on counters.
      return [...sums.entries()]
        .filter(([, row]) => row.at(-1) !== 0)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, row]) => row)
    },
  }
}

function countsAlike(a: CountedFields, b: CountedFields): boolean {
  return (
    a.createdAt === b.createdAt &&
    a.updatedAt === b.updatedAt &&
    a.sentAt === b.sentAt &&
    a.status === b.status &&
    a.service === b.service &&
    a.type === b.type &&
    a.isOutbound === b.isOutbound &&
    a.lineId === b.lineId &&
    a.accountId === b.accountId
  )
}

export async function saveTally(sql: Writes, tally: Tally): Promise<void> {
  const rows = tally.rows()
  if (rows.length === 0) return
  await sql.atCommit((last) =>
    last.insertMany(
      'message_counts',
      COLUMNS,
      rows,
      `on conflict (account_id, series, width, bucket, line_id, is_outbound, status, service, type)
       do update set n = message_counts.n + excluded.n`,
    ),
  )
}

/** Filters that the counters support. `null` account: all accounts (admin). */
export interface CountFilter {
  accountId: string | null
  lineId?: string
  isOutbound?: boolean
  status?: string
  service?: string
  /** True: messages in groups; false: messages between two. */
  inGroup?: boolean
}

export async function sumAll(sql: Reads, filter: CountFilter): Promise<number> {
  const { where, params } = conditions(filter)
  return sum(sql, `${where} and series = 'all'`, params)
}

/** Number of messages dated within whole buckets from `from` to `to` (exclusive). */
export async function sumBuckets(
  sql: Reads,
  filter: CountFilter,
  field: DateField,
  width: number,
  from: number,
  to: number,
): Promise<number> {
  if (from >= to) return 0
  const { where, params } = conditions(filter)
  const at = params.length
  return sum(
    sql,
    `${where} and series = $${at + 1} and width = $${at + 2} and bucket >= $${at + 3} and bucket < $${at + 4}`,
    [...params, field, width, from, to],
  )
}

/** A counter: messages of an account with equal counted columns, in one bucket. */
export interface Cell {
  bucket: number
  lineId: string
  isOutbound: boolean
  status: Status
  service: Service
  n: number
}

/** The counters of an account in whole buckets from `from` to `to` (exclusive). */
export async function listCells(
  sql: Reads,
  accountId: string,
  field: DateField,
  width: number,
  from: number,
  to: number,
): Promise<Cell[]> {
  const cells = await sql.all<Omit<Cell, 'isOutbound'> & { is_outbound: number }>(
    `select bucket, line_id as "lineId", is_outbound, status, service, sum(n) as n from message_counts
     where account_id = $1 and series = $2 and width = $3 and bucket >= $4 and bucket < $5
     group by bucket, line_id, is_outbound, status, service having sum(n) > 0`,
    [accountId, field, width, from, to],
  )
  return cells.map(({ is_outbound, ...cell }) => ({
    ...cell,
    isOutbound: is_outbound === 1,
    n: Number(cell.n),
  }))
}

/** Messages of an account that wait for their line, by line, and how many have left the queue since there are totals. */
export async function listBacklogs(
  sql: Sql,
  accountId: string,
  lineId?: string,
): Promise<{ lineId: string; queued: number; gone: number }[]> {
  const rows = await sql.all<{ lineId: string; queued: number; total: number }>(
    `select line_id as "lineId", sum(case when status = 'QUEUED' then n else 0 end) as queued, sum(n) as total
     from message_counts where account_id = $1 and series = 'all' and width = 0 and bucket = 0 and is_outbound = 1
     ${lineId === undefined ? '' : 'and line_id = $2'} group by line_id`,
    lineId === undefined ? [accountId] : [accountId, lineId],
  )
  return rows.map((row) => ({
    lineId: row.lineId,
    queued: Number(row.queued),
    gone: Number(row.total) - Number(row.queued),
  }))
}

async function sum(sql: Reads, where: string, params: Param[]): Promise<number> {
  return (await findValue<number>(sql, `select sum(n) from message_counts where ${where}`, params)) ?? 0
}

function conditions(filter: CountFilter): { where: string; params: Param[] } {
  const params: Param[] = []
  const where: string[] = ['1 = 1']
  const add = (column: string, value: Param | undefined) => {
    if (value === undefined || value === null) return
    params.push(value)
    where.push(`${column} = $${params.length}`)
  }
  add('account_id', filter.accountId)
  add('line_id', filter.lineId)
  add('is_outbound', filter.isOutbound === undefined ? undefined : filter.isOutbound ? 1 : 0)
  add('status', filter.status)
  add('service', filter.service)
  if (filter.inGroup !== undefined) where.push(`type ${filter.inGroup ? '=' : '<>'} 'group'`)
  return { where: where.join(' and '), params }
}

/** Removes counters at zero, which intermediate statuses leave behind. */
export function dropEmptyCounts(db: Db, before: number): Promise<number> {
  return deleteInSlices(db, {
    table: 'message_counts',
    where: 'n = 0 and width > 0 and bucket < $1',
    params: [before],
    key: 'account_id, series, width, bucket, line_id, is_outbound, status, service, type',
  })
}
