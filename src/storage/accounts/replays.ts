import type { Columns, Param, Sql } from '../engine/db.js'

/** A stored response, by account and path and by the caller's key or the request's fingerprint. */
export interface Replay {
  accountId: string
  path: string
  key: string
  requestHash: string
  status: number
  body: string
  createdAt: number
  expiresAt: number
}

const COLUMNS = {
  account_id: 'text',
  path: 'text',
  key: 'text',
  request_hash: 'text',
  status: 'bigint',
  body: 'text',
  created_at: 'bigint',
  expires_at: 'bigint',
} as const satisfies Columns

/** Fails with UniqueViolation if another request was first: the unique index decides the race. */
export async function insertReplays(sql: Sql, replays: readonly Replay[]): Promise<void> {
  if (replays.length === 0) return
  for (const replay of replays) {
    await sql.run(
      'delete from replays where account_id = $1 and path = $2 and key = $3 and expires_at <= $4',
      [replay.accountId, replay.path, replay.key, replay.createdAt],
    )
  }
  await sql.insertMany('replays', COLUMNS, replays.map(fromReplay))
}

/** Like `insertReplays`, but replaces an existing response, for a request that may be repeated on purpose. */
export async function saveReplay(sql: Sql, replay: Replay): Promise<void> {
  await sql.insertMany(
    'replays',
    COLUMNS,
    [fromReplay(replay)],
    `on conflict (account_id, path, key) do update set request_hash = excluded.request_hash, status = excluded.status,
     body = excluded.body, created_at = excluded.created_at, expires_at = excluded.expires_at`,
  )
}

function fromReplay(r: Replay): Param[] {
  return [r.accountId, r.path, r.key, r.requestHash, r.status, r.body, r.createdAt, r.expiresAt]
}

export async function findReplay(
  sql: Sql,
  accountId: string,
  path: string,
  key: string,
  now: number,
): Promise<{ requestHash: string; status: number; body: string } | undefined> {
  const row = await sql.one<{ request_hash: string; status: number; body: string }>(
    'select request_hash, status, body from replays where account_id = $1 and path = $2 and key = $3 and expires_at > $4',
    [accountId, path, key, now],
  )
  return row && { requestHash: row.request_hash, status: row.status, body: row.body }
}

/** Deletes a stored response, but only the one that was read: another may have replaced it. */
export async function dropReplay(sql: Sql, { accountId, path, key }: Replay, body: string): Promise<void> {
  await sql.run('delete from replays where account_id = $1 and path = $2 and key = $3 and body = $4', [
    accountId,
    path,
    key,
    body,
  ])
}

export async function dropExpiredReplays(sql: Sql, now: number): Promise<number> {
  return sql.run('delete from replays where expires_at <= $1', [now])
}
