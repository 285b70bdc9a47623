import { topics } from '../../core/topics.js'
import { shardOf, WEBHOOK_SHARDS } from '../../core/webhooks/webhook.js'
import type { Db, Sql, Writes } from '../engine/db.js'
import { nowOf } from '../lines/leases.js'

/** How far the events of an account have been turned into deliveries. */
export interface WebhookFeed {
  accountId: string
  seq: number
}

/** From its present end on, the account's log is turned into deliveries. Nothing when it is already. */
export async function insertFeed(sql: Writes, accountId: string): Promise<void> {
  sql.announce(topics.webhookFeeds, accountId)
  await sql.run(
    `insert into webhook_feeds (account_id, shard, seq)
     select account_id, $2, last_seq from event_counters where account_id = $1
     on conflict (account_id) do nothing`,
    [accountId, shardOf(accountId)],
  )
}

export async function findFeed(
  sql: Sql,
  accountId: string,
): Promise<(WebhookFeed & { shard: number }) | undefined> {
  const row = await sql.one<{ seq: number; shard: number }>(
    'select seq, shard from webhook_feeds where account_id = $1',
    [accountId],
  )
  return row && { accountId, seq: row.seq, shard: row.shard }
}

/** Feeds of these parts that are behind their log. */
export async function listFeedsBehind(sql: Sql, shards: readonly number[]): Promise<WebhookFeed[]> {
  const list = sql.inIds(1, shards)
  const rows = await sql.all<{ account_id: string; seq: number }>(
    `select f.account_id, f.seq from webhook_feeds f join event_counters c on c.account_id = f.account_id
     where f.shard in ${list.sql} and c.last_seq > f.seq`,
    [list.param],
  )
  return rows.map((row) => ({ accountId: row.account_id, seq: row.seq }))
}

/** Moves a feed on. False when somebody else did already. */
export async function moveFeed(sql: Sql, accountId: string, from: number, to: number): Promise<boolean> {
  const moved = await sql.run('update webhook_feeds set seq = $3 where account_id = $1 and seq = $2', [
    accountId,
    from,
    to,
  ])
  return moved > 0
}

/** Until this transaction ends, no event of the account becomes a delivery. */
export async function lockFeed(sql: Sql, accountId: string): Promise<void> {
  if (sql.engine === 'postgres')
    await sql.one('select 1 from webhook_feeds where account_id = $1 for update', [accountId])
}

/** Keeps what this node holds and takes free parts up to its share. Answers all that it now holds. */
export async function holdShards(db: Db, nodeId: string, share: number, leaseMs: number): Promise<number[]> {
  const now = nowOf(db)
  const skip = db.engine === 'postgres' ? 'for update skip locked' : ''
  return db.tx(async (sql) => {
    const held = await renewShards(sql, nodeId, leaseMs)
    const surplus = held.slice(share)
    for (const shard of surplus)
      await sql.run('update webhook_shards set expires_at = 0 where shard = $1', [shard])
    const kept = held.slice(0, share)
    const free = await sql.all<{ shard: number }>(
      `select shard from webhook_shards where expires_at <= ${now} and shard < ${WEBHOOK_SHARDS}
       order by shard limit $1 ${skip}`,
      [share - kept.length],
    )
    for (const { shard } of free) {
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

/** Extends what this node holds and answers what that is. */
export async function renewShards(sql: Sql, nodeId: string, leaseMs: number): Promise<number[]> {
  const now = nowOf(sql)
  const held = await sql.all<{ shard: number }>(
    `update webhook_shards set expires_at = ${now} + $2 where node_id = $1 and expires_at > ${now} returning shard`,
    [nodeId, leaseMs],
  )
  return held.map((row) => row.shard)
}

export async function releaseShards(db: Db, nodeId: string): Promise<void> {
  await db.run('update webhook_shards set expires_at = 0 where node_id = $1', [nodeId])
}
