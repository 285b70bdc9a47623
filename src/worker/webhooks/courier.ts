import type { Again } from '../../base/again.js'
import { createBoundedMap } from '../../base/bounded-map.js'
import { topics } from '../../core/topics.js'
import { shardOf } from '../../core/webhooks/webhook.js'
import type { Ctx } from '../../services/ctx.js'
import { createDeliverers } from '../../services/webhooks/delivery.js'
import { fanOut, type RenderWebhook } from '../../services/webhooks/fanout.js'
import { createSurplusWatch } from '../../services/webhooks/surplus.js'
import { listBusyLanes } from '../../storage/webhooks/deliveries.js'
import { findFeed, listFeedsBehind, type WebhookFeed } from '../../storage/webhooks/feeds.js'
import { createLane, type Lane } from './lane.js'
import { createShards } from './shards.js'
import { createSlots } from './slots.js'

interface Courier {
  start(): Promise<void>
  /** Starts no more attempts and waits for the current ones, for at most `drainMs`. */
  stop(drainMs: number): Promise<void>
}

interface Feeding extends Again {
  /** Null: the account has never had a webhook. Undefined: not read yet. */
  feed: WebhookFeed | null | undefined
  /** Told of new deliveries. */
  watch(added: number): Promise<void>
}

const SWEEP_MS = 2000
const KEPT_WIDTHS = 10_000
/** Lanes of one account in memory. Further ones wait in the table, so that many origins do not fill the memory. */
export const LANES_PER_ACCOUNT = 1000

/**
 * Delivers the events of accounts to their webhooks. An account belongs to one process at a time, like a line, so the
 * order at its receivers needs no coordination between processes.
 */
