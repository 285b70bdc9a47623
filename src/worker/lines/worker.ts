import { createAgain } from '../../base/again.js'
import type { Line } from '../../core/lines/line.js'
import { topics } from '../../core/topics.js'
import { CLAIM_MS } from '../../core/verify/verified-contact.js'
import { dropOldAudit, endLostChanges } from '../../services/audit/audit.js'
import type { Ctx } from '../../services/ctx.js'
import { dropOldEvents } from '../../services/events/retention.js'
import { failBlocked } from '../../services/lines/blocks.js'
import type { WorkerDesk } from '../../services/lines/desk.js'
import { failOrphans } from '../../services/lines/lines.js'
import { failLostProfileRequests } from '../../services/lines/profile-work.js'
import { sweepMedia } from '../../services/media/retention.js'
import { createEraser } from '../../services/messages/erase.js'
import { releaseDue } from '../../services/messages/holds.js'
import { storeOverdueParts } from '../../services/messages/inbound/inbound.js'
import { UNACKNOWLEDGED_MS } from '../../services/messages/inbound/sort.js'
import { queueDue } from '../../services/messages/schedule.js'
import { finishEmptying, removeOrphanedWorlds } from '../../services/sim/worlds.js'
import { expireVerificationsDue } from '../../services/verify/ends.js'
import { sweepDeliveries } from '../../services/webhooks/log.js'
import { dropExpiredSessions } from '../../storage/accounts/console-sessions.js'
import { dropExpiredReplays } from '../../storage/accounts/replays.js'
import { dropExpiredTokens } from '../../storage/accounts/tokens.js'
import { dropExpiredActions } from '../../storage/lines/actions.js'
import {
  acquireLeases,
  beat,
  countLiveNodes,
  forgetNode,
  forgetNodes,
  type Lease,
  nextEpoch,
  releaseLease,
  renewLeases,
} from '../../storage/lines/leases.js'
import { listLines } from '../../storage/lines/lines.js'
import { dropEmptyCounts } from '../../storage/messages/counts.js'
import { findNextHoldEnd } from '../../storage/messages/holds.js'
import { dropUnacknowledged } from '../../storage/messages/inbound-ids.js'
import { findNextPartsDue } from '../../storage/messages/inbound-parts.js'
import { dropParkedReceipts } from '../../storage/messages/receipts.js'
import { findNextDue } from '../../storage/messages/schedule.js'
import { findNextExpiry } from '../../storage/verify/verifications.js'
import { dropStrangers } from '../../storage/verify/verified-contacts.js'
import { createAlarm } from '../alarm.js'
import { type Runner, startRunner } from './runner.js'

/** Renewals for each lease time: one or two may fail before the lease expires. */
const BEATS = 5
const SWEEP_MS = 2_000
const TIDY_MS = 60_000
const TIDY_FROZEN_MS = 24 * 3_600_000
const PARKED_MS = 72 * 3_600_000
/** How long an expired token can still be revoked, before it is deleted. */
const TOKENS_KEPT_MS = 30 * 24 * 3_600_000

interface Worker {
  start(): Promise<void>
  stop(): Promise<void>
  liveNodes(): number
}

/**
 * Drives this process's share of the lines. A line belongs to one process at a time, so its order, pace and
 * connection need no coordination between processes beyond the lease.
 */
