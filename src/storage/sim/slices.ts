import type { Sql } from '../engine/db.js'
import { findValue, forUpdate, listValues } from '../engine/query.js'
import { deleteSlice, SLICE } from '../engine/slices.js'
import { bindScope, type WorldScope } from './world.js'

interface SlicedTable {
  name: string
  /** Which of its rows belong to the world, as in `WORLD_TABLES`. */
  where: string
  /** Columns that identify a row, for tables that SQLite stores without row ids. */
  key?: string
  /** Rows that go with the rows {ids} of this table, so that none is left without the row it belongs to. */
  parts?: readonly string[]
}

const byAccount = (name: string, key?: string): SlicedTable => ({
  name,
  where: 'account_id = {account}',
  ...(key ? { key } : {}),
})

/** Ids of the messages {ids} on the phones that they were sent to. */
const ON_PHONES = `select p.provider_id from phone_messages p
  where p.ref in (select ref from attempts where message_id in {ids})`

/**
 * The tables of a world that can be large. Messages that wait on a line of several accounts stay for the transaction
 * that ends the old world: the line goes on for the others, and may be about to send one.
 */
export const SLICED: readonly SlicedTable[] = [
  {
    name: 'webhook_deliveries',
    where: 'account_id = {account}',
    parts: ['webhook_attempts where delivery_id in {ids}'],
  },
  {
    name: 'messages',
    where: 'account_id = {account} and (next_action_at is null or line_id in {lines})',
    parts: [
      `phone_reactions where network = {account} and provider_id in (${ON_PHONES})`,
      'phone_reactions where network = {account} and provider_id in (select provider_id from messages where id in {ids})',
      'phone_messages where network = {account} and ref in (select ref from attempts where message_id in {ids})',
      'phone_messages where network = {account} and provider_id in (select provider_id from messages where id in {ids})',
      'attempts where message_id in {ids}',
    ],
  },
  { name: 'phone_messages', where: 'network = {account}' },
  byAccount('message_counts', 'series, width, bucket, line_id, is_outbound, status, service, type'),
  byAccount('contacts', 'id'),
  byAccount('opt_outs'),
  byAccount('line_turns', 'line_id, contact'),
  byAccount('verified_contacts'),
  byAccount('verifications'),
  byAccount('replays'),
  byAccount('events', 'seq'),
]

/** Whether emptying the world in one transaction would hold up other writes. */
export async function isLarge(sql: Sql, scope: WorldScope): Promise<boolean> {
  for (const { name, where } of SLICED) {
    const bound = bindScope(sql, where, scope)
    const text = `select 1 from ${name} where ${bound.where} limit 1 offset ${SLICE}`
    if ((await findValue(sql, text, bound.params)) !== undefined) return true
  }
  return false
}

/** Deletes up to `SLICE` rows of a world. Returns whether there may be more in the table. */
export async function deleteWorldSlice(
  sql: Sql,
  { name, where, key, parts = [] }: SlicedTable,
  scope: WorldScope,
): Promise<boolean> {
  const bound = bindScope(sql, where, scope)
  if (parts.length === 0) {
    const rows = { table: name, ...bound, ...(key ? { key } : {}) }
    return (await deleteSlice(sql, rows)) === SLICE
  }
  const ids = await listValues<number>(
    sql,
    `select id from ${name} where ${bound.where} limit ${SLICE} ${forUpdate(sql)}`,
    bound.params,
  )
  if (ids.length === 0) return false
  for (const rows of [...parts, `${name} where id in {ids}`]) {
    const part = bindScope(sql, rows, scope, ids)
    await sql.run(`delete from ${part.where}`, part.params)
  }
  return ids.length === SLICE
}