export function createCourier(ctx: Ctx, nodeId: string, render: RenderWebhook): Courier {
  const delivererOf = createDeliverers(ctx, nodeId)
  const slots = createSlots()
  const accounts = new Map<string, Feeding>()
  const lanes = new Map<string, Lane>()
  /** Concurrent attempts that idle receivers had reached, so that a known receiver does not begin like a new one. */
  const widths = createBoundedMap<string, number>(KEPT_WIDTHS)
  /** Number of lanes of each account, and the accounts with further lanes in the table. */
  const laneCounts = new Map<string, number>()
  const crowded = new Set<string>()
  const leaving = new Set<Lane>()
  const shards = createShards(ctx, nodeId, { leave, isBusy, begin: look })
  let stopped = false
  let sweepTimer: NodeJS.Timeout | undefined

  /** Stops the work for accounts of other processes. */
  function leave() {
    for (const [accountId, feeding] of accounts) {
      if (isOurs(accountId)) continue
      accounts.delete(accountId)
      void feeding.stop()
    }
    for (const [key, lane] of lanes) if (!isOurs(lane.accountId)) drop(key, lane)
  }

  /** Whether posts are under way in lanes that were stopped: of a shard, or of any. */
  function isBusy(shard?: number): boolean {
    for (const lane of leaving) if (lane.unfinished() === 0) leaving.delete(lane)
    return [...leaving].some(({ accountId }) => shard === undefined || shardOf(accountId) === shard)
  }

  /** Finds open work in the database. */
  async function look(within: readonly number[]) {
    for (const { lane, accountId } of await listBusyLanes(ctx.db, within)) laneOf(lane, accountId)?.reread()
    for (const feed of await listFeedsBehind(ctx.db, within)) {
      feedingOf(feed.accountId).feed ??= feed
      feedOn(feed.accountId)
    }
  }

  const isOurs = (accountId: string) => shards.holdOf(accountId) !== undefined

  /** The lane, or undefined if the account has too many: then it is found in the table when others have ended. */
  function laneOf(key: string, accountId: string): Lane | undefined {
    const known = lanes.get(key)
    const held = shards.holdOf(accountId)
    if (known || !held) return known
    if ((laneCounts.get(accountId) ?? 0) >= LANES_PER_ACCOUNT) {
      crowded.add(accountId)
      return undefined
    }
    const lane: Lane = createLane(ctx, key, accountId, delivererOf(held), slots, widths.get(key), (width) => {
      widths.set(key, width)
      if (lanes.get(key) === lane) forget(key, lane)
    })
    // A read that began before `stop` may end after it. Its deliveries are in the table for the next process.
    if (stopped) lane.stop()
    else {
      lanes.set(key, lane)
      laneCounts.set(accountId, (laneCounts.get(accountId) ?? 0) + 1)
    }
    return lane
  }

  function forget(key: string, { accountId }: Lane) {
    lanes.delete(key)
    const left = laneCounts.get(accountId)! - 1
    if (left > 0) laneCounts.set(accountId, left)
    else laneCounts.delete(accountId)
    if (left > LANES_PER_ACCOUNT / 2 || !crowded.delete(accountId)) return
    if (stopped || !isOurs(accountId)) return
    void ctx.errand(() =>
      look([shardOf(accountId)]).catch((error) => {
        crowded.add(accountId)
        ctx.log.warn({ err: error, account: accountId }, 'waiting deliveries could not be read')
      }),
    )
  }

  function drop(key: string, lane: Lane) {
    forget(key, lane)
    lane.stop()
    if (lane.unfinished() > 0) leaving.add(lane)
  }

  /** The account's world was reset: deliveries of the old world are dropped. */
  function abandon(accountId: string) {
    const feeding = accounts.get(accountId)
    if (feeding?.isIdle()) {
      accounts.delete(accountId)
      void feeding.stop()
    }
    for (const [key, lane] of lanes) {
      if (lane.accountId !== accountId) continue
      forget(key, lane)
      lane.abandon()
    }
    ctx.door.hangUp(accountId)
  }

  /** Called when the account's event log has grown. */
  function feedOn(accountId: string) {
    if (stopped || !isOurs(accountId)) return
    const feeding = feedingOf(accountId)
    // Read once: an account without webhooks costs nothing more until its webhooks change.
    if (feeding.feed !== null) feeding.ask()
  }

  function feedingOf(accountId: string): Feeding {
    const known = accounts.get(accountId)
    if (known) return known
    const again = ctx.loops.create('webhook feed', () => ctx.errand(() => feed(accountId, feeding)), {
      fields: { account: accountId },
    })
    const feeding: Feeding = Object.assign(again, {
      feed: undefined,
      watch: createSurplusWatch(ctx, accountId),
    })
    accounts.set(accountId, feeding)
    return feeding
  }

  async function feed(accountId: string, feeding: Feeding) {
    feeding.feed ??= (await findFeed(ctx.db, accountId)) ?? null
    if (!feeding.feed || stopped || !isOurs(accountId)) return
    const step = await fanOut(ctx, feeding.feed, render)
    // Another process has moved the feed: continue where it stopped.
    feeding.feed = step ? step.feed : ((await findFeed(ctx.db, accountId)) ?? null)
    if (!step || step.more) feeding.ask()
    for (const key of step?.lanes ?? []) laneOf(key, accountId)?.wake()
    await feeding.watch(step?.added ?? 0)
    if (step?.more) await ctx.rest()
  }

  const sweeping = ctx.loops.create('webhook sweep', () => look(shards.list()))
  const subscriptions: (() => void)[] = []
  return {
    async start() {
      subscriptions.push(
        ctx.wakes.on(topics.resets, abandon),
        ctx.wakes.on(topics.events, feedOn),
        ctx.wakes.on(topics.webhookFeeds, (accountId) => {
          // The account had no feed when it was last read.
          const known = accounts.get(accountId)
          if (known?.feed === null) known.feed = undefined
          feedOn(accountId)
        }),
        ctx.wakes.on(topics.webhooksReplayed, (accountId, lane) => {
          if (isOurs(accountId)) laneOf(lane, accountId)?.reread()
        }),
      )
      await shards.start()
      if (ctx.db.engine === 'sqlite') return
      // Hints from other processes may get lost.
      sweepTimer = setInterval(sweeping.ask, SWEEP_MS).unref()
    },
    async stop(drainMs) {
      stopped = true
      clearInterval(sweepTimer)
      for (const unsubscribe of subscriptions) unsubscribe()
      // A feed that ended later would open a lane that is never stopped and keeps the process alive.
      await Promise.all([sweeping.stop(), ...[...accounts.values()].map((feeding) => feeding.stop())])
      for (const [key, lane] of lanes) drop(key, lane)
      await shards.stop(Date.now() + drainMs)
    },
  }
}
