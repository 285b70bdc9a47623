import { topics } from '../../core/topics.js'
import { shardOf, WEBHOOK_SHARDS } from '../../core/webhooks/webhook.js'
import type { Db, Sql, Writes } from '../engine/db.js'
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
     where f.shard ${list.sql} and c.last_seq > f.seq`,
    [list.param],
  )
}

/** Moves a feed on; fails with MissingValue if another process has moved it. */
export async function moveFeed(sql: Writes, accountId: string, from: number, to: number): Promise<void> {
  await lockFeed(sql, accountId)
  await sql.run(
    `insert into stale_writes (line_id) select cast(null as text)
     where not exists (select 1 from webhook_feeds where account_id = $1 and seq = $2)`,
    [accountId, from],
  )
  await sql.run('update webhook_feeds set seq = $2 where account_id = $1', [accountId, to])
}

/** Keeps events of the account from becoming deliveries until the commit. */
export async function lockFeed(sql: Writes, accountId: string): Promise<void> {
  if (sql.engine === 'postgres')
    await sql.run('select 1 from webhook_feeds where account_id = $1 for update', [accountId])
}

/** The right to post for the accounts of a shard. The epoch fences its previous holder. */
export interface ShardLease {
  shard: number
  epoch: number
}

export interface ShardWish {
  nodeId: string
  leaseMs: number
  /** Number of shards up to which free ones are taken. */
  share: number
  /** Shards of this node that others may take. */
  released: readonly number[]
}

/** Renews this node's shards, except released ones, and takes free ones. Returns all shards that it now holds. */
export function holdShards(db: Db, { nodeId, leaseMs, share, released }: ShardWish): Promise<ShardLease[]> {
  const now = nowOf(db)
  const skip = db.engine === 'postgres' ? 'for update skip locked' : ''
  return db.upkeep.tx(async (sql) => {
    await releaseShards(sql, nodeId, released)
    const held = await sql.all<ShardLease>(
      `update webhook_shards set expires_at = ${now} + $2 where node_id = $1 and expires_at > ${now}
       returning shard, epoch`,
      [nodeId, leaseMs],
    )
    if (held.length >= share) return held
    const taken = await sql.all<ShardLease>(
      `update webhook_shards set node_id = $1, epoch = epoch + 1, expires_at = ${now} + $2
       where shard in (select shard from webhook_shards where expires_at <= ${now} and shard < ${WEBHOOK_SHARDS}
         order by shard limit $3 ${skip})
       returning shard, epoch`,
      [nodeId, leaseMs, share - held.length],
    )
    return [...held, ...taken]
  })
}

/** The fence of results: fails with MissingValue unless this node holds all these leases. */
export async function requireShards(
  sql: Writes,
  nodeId: string,
  leases: readonly ShardLease[],
): Promise<void> {
  const keys = new Set(leases.map(({ shard, epoch }) => `${shard}:${epoch}`))
  const list = sql.inList(2, [...keys])
  await sql.run(
    `insert into stale_writes (line_id) select cast(null as text)
     where (select count(*) from webhook_shards where node_id = $1 and (shard || ':' || epoch) ${list.sql}) < $3`,
    [nodeId, list.param, keys.size],
  )
}

export async function holdsShard(sql: Sql, nodeId: string, { shard, epoch }: ShardLease): Promise<boolean> {
  const held = 'select 1 from webhook_shards where node_id = $1 and shard = $2 and epoch = $3'
  return (await sql.one(held, [nodeId, shard, epoch])) !== undefined
}

export async function releaseShards(sql: Sql, nodeId: string, shards: readonly number[]): Promise<void> {
  if (shards.length === 0) return
  const list = sql.inIds(2, shards)
  await sql.run(`update webhook_shards set expires_at = 0 where node_id = $1 and shard ${list.sql}`, [
    nodeId,
    list.param,
  ])
}
