import { topics } from '../../core/topics.js'
import { shardOf, WEBHOOK_SHARDS } from '../../core/webhooks/webhook.js'
import type { Db, Sql, Writes } from '../engine/db.js'
import { hasChanged, listValues } from '../engine/query.js'
import { nowOf } from '../lines/leases.js'

/** How far the events of an account have been turned into deliveries. */
export interface WebhookFeed {
  accountId: string
  seq: number
}

/** Turns the account's events from now on into deliveries; does nothing if that is the case already. */
export async function insertFeed(sql: Writes, accountId: string): Promise<void> {
  sql.announce(topics.webhookFeeds, accountId)
  await sql.run(
    `insert into webhook_feeds (account_id, shard, seq)
     select account_id, $2, last_seq from event_counters where account_id = $1
     on conflict (account_id) do nothing`,
    [accountId, shardOf(accountId)],
  )
}

export function findFeed(
  sql: Sql,
  accountId: string,
): Promise<(WebhookFeed & { shard: number }) | undefined> {
  return sql.one('select account_id as "accountId", seq, shard from webhook_feeds where account_id = $1', [
    accountId,
  ])
}

/** Feeds of these shards that are behind their account's event log. */
export function listFeedsBehind(sql: Sql, shards: readonly number[]): Promise<WebhookFeed[]> {
  const list = sql.inIds(1, shards)
  return sql.all(
    `select f.account_id as "accountId", f.seq from webhook_feeds f join event_counters c on c.account_id = f.account_id
     where f.shard in ${list.sql} and c.last_seq > f.seq`,
    [list.param],
  )
}

/** Moves a feed on; false if another process has moved it. */
export function moveFeed(sql: Sql, accountId: string, from: number, to: number): Promise<boolean> {
  return hasChanged(sql, 'update webhook_feeds set seq = $3 where account_id = $1 and seq = $2', [
    accountId,
    from,
    to,
  ])
}

/** Keeps events of the account from becoming deliveries until the commit. */
export async function lockFeed(sql: Sql, accountId: string): Promise<void> {
  if (sql.engine === 'postgres')
    await sql.one('select 1 from webhook_feeds where account_id = $1 for update', [accountId])
}

/** Renews this node's shards and takes free ones up to its share. Returns all shards that it now holds. */
export async function holdShards(db: Db, nodeId: string, share: number, leaseMs: number): Promise<number[]> {
  const now = nowOf(db)
  const skip = db.engine === 'postgres' ? 'for update skip locked' : ''
  return db.tx(async (sql) => {
    const held = await renewShards(sql, nodeId, leaseMs)
    const surplus = held.slice(share)
    for (const shard of surplus)
      await sql.run('update webhook_shards set expires_at = 0 where shard = $1', [shard])
    const kept = held.slice(0, share)
    const free = await listValues<number>(
      sql,
      `select shard from webhook_shards where expires_at <= ${now} and shard < ${WEBHOOK_SHARDS}
       order by shard limit $1 ${skip}`,
      [share - kept.length],
    )
    for (const shard of free) {
      await sql.run(`update webhook_shards set node_id = $2, expires_at = ${now} + $3 where shard = $1`, [
        shard,
        nodeId,
        leaseMs,
      ])
      kept.push(shard)
    }
    return kept
  })
}

/** Renews this node's shards and returns them. */
export function renewShards(sql: Sql, nodeId: string, leaseMs: number): Promise<number[]> {
  const now = nowOf(sql)
  return listValues(
    sql,
    `update webhook_shards set expires_at = ${now} + $2 where node_id = $1 and expires_at > ${now} returning shard`,
    [nodeId, leaseMs],
  )
}

export async function releaseShards(db: Db, nodeId: string): Promise<void> {
  await db.run('update webhook_shards set expires_at = 0 where node_id = $1', [nodeId])
}