export function createWorker(ctx: Ctx, nodeId: string, desk: WorkerDesk<Runner>): Worker {
  const { runners } = desk
  const startedAt = Date.now()
  const timers: NodeJS.Timeout[] = []
  let liveNodes = 1
  let stopped = false
  let renewing: Promise<void> | undefined
  let cancelTidying = () => {}

  /** One pass over leases, connections, changed and removed lines. Never two at once. */
  const tending = createAgain(
    ctx.clock,
    tendOnce,
    (error) => void ctx.log.error({ err: error }, 'the worker cannot reach its leases; trying again'),
  )

  function tend(): Promise<void> {
    desk.tending = tending.run().catch(() => {})
    return desk.tending
  }

  /** Renews leases during a pass, which may wait for sends to end for longer than a lease lasts. */
  function renew(): Promise<void> {
    renewing ??= beat(ctx.db, nodeId, startedAt)
      .then(async () => void (await renewLeases(ctx.db, nodeId, ctx.config.leaseMs)))
      .catch((error) => ctx.log.error({ err: error }, 'leases could not be renewed; trying again'))
      .finally(() => {
        renewing = undefined
      })
    return renewing
  }

  async function tendOnce() {
    await beat(ctx.db, nodeId, startedAt)
    liveNodes = ctx.db.engine === 'sqlite' ? 1 : await countLiveNodes(ctx.db, ctx.config.leaseMs)
    const lines = new Map((await listLines(ctx.db)).map((line) => [line.id, line]))
    const held = new Map(
      (await renewLeases(ctx.db, nodeId, ctx.config.leaseMs)).map((lease) => [lease.lineId, lease]),
    )
    const look = async (runner: Runner) => {
      const lease = held.get(runner.line.id)
      const line = lines.get(runner.line.id)
      if (lease?.epoch !== runner.lease.epoch) {
        await drop(runner, 0)
        // The lease is still ours, but the world was reset.
        if (lease && line) await drive(line, lease)
      } else if (!line) await drop(runner, ctx.config.drainMs, lease)
      else if (JSON.stringify(line) !== JSON.stringify(runner.line)) {
        await drop(runner, ctx.config.drainMs)
        // Sends without an answer from the carrier by now have an unknown outcome and are not sent again.
        const own = runner.inFlight() > 0 ? await nextEpoch(ctx.db, nodeId, lease) : lease
        if (own) await drive(line, own)
      }
    }
    await Promise.all([...runners.values()].map(look))
    // Leases without a runner, because starting it failed: no other process can take such a line until the lease ends.
    for (const lease of held.values()) {
      const line = runners.has(lease.lineId) ? undefined : lines.get(lease.lineId)
      if (line && !stopped) await drive(line, lease)
    }
    const share = Math.ceil(lines.size / liveNodes)
    const surplus = [...runners.values()].slice(share)
    await Promise.all(surplus.map((runner) => drop(runner, ctx.config.drainMs, runner.lease)))
    ctx.metrics.linesDriven.set(runners.size)
    if (runners.size >= share || stopped) return
    const acquired = await acquireLeases(
      ctx.db,
      nodeId,
      ctx.config.leaseMs,
      share - runners.size,
      ctx.db.engine === 'sqlite',
    )
    for (const { line, lease } of acquired) await drive(line, lease)
    ctx.metrics.linesDriven.set(runners.size)
  }

  async function drive(line: Line, lease: Lease) {
    const driver = ctx.drivers.get(line.driver)
    if (!driver)
      return ctx.log.error({ line: line.id, driver: line.driver }, 'no such driver; the line stays idle')
    try {
      runners.set(line.id, await startRunner(ctx, driver, line, lease))
    } catch (error) {
      // The next pass tries again; other lines do not wait.
      return ctx.log.error({ err: error, line: line.id }, 'the line could not be started; trying again')
    }
    // Location watches ask the new connection.
    ctx.wakes.wake(topics.places(line.id))
  }

  async function drop(runner: Runner, drainMs: number, lease?: Lease) {
    runners.delete(runner.line.id)
    await runner.stop(drainMs)
    if (lease) await releaseLease(ctx.db, nodeId, lease)
  }

  const tidySafely = () => tidy().catch((error) => ctx.log.warn({ err: error }, 'tidying up failed'))

  /** On a frozen clock, which tests move by whole days: tidies once a day at its own time. */
  function tidyDaily() {
    cancelTidying = ctx.clock.after(TIDY_FROZEN_MS, () => {
      tidyDaily()
      void ctx.errand(tidySafely)
    })
  }

  async function tidy() {
    const now = ctx.clock.now()
    await failOrphans(ctx)
    await failBlocked(ctx)
    await finishEmptying(ctx, false)
    await removeOrphanedWorlds(ctx)
    for (const alarm of alarms) await alarm.look()
    await failLostProfileRequests(ctx)
    await dropExpiredReplays(ctx.db, now)
    await dropExpiredTokens(ctx.db, now - TOKENS_KEPT_MS)
    await dropExpiredSessions(ctx.db, Date.now())
    await dropExpiredActions(ctx.db, Date.now())
    await dropParkedReceipts(ctx.db, now - PARKED_MS)
    await dropUnacknowledged(ctx.db, now - UNACKNOWLEDGED_MS)
    await sweepMedia(ctx, false)
    await sweepDeliveries(ctx)
    await dropOldEvents(ctx)
    await endLostChanges(ctx, false)
    await dropOldAudit(ctx)
    await dropStrangers(ctx.db, now - CLAIM_MS)
    await dropEmptyCounts(ctx.db, now - 2 * 3_600_000)
    await forgetNodes(ctx.db, 24 * 3_600_000)
  }

  const alarms = [
    createAlarm(ctx, {
      topic: topics.verifications,
      next: () => findNextExpiry(ctx.db),
      run: () => expireVerificationsDue(ctx),
    }),
    createAlarm(ctx, {
      topic: topics.parts,
      next: () => findNextPartsDue(ctx.db),
      run: () => storeOverdueParts(ctx),
    }),
    createAlarm(ctx, {
      topic: topics.holds,
      next: () => findNextHoldEnd(ctx.db, ctx.clock.now()),
      run: () => releaseDue(ctx),
    }),
    createAlarm(ctx, { topic: topics.erasures, ...createEraser(ctx) }),
    createAlarm(ctx, {
      topic: topics.schedule,
      next: () => findNextDue(ctx.db),
      run: () => queueDue(ctx),
    }),
  ]
  const unsubscribe = ctx.wakes.on(topics.lines, () => void tend())
  return {
    async start() {
      const every = (ms: number, run: () => void) => void timers.push(setInterval(run, ms).unref())
      every(ctx.config.leaseMs / BEATS, () => void (tending.isIdle() ? tend() : renew()))
      await tend()
      if (ctx.clock.isFrozen) tidyDaily()
      else every(TIDY_MS, () => void tidySafely())
      // Several processes may commit ids out of order; a single process does not.
      if (ctx.db.engine === 'postgres') {
        every(SWEEP_MS, () => {
          ctx.holds.look()
          ctx.exposure.look()
          for (const runner of runners.values()) runner.sweep()
        })
      }
      for (const alarm of alarms) await alarm.start()
      if (ctx.db.engine === 'sqlite') await finishEmptying(ctx, true)
      await tidy()
    },
    async stop() {
      stopped = true
      timers.forEach(clearInterval)
      cancelTidying()
      unsubscribe()
      const keeping = setInterval(() => void renew(), ctx.config.leaseMs / BEATS)
      try {
        for (const alarm of alarms) await alarm.stop()
        await tending.stop()
        await Promise.all(
          [...runners.values()].map((runner) => drop(runner, ctx.config.drainMs, runner.lease)),
        )
      } finally {
        clearInterval(keeping)
        await renewing
      }
      await forgetNode(ctx.db, nodeId)
    },
    liveNodes: () => liveNodes,
  }
}
