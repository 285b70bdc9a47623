import type { Line } from '../../core/lines/line.js'
import type { Db, Sql, Writes } from '../engine/db.js'
import { noteSynchronous } from '../engine/incarnations.js'
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

/** The date of a lease that lasts as long as its node beats. */
const UNDATED = Number.MAX_SAFE_INTEGER

/** SQL condition: the node `n` is alive. */
const isAlive = (db: Pick<Sql, 'engine'>) => `n.seen_at + n.lease_ms > ${nowOf(db)}`

/** SQL condition: the lease `x` is in force. One row of `nodes` renews all undated leases of a node. */
export const isInForce = (db: Pick<Sql, 'engine'>, x: string) =>
  `(${x}.expires_at > ${nowOf(db)} and (${x}.expires_at < ${UNDATED}
    or exists (select 1 from nodes n where n.id = ${x}.node_id and ${isAlive(db)})))`

export interface Beat {
  nodeId: string
  startedAt: number
  leaseMs: number
  /** Other processes divide the work without this one. */
  isLeaving: boolean
}

/** Shows that this node is alive, which renews its leases. */
export async function beat(db: Db, { nodeId, startedAt, leaseMs, isLeaving }: Beat): Promise<void> {
  const now = nowOf(db)
  await db.upkeep.run(
    `insert into nodes (id, started_at, seen_at, lease_ms, leaving) values ($1, $2, ${now}, $3, $4)
     on conflict (id) do update set seen_at = ${now}, lease_ms = $3, leaving = $4`,
    [nodeId, startedAt, leaseMs, isLeaving ? 1 : 0],
  )
  await noteSynchronous(db.upkeep)
}

/** The place of a process among those that are alive and stay, by which they divide the work. */
export interface NodePlace {
  nodes: number
  /** Number of such processes that started earlier. */
  rank: number
}

export async function findPlace(db: Db, nodeId: string): Promise<NodePlace> {
  const place = await db.upkeep.one<NodePlace>(
    `select count(*) as nodes,
       count(case when n.started_at < me.started_at or (n.started_at = me.started_at and n.id < me.id) then 1 end) as rank
     from nodes n left join nodes me on me.id = $1 where n.leaving = 0 and ${isAlive(db)}`,
    [nodeId],
  )
  return { nodes: Math.max(1, place?.nodes ?? 1), rank: place?.rank ?? 0 }
}

/** This process's even share. The remainder goes to the oldest processes, so that a new one moves as little as possible. */
export function shareOf({ nodes, rank }: NodePlace, total: number): number {
  return Math.floor(total / nodes) + (rank < total % nodes ? 1 : 0)
}

/** Removes a process that ends, so that other processes take its lines at once. */
export async function forgetNode(db: Db, nodeId: string): Promise<void> {
  await db.upkeep.run('delete from nodes where id = $1', [nodeId])
}

export async function forgetNodes(db: Db, olderThanMs: number): Promise<void> {
  await db.upkeep.run(`delete from nodes where seen_at < ${nowOf(db)} - $1`, [olderThanMs])
}

/** SQL: the leases that the node $1 holds. The time is read once for all rows, not for each. */
const held = (db: Db) => `line_leases x where x.node_id = $1 and x.expires_at > (select ${nowOf(db)})`

/** Number of a node's leases and the sum of their epochs: any lease that was taken or fenced changes one of them. */
export async function sumLeases(db: Db, nodeId: string): Promise<{ leases: number; epochs: number }> {
  const row = await db.one<{ leases: number; epochs: number }>(
    `select count(*) as leases, cast(coalesce(sum(epoch), 0) as bigint) as epochs from ${held(db)}`,
    [nodeId],
  )
  return row!
}

/** On PostgreSQL: a text that differs as soon as any line that this node drives has changed. */
export async function digestLines(db: Db, nodeId: string): Promise<string> {
  const text = `select cast(sum(hashtextextended(cast(l as text), 0)) as text) from lines l
    where l.id in (select x.line_id from ${held(db)})`
  return (await findValue<string>(db, text, [nodeId])) ?? ''
}

/** The leases that a node holds, of these lines or of all. */
export function listLeases(db: Db, nodeId: string, lineIds?: readonly string[]): Promise<Lease[]> {
  const text = `select x.line_id as "lineId", x.epoch from ${held(db)}`
  if (!lineIds) return db.all(text, [nodeId])
  const list = db.inList(2, lineIds)
  return db.all(`${text} and x.line_id ${list.sql}`, [nodeId, list.param])
}

export interface LeaseWish {
  nodeId: string
  limit: number
  /** Only these lines; undefined: any. */
  lineIds?: readonly string[] | undefined
  /** No other process shares the database: leases of other nodes are left over from earlier ones. */
  isOnlyProcess: boolean
}

/**
 * Acquires up to `limit` free lines, but none that a reset holds (without a node). Each gets a new epoch, which fences its previous holder. The lines are read under
 * their lock: a line read after a reset or removal has fenced this lease would look current.
 */
export async function acquireLeases(
  db: Db,
  { nodeId, limit, lineIds, isOnlyProcess }: LeaseWish,
): Promise<{ line: Line; lease: Lease }[]> {
  const lock = db.engine === 'postgres' ? 'for update of l skip locked' : ''
  const isLeftOver = (x: string) => (isOnlyProcess ? `${x}.node_id <> ''` : '1 = 0')
  return db.upkeep.tx(async (sql) => {
    const among = lineIds && sql.inList(3, lineIds)
    const free = await LINES.all(
      sql,
      `select l.* from lines l left join line_leases x on x.line_id = l.id
       where l.removed_at is null ${among ? `and l.id ${among.sql}` : ''}
         and (x.line_id is null or not ${isInForce(sql, 'x')} or (x.node_id <> $1 and ${isLeftOver('x')}))
       order by l.created_at, l.id limit $2 ${lock}`,
      [nodeId, limit, ...(among ? [among.param] : [])],
    )
    if (free.length === 0) return []
    const list = sql.inList(
      2,
      free.map(({ id }) => id),
    )
    const leases = await sql.all<Lease>(
      `insert into line_leases (line_id, node_id, epoch, expires_at)
       select id, cast($1 as text), 1, ${UNDATED} from lines where id ${list.sql}
       on conflict (line_id) do update set node_id = $1, epoch = line_leases.epoch + 1, expires_at = ${UNDATED}
       where not ${isInForce(sql, 'line_leases')} or line_leases.node_id = $1 or ${isLeftOver('line_leases')}
       returning line_id as "lineId", epoch`,
      [nodeId, list.param],
    )
    const own = new Map(leases.map((lease) => [lease.lineId, lease]))
    return free.flatMap((line) => (own.has(line.id) ? { line, lease: own.get(line.id)! } : []))
  })
}

/** Releases a line at once. The epoch stays, so that the next one is higher. */
export async function releaseLease(db: Db, nodeId: string, lease: Lease): Promise<void> {
  await db.upkeep.run(
    'update line_leases set expires_at = 0 where line_id = $1 and node_id = $2 and epoch = $3',
    [lease.lineId, nodeId, lease.epoch],
  )
}

/** Starts a new epoch of a line in the same process: work in progress then belongs to an old epoch. */
export function nextEpoch(db: Db, nodeId: string, lease: Lease): Promise<Lease | undefined> {
  return db.upkeep.tx((sql) =>
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
