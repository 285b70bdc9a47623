import type { Line } from '../../core/lines/line.js'
import type { Pool } from '../../core/lines/pool.js'
import type { Sql } from '../engine/db.js'
import { exists, findValue, hasChanged } from '../engine/query.js'
import { table } from '../engine/table.js'
import { LINES } from './lines.js'

const POOLS = table<Pool>()('sender_pools', { text: 'id accountId name', number: 'createdAt' })

export async function insertPool(sql: Sql, pool: Pool): Promise<void> {
  await POOLS.insert(sql, pool)
}

export function findPool(sql: Sql, id: string): Promise<Pool | undefined> {
  return POOLS.find(sql, 'id = $1', [id])
}

export function listPools(sql: Sql): Promise<Pool[]> {
  return POOLS.list(sql, 'true order by created_at, id')
}

export async function renamePool(sql: Sql, id: string, name: string): Promise<void> {
  await sql.run('update sender_pools set name = $2 where id = $1', [id, name])
}

/** Removes a pool. Its lines stay. */
export async function removePool(sql: Sql, id: string): Promise<boolean> {
  await setPoolLines(sql, id, [])
  await sql.run('delete from pool_conversations where pool_id = $1', [id])
  return hasChanged(sql, 'delete from sender_pools where id = $1', [id])
}

export function listPooledLines(sql: Sql): Promise<Line[]> {
  return LINES.list(sql, 'pool_id is not null and removed_at is null order by created_at, id')
}

/** Makes these lines the only ones of the pool. */
export async function setPoolLines(sql: Sql, poolId: string, lineIds: readonly string[]): Promise<void> {
  await sql.run('update lines set pool_id = null where pool_id = $1', [poolId])
  const list = sql.inList(2, lineIds)
  await sql.run(`update lines set pool_id = $1 where id ${list.sql}`, [poolId, list.param])
}

/** The line that a conversation is on. */
export function findPlace(sql: Sql, poolId: string, contact: string): Promise<string | undefined> {
  return findValue<string>(
    sql,
    'select line_id from pool_conversations where pool_id = $1 and contact = $2',
    [poolId, contact],
  )
}

interface Place {
  pool: Pick<Pool, 'id' | 'accountId'>
  contact: string
  lineId: string
}

/**
 * Puts a conversation on a line, unless it has meanwhile been put on another than `before`. Returns the line that it
 * is on.
 */
export async function savePlace(
  sql: Sql,
  { pool, contact, lineId }: Place,
  before: string | undefined,
  now: number,
): Promise<string> {
  await sql.run(
    `insert into pool_conversations (pool_id, contact, account_id, line_id, placed_at) values ($1, $2, $3, $4, $5)
     on conflict (pool_id, contact) do update set line_id = $4, placed_at = $5
       where pool_conversations.line_id = $6`,
    [pool.id, contact, pool.accountId, lineId, now, before ?? ''],
  )
  return (await findPlace(sql, pool.id, contact)) ?? lineId
}

/** Whether a message of this conversation waits, or may or may not have left. */
export function hasOpenSend(sql: Sql, accountId: string, lineId: string, contact: string): Promise<boolean> {
  return exists(
    sql,
    `select 1 from messages where account_id = $1 and contact = $3 and line_id = $2 and group_id is null
       and is_outbound = 1 and next_action_at is not null and due_at is null limit 1`,
    [accountId, lineId, contact],
  )
}
