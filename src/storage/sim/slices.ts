import type { Sql } from '../engine/db.js'
import { findValue, forUpdate, listValues } from '../engine/query.js'
import { deleteSlice, SLICE } from '../engine/slices.js'
import { bindScope, WORLD_TABLES, type WorldScope, type WorldTable } from './world.js'

interface SlicedTable extends WorldTable {
  /** Columns that identify a row, for tables that SQLite stores without row ids. */
  key?: string
  /** Rows that go with the rows {ids} of this table, so that none is left without the row it belongs to. */
  parts?: readonly string[]
}

/** Ids of the messages {ids} on the phones that they were sent to. */
const ON_PHONES = `select p.provider_id from phone_messages p
  where p.ref in (select ref from attempts where message_id {ids})`

const DELIVERIES: SlicedTable = {
  name: 'webhook_deliveries',
  where: 'account_id = {account}',
  parts: ['webhook_attempts where delivery_id {ids}'],
}

/**
 * Messages on their way over a line of several accounts stay for the transaction that ends the old world: the line goes
 * on for the others, and may have handed one to its carrier. On SQLite, where no other transaction runs beside this
 * one, a message without an attempt has not been.
 */
const messages = (sql: Sql): SlicedTable => ({
  name: 'messages',
  where: `account_id = {account} and (next_action_at is null or line_id {lines}
    ${sql.engine === 'sqlite' ? 'or not exists (select 1 from attempts a where a.message_id = messages.id)' : ''})`,
  parts: [
    `phone_reactions where network = {account} and provider_id in (${ON_PHONES})`,
    'phone_reactions where network = {account} and provider_id in (select provider_id from messages where id {ids})',
    'phone_messages where network = {account} and ref in (select ref from attempts where message_id {ids})',
    'phone_messages where network = {account} and provider_id in (select provider_id from messages where id {ids})',
    'attempts where message_id {ids}',
  ],
})

const KEYS: Record<string, string> = {
  message_counts: 'series, width, bucket, line_id, is_outbound, status, service, type',
  usage_days: 'day, line_id',
  contacts: 'id',
  line_turns: 'line_id, contact',
  pool_conversations: 'pool_id, contact',
  events: 'seq',
}

const WITH_PARTS = ['webhook_attempts', 'webhook_deliveries', 'attempts', 'messages']

/** Every table of a world: the account decides how large each grows. */
export function slicedTables(sql: Sql): SlicedTable[] {
  const others = WORLD_TABLES.filter(({ name }) => !WITH_PARTS.includes(name)).map((table) => {
    const key = KEYS[table.name]
    return key ? { ...table, key } : table
  })
  return [DELIVERIES, messages(sql), ...others]
}

/** Whether emptying the world in one transaction would hold up other writes. */
export async function isLarge(sql: Sql, scope: WorldScope): Promise<boolean> {
  const anyIsLarge = slicedTables(sql)
    .map(({ name, where }) => `exists (select 1 from ${name} where ${where} limit 1 offset ${SLICE})`)
    .join(' or ')
  const { where, params } = bindScope(sql, anyIsLarge, scope)
  return (await findValue(sql, `select 1 where ${where}`, params)) !== undefined
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
  for (const rows of [...parts, `${name} where id {ids}`]) {
    const part = bindScope(sql, rows, scope, ids)
    await sql.run(`delete from ${part.where}`, part.params)
  }
  return ids.length === SLICE
}
