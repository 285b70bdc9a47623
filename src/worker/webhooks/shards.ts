import { topics } from '../../core/topics.js'
import { shardOf, WEBHOOK_SHARDS } from '../../core/webhooks/webhook.js'
import type { Ctx } from '../../services/ctx.js'
import type { HeldShard } from '../../services/webhooks/delivery.js'
import { findPlace, shareOf } from '../../storage/lines/leases.js'
import { holdShards, releaseShards, type ShardLease } from '../../storage/webhooks/feeds.js'

/** This process's share of the accounts. */
export interface Shards {
  start(): Promise<void>
  /** The lease under which work for the account may start; undefined if the account is for another process. */
  holdOf(accountId: string): HeldShard | undefined
  /** Shards in which work may start. */
  list(): number[]
  /** Starts no more work. Releases each shard as soon as its work under way is stored, at the deadline all of them. */
  stop(deadline: number): Promise<void>
}

interface ShardWork {
  /** Stops the work of accounts without a lease. */
  leave(): void
  /** Whether work that `leave` stopped is under way: of a shard, or of any. */
  isBusy(shard?: number): boolean
  /** Looks for open work in new shards. */
  begin(shards: readonly number[]): Promise<void>
}

/** How often a process looks whether posts under way are stored. */
const LOOK_MS = 5
/** Renewals for each lease time. */
const BEATS = 5
const ALL_SHARDS = Array.from({ length: WEBHOOK_SHARDS }, (_, shard): ShardLease => ({ shard, epoch: 0 }))

export function createShards(ctx: Ctx, nodeId: string, work: ShardWork): Shards {
  const isAlone = ctx.db.engine === 'sqlite'
  const { leaseMs } = ctx.config
  /** Leases of this process, as far as it knows. */
  const held = new Map<number, HeldShard>()
  /** Shards that other processes get as soon as the posts under way are stored. Nothing new starts in them. */
  const giving = new Set<number>()
  /** Shards whose open work was not read so far. */
  const unread = new Set<number>()
  /** Until when no other process can have the leases, on the clock of `performance.now`, which never jumps. */
  let heldUntil = isAlone ? Number.POSITIVE_INFINITY : 0
  let stopped = false
  let beating: NodeJS.Timeout | undefined
  let watching: NodeJS.Timeout | undefined
  let unsubscribe = () => {}
  const tending = ctx.loops.create('webhooks', tend, { isVital: true })

  const list = () => [...held.keys()].filter((shard) => !giving.has(shard))

  /** One pass: releases surplus shards, renews the others, takes free ones. Never two at once. */
  async function tend() {
    if (isAlone) {
      update(ALL_SHARDS)
      return begin()
    }
    const askedAt = performance.now()
    const share = stopped ? 0 : shareOf(await findPlace(ctx.db, nodeId), WEBHOOK_SHARDS)
    for (const shard of list().slice(share)) giving.add(shard)
    work.leave()
    const released = [...giving].filter((shard) => !work.isBusy(shard))
    // Before the release: a post that has not left by now stays.
    released.forEach(forget)
    const leases = await holdShards(ctx.db, { nodeId, leaseMs, share: share + giving.size, released })
    heldUntil = askedAt + leaseMs
    update(leases)
    if (released.length > 0) ctx.wakes.wake(topics.nodes)
    if (giving.size > 0) watch()
    if (!stopped) await begin()
  }

  async function begin() {
    if (unread.size > 0) await work.begin([...unread])
    unread.clear()
  }

  /** Notes the leases of this process, and which of them are new or were lost in between. */
  function update(leases: readonly ShardLease[]) {
    const epochs = new Map(leases.map(({ shard, epoch }) => [shard, epoch]))
    for (const { shard, epoch } of held.values()) if (epochs.get(shard) !== epoch) forget(shard)
    // Also in shards that were lost and taken again: what their lanes have read may be out of date.
    work.leave()
    for (const lease of leases) {
      if (held.has(lease.shard)) continue
      const isHeld = () => performance.now() < heldUntil && held.get(lease.shard) === own
      const lose = () => {
        if (held.get(lease.shard) !== own) return
        forget(lease.shard)
        work.leave()
        tending.ask()
      }
      const own: HeldShard = { ...lease, isHeld, lose }
      held.set(lease.shard, own)
      unread.add(lease.shard)
    }
  }

  function forget(shard: number) {
    held.delete(shard)
    giving.delete(shard)
    unread.delete(shard)
  }

  /** Asks for the pass that releases a shard as soon as its posts under way are stored. */
  function watch() {
    clearTimeout(watching)
    watching = setTimeout(() => {
      if ([...giving].some((shard) => !work.isBusy(shard))) tending.ask()
      else watch()
    }, LOOK_MS).unref()
  }

  return {
    async start() {
      await tending.run().catch(() => {})
      if (isAlone) return
      unsubscribe = ctx.wakes.on(topics.nodes, tending.ask)
      beating = setInterval(tending.ask, leaseMs / BEATS).unref()
    },
    holdOf(accountId) {
      const shard = shardOf(accountId)
      return giving.has(shard) ? undefined : held.get(shard)
    },
    list,
    async stop(deadline) {
      stopped = true
      unsubscribe()
      // The beat keeps the leases of posts under way, so that no other process repeats these posts.
      if (!isAlone) await tending.run().catch(() => {})
      while (work.isBusy() && Date.now() < deadline) await new Promise((done) => setTimeout(done, LOOK_MS))
      clearInterval(beating)
      clearTimeout(watching)
      await tending.stop()
      const released = [...held.keys()]
      held.clear()
      if (isAlone || released.length === 0) return
      await releaseShards(ctx.db.upkeep, nodeId, released)
      ctx.wakes.wake(topics.nodes)
    },
  }
}
