import type { Db, Sql } from '../engine/db.js'

/**
 * Who drives which line. On PostgreSQL times come from the database, so that nodes whose clocks differ agree;
 * on SQLite there is one process, and holding the data directory is the proof that no other lives.
 */
export interface Lease {
  lineId: string
  epoch: number
}

/** The time that leases are kept in. */
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
  const row = await db.one<{ n: number }>(
    `select count(*) as n from nodes where seen_at > ${nowOf(db)} - $1`,
    [leaseMs],
  )
  return Math.max(1, row?.n ?? 1)
}

/** A process that ends is counted no more: the others, and the one that comes after it, take all lines at once. */
export async function forgetNode(db: Db, nodeId: string): Promise<void> {
  await db.run('delete from nodes where id = $1', [nodeId])
}

export async function forgetNodes(db: Db, olderThanMs: number): Promise<void> {
  await db.run(`delete from nodes where seen_at < ${nowOf(db)} - $1`, [olderThanMs])
}

/** Extends what this node holds and answers what it still holds. A lost lease is not among them. */
export async function renewLeases(db: Db, nodeId: string, leaseMs: number): Promise<Lease[]> {
  const now = nowOf(db)
  const rows = await db.tx((sql) =>
    sql.all<{ line_id: string; epoch: number }>(
      `update line_leases set expires_at = ${now} + $2 where node_id = $1 and expires_at > ${now} returning line_id, epoch`,
      [nodeId, leaseMs],
    ),
  )
  return rows.map((row) => ({ lineId: row.line_id, epoch: row.epoch }))
}

/** Takes up to `limit` lines that nobody drives. Each gets a new epoch, which fences its former driver. */
export async function acquireLeases(
  db: Db,
  nodeId: string,
  leaseMs: number,
  limit: number,
  onlyProcess: boolean,
): Promise<Lease[]> {
  const now = nowOf(db)
  const skip = db.engine === 'postgres' ? 'for update of l skip locked' : ''
  return db.tx(async (sql) => {
    const free = await sql.all<{ id: string }>(
      `select l.id from lines l left join line_leases x on x.line_id = l.id
       where l.removed_at is null
         and (x.line_id is null or (x.node_id <> $1 and ${onlyProcess ? '1 = 1' : `x.expires_at <= ${now}`})
              or (x.node_id = $1 and x.expires_at <= ${now}))
       order by l.created_at, l.id limit $2 ${skip}`,
      [nodeId, limit],
    )
    const leases: Lease[] = []
    for (const { id } of free) {
      const row = await sql.one<{ epoch: number }>(
        `insert into line_leases (line_id, node_id, epoch, expires_at) values ($1, $2, 1, ${now} + $3)
         on conflict (line_id) do update set node_id = $2, epoch = line_leases.epoch + 1, expires_at = ${now} + $3
         where line_leases.expires_at <= ${now} or ${onlyProcess ? '1 = 1' : 'line_leases.node_id = $2'}
         returning epoch`,
        [id, nodeId, leaseMs],
      )
      if (row) leases.push({ lineId: id, epoch: row.epoch })
    }
    return leases
  })
}

/** Gives a line back at once; the epoch stays, so that the next driver's is higher. */
export async function releaseLease(db: Db, nodeId: string, lease: Lease): Promise<void> {
  await db.run('update line_leases set expires_at = 0 where line_id = $1 and node_id = $2 and epoch = $3', [
    lease.lineId,
    nodeId,
    lease.epoch,
  ])
}

/** The same line, driven anew by the same process: what is under way belongs to a former driver from now on. */
export async function nextEpoch(db: Db, nodeId: string, lease: Lease): Promise<Lease | undefined> {
  const row = await db.tx((sql) =>
    sql.one<{ epoch: number }>(
      'update line_leases set epoch = epoch + 1 where line_id = $1 and node_id = $2 and epoch = $3 returning epoch',
      [lease.lineId, nodeId, lease.epoch],
    ),
  )
  return row && { lineId: lease.lineId, epoch: row.epoch }
}

/** Whether this epoch still drives the line. */
export async function holdsLease(sql: Sql, lease: Lease): Promise<boolean> {
  const row = await sql.one<{ epoch: number }>('select epoch from line_leases where line_id = $1', [
    lease.lineId,
  ])
  return row?.epoch === lease.epoch
}

/**
 * Results and receipts of one line are written one after the other: a receipt that finds no send and a send that
 * finds no receipt must not pass each other unseen.
 */
export async function lockLine(sql: Sql, lineId: string): Promise<void> {
  if (sql.engine === 'postgres')
    await sql.one('select 1 from line_leases where line_id = $1 for update', [lineId])
}
