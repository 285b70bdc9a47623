import type { Db, Sql } from '../engine/db.js'
import { deleteInSlices } from '../engine/slices.js'
import { table } from '../engine/table.js'

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

const REPLAYS = table<Replay>()('replays', {
  text: 'accountId path key requestHash body',
  number: 'status createdAt expiresAt',
})

/** Fails with UniqueViolation if another request was first: the unique index decides the race. */
export async function insertReplays(sql: Sql, replays: readonly Replay[]): Promise<void> {
  if (replays.length === 0) return
  for (const replay of replays) {
    await sql.run(
      'delete from replays where account_id = $1 and path = $2 and key = $3 and expires_at <= $4',
      [replay.accountId, replay.path, replay.key, replay.createdAt],
    )
  }
  await REPLAYS.insertMany(sql, replays)
}

/** Like `insertReplays`, but replaces an existing response, for a request that may be repeated on purpose. */
export async function saveReplay(sql: Sql, replay: Replay): Promise<void> {
  await REPLAYS.save(sql, replay, 'accountId path key')
}

export function findReplay(
  sql: Sql,
  accountId: string,
  path: string,
  key: string,
  now: number,
): Promise<Replay | undefined> {
  const where = 'account_id = $1 and path = $2 and key = $3 and expires_at > $4'
  return REPLAYS.find(sql, where, [accountId, path, key, now])
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

export function dropExpiredReplays(db: Db, now: number): Promise<number> {
  return deleteInSlices(db, { table: 'replays', where: 'expires_at <= $1', params: [now] })
}
