import { setImmediate } from 'node:timers/promises'
import type { Line } from '../../core/lines/line.js'
import { topics } from '../../core/topics.js'
import { createRetention } from '../../services/accounts/retention.js'
import type { Ctx } from '../../services/ctx.js'
import type { WorkerDesk } from '../../services/lines/desk.js'
import { finishEmptying } from '../../services/sim/worlds.js'
import {
  acquireLeases,
  beat,
  digestLines,
  findPlace,
  forgetNode,
  type Lease,
  listLeases,
  type NodePlace,
  nextEpoch,
  releaseLease,
  shareOf,
  sumLeases,
} from '../../storage/lines/leases.js'
import { countLines, findLines } from '../../storage/lines/lines.js'
import { listLinesWithWork } from '../../storage/lines/work.js'
import { createAlarms } from '../alarms.js'
import { type Runner, startRunner } from './runner.js'
import { dropExpired, runAll, tidyLines } from './tidy.js'

/** Renewals for each lease time: one or two may fail before the lease expires. */
const BEATS = 5
const SWEEP_MS = 2_000
/** How often lines are compared with a shared database although no hint told of a change: in lease times, and at most. */
const COMPARE = { leases: 6, ms: 60_000 }
/** Lines that one statement reads: a few milliseconds. */
const LINES_AT_ONCE = 500
const STARTING_AT_ONCE = 16
/** How long a start waits for its lines. Further lines connect while the server answers. */
const START_MS = 1_500
/** How long hints about released lines are gathered: a process may release thousands. */
const GATHER_MS = 20
const TIDY_MS = 60_000
const TIDY_FROZEN_MS = 24 * 3_600_000

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
  let place: NodePlace = { nodes: 1, rank: 0 }
  let stopped = false
  let renewing: Promise<void> | undefined
  let cancelTidying = () => {}
  let telling: NodeJS.Timeout | undefined
  /** Lines that changed since the last pass. */
  const changed = new Set<string>()
  let total = 0
  let isCounted = false
  let comparedAt = Number.NEGATIVE_INFINITY
  /** Of the lines as they were at the last comparison. */
  let digest = ''

  /** One pass over leases, connections, changed and removed lines. Never two at once. */
  const tending = ctx.loops.create('leases', tendOnce, {
    isVital: true,
    failed() {
      comparedAt = Number.NEGATIVE_INFINITY
    },
  })

  function tend(): Promise<void> {
    desk.tending = tending.run().catch(() => {})
    return desk.tending
  }

  const showLife = () => beat(ctx.db, { nodeId, startedAt, leaseMs: ctx.config.leaseMs, isLeaving: stopped })

  /** Renews leases during a pass, which may wait for sends to end for longer than a lease lasts. */
  function renew(): Promise<void> {
    renewing ??= showLife()
      .catch((error) => ctx.log.error({ err: error }, 'leases could not be renewed; trying again'))
      .finally(() => {
        renewing = undefined
      })
    return renewing
  }

  /**
   * A pass for changed lines reads these lines only. Every other pass renews the leases with one row and compares
   * their sum; it reads all lines only if the sum differs. Of a shared database it compares also a digest of the lines
   * once a minute, because a hint may have been lost.
   */
  async function tendOnce() {
    const lineIds = [...changed]
    changed.clear()
    if (lineIds.length > 0 && comparedAt > Number.NEGATIVE_INFINITY) {
      await compare(lineIds, await listLeases(ctx.db, nodeId, lineIds))
      return acquire(lineIds)
    }
    await showLife()
    if (ctx.db.engine === 'postgres') place = await findPlace(ctx.db, nodeId)
    if (!isCounted || isLookDue()) {
      isCounted = true
      total = await countLines(ctx.db)
    }
    if (await isCompareDue()) {
      if (ctx.db.engine === 'postgres') digest = await digestLines(ctx.db, nodeId)
      const held = await listLeases(ctx.db, nodeId)
      await compare([...new Set([...runners.keys(), ...held.map(({ lineId }) => lineId)])], held)
      comparedAt = performance.now()
    }
    const surplus = [...runners.values()].slice(shareOf(place, total))
    await Promise.all(surplus.map((runner) => drop(runner, ctx.config.drainMs, runner.lease)))
    await acquire()
  }

  const isLookDue = () =>
    performance.now() - comparedAt > Math.min(COMPARE.leases * ctx.config.leaseMs, COMPARE.ms)

  async function isCompareDue(): Promise<boolean> {
    if (comparedAt === Number.NEGATIVE_INFINITY) return true
    const { leases, epochs } = await sumLeases(ctx.db, nodeId)
    let own = 0
    for (const { lease } of runners.values()) own += lease.epoch
    if (leases !== runners.size || epochs !== own) return true
    if (!isLookDue()) return false
    comparedAt = performance.now()
    return ctx.db.engine === 'postgres' && (await digestLines(ctx.db, nodeId)) !== digest
  }

  /** Brings the runners of these lines in agreement with the lines and leases that there are. */
  async function compare(lineIds: readonly string[], leases: readonly Lease[]) {
    const held = new Map(leases.map((lease) => [lease.lineId, lease]))
    for (let from = 0; from < lineIds.length; from += LINES_AT_ONCE) {
      const ids = lineIds.slice(from, from + LINES_AT_ONCE)
      const lines = await findLines(ctx.db, ids)
      await Promise.all(ids.map((id) => agree(lines.get(id), held.get(id), runners.get(id))))
    }
  }

  async function agree(line: Line | undefined, lease: Lease | undefined, runner: Runner | undefined) {
    if (!runner) {
      // Starting it has failed before: no other process can take such a line while this node is alive.
      if (line && lease && !stopped) await drive(line, lease)
    } else if (lease?.epoch !== runner.lease.epoch) {
      await drop(runner, 0)
      // The lease is still ours, but the world was reset.
      if (lease && line) await drive(line, lease)
      else if (!lease) ctx.metrics.leaseChanges.inc({ change: 'lost' })
    } else if (!line) await drop(runner, ctx.config.drainMs, lease)
    else if (JSON.stringify(line) !== JSON.stringify(runner.line)) {
      await drop(runner, ctx.config.drainMs)
      // Sends without an answer from the carrier by now have an unknown outcome and are not sent again.
      const own = runner.inFlight() > 0 ? await nextEpoch(ctx.db, nodeId, lease) : lease
      if (own) await drive(line, own)
    }
  }

  /** Takes free lines, up to this node's share: of these lines, which may be new, or of all. */
  async function acquire(lineIds?: readonly string[]) {
    // The next beat counts again; until then a line that another process drives may count twice.
    total += lineIds?.filter((id) => !runners.has(id)).length ?? 0
    const share = shareOf(place, total)
    while (runners.size < share && !stopped) {
      const limit = Math.min(share - runners.size, LINES_AT_ONCE)
      const isOnlyProcess = ctx.db.engine === 'sqlite'
      const acquired = await acquireLeases(ctx.db, { nodeId, limit, lineIds, isOnlyProcess })
      ctx.metrics.leaseChanges.inc({ change: 'taken' }, acquired.length)
      await driveAll(acquired)
      if (acquired.length < limit) break
    }
    ctx.metrics.linesDriven.set(runners.size)
  }

  /** Starts lines a few at a time, with a turn of the event loop in between: requests must not wait for hundreds. */
  async function driveAll(acquired: readonly { line: Line; lease: Lease }[]) {
    const waiting = acquired.values()
    const hands = Array.from({ length: STARTING_AT_ONCE }, async () => {
      for (const { line, lease } of waiting) {
        await drive(line, lease)
        await setImmediate()
      }
    })
    await Promise.all(hands)
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
    if (!lease) return
    await releaseLease(ctx.db, nodeId, lease)
    ctx.metrics.leaseChanges.inc({ change: 'released' })
    if (ctx.db.engine === 'postgres') telling ??= setTimeout(tellOthers, GATHER_MS).unref()
  }

  /** Other processes take what is free now. */
  function tellOthers() {
    clearTimeout(telling)
    telling = undefined
    ctx.wakes.wake(topics.nodes)
  }

  const tidying = ctx.loops.create('housekeeping', tidyAll, { retryMs: TIDY_MS })
  const retention = createRetention(ctx)

  /** On a frozen clock, which tests move by whole days: tidies once a day at its own time. */
  function tidyDaily() {
    cancelTidying = ctx.clock.after(TIDY_FROZEN_MS, () => {
      tidyDaily()
      void ctx.errand(() => tidying.run().finally(retention.run)).catch(() => {})
    })
  }

  const alarms = createAlarms(ctx, () => place.rank === 0)

  async function tidyAll() {
    await runAll([() => tidyLines(ctx), ...alarms.map((alarm) => alarm.look), () => dropExpired(ctx)])
  }

  /** Looks at every line that may have work which no hint told of. */
  async function sweep() {
    ctx.holds.look()
    ctx.exposure.look()
    for (const lineId of await listLinesWithWork(ctx.db, Date.now())) runners.get(lineId)?.sweep()
  }

  const sweeping = ctx.loops.create('line sweep', sweep)

  const subscriptions = [
    ctx.wakes.on(topics.nodes, () => void tend()),
    ctx.wakes.on(topics.lines, (lineId) => {
      isCounted = false
      if (lineId === '') comparedAt = Number.NEGATIVE_INFINITY
      else changed.add(lineId)
      void tend()
    }),
  ]
  return {
    async start() {
      const every = (ms: number, run: () => void) => void timers.push(setInterval(run, ms).unref())
      every(ctx.config.leaseMs / BEATS, () => void (tending.isIdle() ? tend() : renew()))
      await Promise.race([tend(), new Promise((resolve) => setTimeout(resolve, START_MS).unref())])
      // The others give up their surplus at once.
      if (place.nodes > 1) tellOthers()
      if (ctx.clock.isFrozen) tidyDaily()
      else for (const ask of [tidying.ask, retention.ask]) every(TIDY_MS, ask)
      // Several processes may commit ids out of order; a single process does not.
      if (ctx.db.engine === 'postgres') every(SWEEP_MS, sweeping.ask)
      for (const alarm of alarms) await alarm.start()
      if (ctx.db.engine === 'sqlite') await finishEmptying(ctx, true)
      await tidying.run().catch(() => {})
    },
    async stop() {
      stopped = true
      timers.forEach(clearInterval)
      cancelTidying()
      for (const unsubscribe of subscriptions) unsubscribe()
      const keeping = setInterval(() => void renew(), ctx.config.leaseMs / BEATS)
      try {
        await renewing
        // The others take each line as soon as it is released.
        await renew()
        for (const alarm of alarms) await alarm.stop()
        await Promise.all([tidying.stop(), retention.stop(), sweeping.stop()])
        await tending.stop()
        // A lease that could not be released goes with the node.
        await Promise.allSettled(
          [...runners.values()].map((runner) => drop(runner, ctx.config.drainMs, runner.lease)),
        )
      } finally {
        clearInterval(keeping)
        await renewing
      }
      await forgetNode(ctx.db, nodeId)
      tellOthers()
    },
    liveNodes: () => place.nodes,
  }
}
