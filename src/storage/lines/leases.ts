import type { Line } from '../../core/lines/line.js'
import type { Db, Sql, Writes } from '../engine/db.js'
import { exists, findValue } from '../engine/query.js'
import { LINES } from './lines.js'

/**
 * The right to drive a line. On PostgreSQL times come from the database, so that nodes with different clocks agree.
 * On SQLite there is one process, which the lock on the data directory guarantees.
 */
export interface Lease {
  lineId: string
  epoch: number
}

/** SQL expression of the current time for leases. */
export function nowOf(db: Pick<Sql, 'engine'>): string {
  return db.engine === 'postgres'
    ? '(extract(epoch from clock_timestamp()) * 1000)::bigint'
    : "cast(unixepoch('subsec') * 1000 as integer)"
}

export async function beat(db: Db, nodeId: string, startedAt: number): Promise<void> {
  const now = nowOf(db)
  await db.run(
    `insert into nodes (id, started_at, seen_at) values ($1, $2, ${now}) on conflict (id) do update set seen_at = ${now}`,
    [nodeId, startedAt],
  )
}

export async function countLiveNodes(db: Db, leaseMs: number): Promise<number> {
  const text = `select count(*) from nodes where seen_at > ${nowOf(db)} - $1`
  return Math.max(1, (await findValue<number>(db, text, [leaseMs])) ?? 1)
}

/** Removes a process that ends, so that other processes take its lines at once. */
export async function forgetNode(db: Db, nodeId: string): Promise<void> {
  await db.run('delete from nodes where id = $1', [nodeId])
}

export async function forgetNodes(db: Db, olderThanMs: number): Promise<void> {
  await db.run(`delete from nodes where seen_at < ${nowOf(db)} - $1`, [olderThanMs])
}

/** Renews this node's leases and returns those that it still holds. */
export function renewLeases(db: Db, nodeId: string, leaseMs: number): Promise<Lease[]> {
  const now = nowOf(db)
  return db.tx((sql) =>
    sql.all(
      `update line_leases set expires_at = ${now} + $2 where node_id = $1 and expires_at > ${now}
       returning line_id as "lineId", epoch`,
      [nodeId, leaseMs],
    ),
  )
}

/**
 * Acquires up to `limit` free lines, but none that a reset holds (without a node). Each gets a new epoch, which fences its previous holder. The lines are read under
 * their lock: a line read after a reset or removal has fenced this lease would look current.
 */
export async function acquireLeases(
  db: Db,
  nodeId: string,
  leaseMs: number,
  limit: number,
  onlyProcess: boolean,
): Promise<{ line: Line; lease: Lease }[]> {
  const now = nowOf(db)
  const skip = db.engine === 'postgres' ? 'for update of l skip locked' : ''
  return db.tx(async (sql) => {
    const free = await LINES.all(
      sql,
      `select l.* from lines l left join line_leases x on x.line_id = l.id
       where l.removed_at is null
         and (x.line_id is null or x.expires_at <= ${now} or (x.node_id <> $1 and ${onlyProcess ? "x.node_id <> ''" : '1 = 0'}))
       order by l.created_at, l.id limit $2 ${skip}`,
      [nodeId, limit],
    )
    const acquired: { line: Line; lease: Lease }[] = []
    for (const line of free) {
      const epoch = await findValue<number>(
        sql,
        `insert into line_leases (line_id, node_id, epoch, expires_at) values ($1, $2, 1, ${now} + $3)
         on conflict (line_id) do update set node_id = $2, epoch = line_leases.epoch + 1, expires_at = ${now} + $3
         where line_leases.expires_at <= ${now} or ${onlyProcess ? "line_leases.node_id <> ''" : 'line_leases.node_id = $2'}
         returning epoch`,
        [line.id, nodeId, leaseMs],
      )
      if (epoch) acquired.push({ line, lease: { lineId: line.id, epoch } })
    }
    return acquired
  })
}

/** Releases a line at once. The epoch stays, so that the next one is higher. */
export async function releaseLease(db: Db, nodeId: string, lease: Lease): Promise<void> {
  await db.run('update line_leases set expires_at = 0 where line_id = $1 and node_id = $2 and epoch = $3', [
    lease.lineId,
    nodeId,
    lease.epoch,
  ])
}

/** Starts a new epoch of a line in the same process: work in progress then belongs to an old epoch. */
export function nextEpoch(db: Db, nodeId: string, lease: Lease): Promise<Lease | undefined> {
  return db.tx((sql) =>
    sql.one(
      `update line_leases set epoch = epoch + 1 where line_id = $1 and node_id = $2 and epoch = $3
       returning line_id as "lineId", epoch`,
      [lease.lineId, nodeId, lease.epoch],
    ),
  )
}

/** Whether this epoch still holds the line. */
export async function holdsLease(sql: Sql, lease: Lease): Promise<boolean> {
  const text = 'select epoch from line_leases where line_id = $1'
  return (await findValue(sql, text, [lease.lineId])) === lease.epoch
}

/** Like `holdsLease`, and no other process can take the line, nor a reset or removal fence it, until the commit. */
export function keepLease(sql: Sql, lease: Lease): Promise<boolean> {
  const lock = sql.engine === 'postgres' ? 'for share' : ''
  return exists(sql, `select 1 from line_leases where line_id = $1 and epoch = $2 ${lock}`, [
    lease.lineId,
    lease.epoch,
  ])
}

/**
 * The fence of a transaction that stores what a line received: fails with MissingValue if another epoch holds the line
 * or its world was reset. Best as the last statement. It takes no lock, because a process that stops before its commit
 * would keep the line from its next holder; unique keys decide between the two.
 */
export async function requireLease(
  sql: Writes,
  { id, resets }: Pick<Line, 'id' | 'resets'>,
  { epoch }: Lease,
): Promise<void> {
  await sql.run(
    `insert into stale_writes (line_id) select cast(null as text)
     where not exists (select 1 from lines where id = $1 and resets = $2)
        or not exists (select 1 from line_leases where line_id = $1 and epoch = $3)`,
    [id, resets, epoch],
  )
}

/**
 * Serialises results and receipts of a line, and parts of long texts: a receipt that finds no send and a send that
 * finds no receipt must not miss each other. The lease's row stays free, so that the line can be taken over from a
 * process that stops in such a transaction.
 */
export async function lockLine(sql: Sql, lineId: string): Promise<void> {
  if (sql.engine === 'postgres')
    await sql.one('select pg_advisory_xact_lock(hashtextextended($1, 0))', [lineId])
}
