import type { Row, Sql } from '../engine/db.js'
import { bindScope, WORLD_TABLES, type WorldScope } from './world.js'

export interface Snapshot {
  id: string
  accountId: string
  name: string
  schema: string
  rows: number
  createdAt: number
}

/** Beside what happens in a world: where its events go, what its lines are set to, and its phones. */
const FURTHER = [
  { name: 'webhook_endpoints', where: 'account_id = {account}', columns: '*' },
  { name: 'webhook_settings', where: 'account_id = {account}', columns: '*' },
  { name: 'lines', where: 'id in {lines}', columns: 'id, blocked_at, seat_id, forwarding_number' },
  {
    name: 'phones',
    where: 'network = {network} and (account_id is null or account_id = {account})',
    columns: '*',
  },
]
const PART = 500

/** The names of all that has been done to the schema. */
export async function schemaOf(sql: Sql): Promise<string> {
  const row = await sql.one<{ n: number; last: string }>(
    'select count(*) as n, max(name) as last from migrations',
  )
  return `${row!.n} ${row!.last}`
}

/** Everything that is read in this transaction is of one moment. Its first statement. */
export async function readOneMoment(sql: Sql): Promise<void> {
  if (sql.engine === 'postgres') await sql.run('set transaction isolation level repeatable read')
}

/** Writes down the world as it is. Answers how many rows that are. */
export async function saveWorldRows(sql: Sql, snapshotId: string, scope: WorldScope): Promise<number> {
  let n = 0
  let count = 0
  for (const { name, where, columns } of [
    ...FURTHER,
    ...WORLD_TABLES.map((one) => ({ ...one, columns: '*' })),
  ]) {
    const bound = bindScope(sql, where, scope)
    const rows = await sql.all(`select ${columns} from ${name} where ${bound.where}`, bound.params)
    count += rows.length
    for (let at = 0; at < rows.length; at += PART) {
      const text = JSON.stringify(rows.slice(at, at + PART))
      await sql.run(
        'insert into sim_snapshot_parts (snapshot_id, n, table_name, rows) values ($1, $2, $3, $4)',
        [snapshotId, n++, name, text],
      )
    }
  }
  return count
}

export interface SavedRows {
  table: string
  rows: Row[]
}

export async function listWorldRows(sql: Sql, snapshotId: string): Promise<SavedRows[]> {
  const parts = await sql.all<{ table_name: string; rows: string }>(
    'select table_name, rows from sim_snapshot_parts where snapshot_id = $1 order by n',
    [snapshotId],
  )
  return parts.map((part) => ({ table: part.table_name, rows: JSON.parse(part.rows) }))
}

/** Puts rows back as they were, under their own ids. What is there already stays. */
export async function restoreRows(sql: Sql, { table, rows }: SavedRows): Promise<void> {
  const [first] = rows
  if (!first) return
  const columns = Object.keys(first)
  const names = columns.join(', ')
  const text = JSON.stringify(rows)
  if (sql.engine === 'postgres') {
    await sql.run(
      `insert into ${table} (${names}) overriding system value
       select ${names} from jsonb_populate_recordset(null::${table}, $1::text::jsonb) on conflict do nothing`,
      [text],
    )
  } else {
    const values = columns.map((column) => `json_extract(value, '$.${column}')`).join(', ')
    await sql.run(
      `insert into ${table} (${names}) select ${values} from json_each($1) where true on conflict do nothing`,
      [text],
    )
  }
}

/** What was to be posted may have been since: it is called off. */
export async function cancelDeliveries(
  sql: Sql,
  accountId: string,
  reason: string,
  now: number,
): Promise<void> {
  await sql.run(
    `update webhook_deliveries set state = 'canceled', next_at = null, reason = $2, finished_at = $3
     where account_id = $1 and next_at is not null`,
    [accountId, reason, now],
  )
}

export async function restoreLine(sql: Sql, row: Row): Promise<void> {
  await sql.run('update lines set blocked_at = $2, seat_id = $3, forwarding_number = $4 where id = $1', [
    row.id!,
    row.blocked_at!,
    row.seat_id!,
    row.forwarding_number!,
  ])
}

export async function insertSnapshot(sql: Sql, snapshot: Snapshot): Promise<void> {
  await sql.run(
    'insert into sim_snapshots (id, account_id, name, schema_name, rows, created_at) values ($1, $2, $3, $4, $5, $6)',
    [snapshot.id, snapshot.accountId, snapshot.name, snapshot.schema, snapshot.rows, snapshot.createdAt],
  )
}

export async function listSnapshots(sql: Sql, accountId: string): Promise<Snapshot[]> {
  return (await sql.all('select * from sim_snapshots where account_id = $1 order by name', [accountId])).map(
    toSnapshot,
  )
}

export async function findSnapshot(sql: Sql, accountId: string, name: string): Promise<Snapshot | undefined> {
  const row = await sql.one('select * from sim_snapshots where account_id = $1 and name = $2', [
    accountId,
    name,
  ])
  return row && toSnapshot(row)
}

/** Tells whether there was one. */
export async function deleteSnapshot(sql: Sql, accountId: string, name: string): Promise<boolean> {
  await sql.run(
    'delete from sim_snapshot_parts where snapshot_id in (select id from sim_snapshots where account_id = $1 and name = $2)',
    [accountId, name],
  )
  const gone = await sql.run('delete from sim_snapshots where account_id = $1 and name = $2', [
    accountId,
    name,
  ])
  return gone > 0
}

function toSnapshot(row: Row): Snapshot {
  return {
    id: row.id as string,
    accountId: row.account_id as string,
    name: row.name as string,
    schema: row.schema_name as string,
    rows: row.rows as number,
    createdAt: row.created_at as number,
  }
}
