import type { AuditEntry, AuditRow, ChainLink } from '../../core/audit/audit.js'
import type { Param, Sql, Writes } from '../engine/db.js'
import { findValue } from '../engine/query.js'
import { table } from '../engine/table.js'

const ROWS = table<AuditRow>()('audit_log', {
  text: 'actor actorId keyId accountId seatId address forwardedFor action object fields hash',
  number: 'seq at status',
})

/** A change that has begun. */
export interface OpenChange {
  id: string
  begunAt: number
  entry: AuditEntry
}

const OPEN = table<OpenChange>()('audit_open', { text: 'id', number: 'begunAt', json: 'entry' })

/** The newest row of the chain, and the last row that was removed from its beginning. */
export interface ChainEnds {
  head: ChainLink
  anchor: ChainLink
}

export async function findEnds(sql: Sql): Promise<ChainEnds> {
  const row = await sql.one<{ seq: number; hash: string; pruned_seq: number; pruned_hash: string }>(
    'select * from audit_ends',
  )
  return {
    head: { seq: row!.seq, hash: row!.hash },
    anchor: { seq: row!.pruned_seq, hash: row!.pruned_hash },
  }
}

export async function insertOpenChanges(sql: Writes, changes: readonly OpenChange[]): Promise<void> {
  await OPEN.insertMany(sql, changes)
}

export function listOpenChanges(sql: Sql, begunBefore: number, limit: number): Promise<OpenChange[]> {
  return OPEN.list(sql, 'begun_at < $1 order by begun_at limit $2', [begunBefore, limit])
}

export async function removeOpenChanges(sql: Writes, ids: readonly string[]): Promise<void> {
  const list = sql.inList(1, ids)
  await sql.run(`delete from audit_open where id ${list.sql}`, [list.param])
}

/** Appends rows that follow `head`. Fails with MissingValue if the chain has another head by now. */
export async function appendRows(sql: Writes, head: ChainLink, rows: readonly AuditRow[]): Promise<void> {
  const last = rows.at(-1)!
  await sql.run(
    'update audit_ends set seq = case when seq = $1 and hash = $2 then cast($3 as bigint) end, hash = $4',
    [head.seq, head.hash, last.seq, last.hash],
  )
  await ROWS.insertMany(sql, rows)
}

/** Removes the beginning of the chain and keeps its last hash, which the first kept row continues. */
export async function removeRowsThrough(sql: Writes, { seq, hash }: ChainLink): Promise<void> {
  await sql.run('update audit_ends set pruned_seq = $1, pruned_hash = $2 where pruned_seq < $1', [seq, hash])
  await sql.run('delete from audit_log where seq <= $1', [seq])
}

/** Rows by their numbers, in their order. */
export function listRowsBySeq(sql: Sql, seqs: readonly number[]): Promise<AuditRow[]> {
  const list = sql.inIds(1, seqs)
  return ROWS.list(sql, `seq ${list.sql} order by seq`, [list.param])
}

/** The oldest rows. */
export function listFirstRows(sql: Sql, limit: number): Promise<AuditRow[]> {
  return ROWS.list(sql, '1 = 1 order by seq limit $1', [limit])
}

export interface AuditFilter {
  accountId?: string
  keyId?: string
  action?: string
  object?: string
  since?: number
  until?: number
}

/** Machines' clocks differ, so rows near each other need not be in order of time. */
const OUT_OF_ORDER = 1000

/** Rows after or before a sequence number, in that direction. */
export async function listRows(
  sql: Sql,
  filter: AuditFilter,
  order: 'asc' | 'desc',
  from: number | undefined,
  limit: number,
): Promise<AuditRow[]> {
  const params: Param[] = []
  const conditions: string[] = []
  const add = (condition: string, value: Param) => {
    params.push(value)
    conditions.push(`${condition} $${params.length}`)
  }
  const { since, until } = filter
  if (filter.accountId !== undefined) add('account_id =', filter.accountId)
  if (filter.keyId !== undefined) add('key_id =', filter.keyId)
  if (filter.action !== undefined) add('action =', filter.action)
  if (filter.object !== undefined) add('object =', filter.object)
  // The times as bounds of the sequence, too: an index then serves both the range and the order.
  if (since !== undefined) {
    const first = await findSeq(sql, 'at >= $1 order by at, seq', since)
    if (first === undefined) return []
    add('seq >=', first - OUT_OF_ORDER)
    add('at >=', since)
  }
  if (until !== undefined) {
    const last = await findSeq(sql, 'at < $1 order by at desc, seq desc', until)
    if (last === undefined) return []
    add('seq <=', last + OUT_OF_ORDER)
    add('at <', until)
  }
  if (from !== undefined) add(order === 'asc' ? 'seq >' : 'seq <', from)
  params.push(limit)
  const where = conditions.length === 0 ? '1 = 1' : conditions.join(' and ')
  return ROWS.list(sql, `${where} order by seq ${order} limit $${params.length}`, params)
}

function findSeq(sql: Sql, where: string, at: number): Promise<number | undefined> {
  return findValue<number>(sql, `select seq from audit_log where ${where} limit 1`, [at])
}
