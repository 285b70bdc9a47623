import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { warmUp } from './api/http/compilers.js'
import { buildServer } from './api/http/server.js'
import { closeServer } from './api/pages/lame-duck.js'
import { renderWebhook } from './api/webhooks/payloads.js'
import { createLoops } from './base/again.js'
import { createBoundedMap } from './base/bounded-map.js'
import { type Clock, createClock } from './base/clock.js'
import { createFailpoint } from './base/failpoint.js'
import { createIds } from './base/ids.js'
import { createLog, type Log } from './base/log.js'
import { createMetrics } from './base/metrics.js'
import { isOpenToOthers } from './base/private-files.js'
import { type Activity, untilSettled } from './base/settled.js'
import { createWakes } from './base/wakes.js'
import type { Config } from './config.js'
import { harmsOf } from './core/accounts/harmless.js'
import { listenFault } from './core/listen-fault.js'
import { topics } from './core/topics.js'
import type { Driver } from './drivers/contract.js'
import { CARRIERS } from './drivers/registry.js'
import { createSimulator } from './drivers/simulator/simulator.js'
import { seedDefaultWorld, type WorldKeys } from './services/accounts/default-world.js'
import { createDirectory } from './services/accounts/directory.js'
import { createExposure, endKeysIfExposed, urlRulesOf } from './services/accounts/exposure.js'
import { createMeters } from './services/accounts/meters.js'
import { createPortions } from './services/accounts/portions.js'
import { checkVault } from './services/accounts/seal.js'
import { openVault } from './services/accounts/vault.js'
import { endLostChanges } from './services/audit/audit.js'
import type { Ctx, Platform } from './services/ctx.js'
import { createDisk } from './services/disk.js'
import { createMarks } from './services/erasure/marks.js'
import { createLineDesk } from './services/lines/desk.js'
import { loadDrivers } from './services/lines/driver-load.js'
import { openBlobs } from './services/media/open-blobs.js'
import { sweepMedia } from './services/media/retention.js'
import { createShrink, loadSharp, type SharpModule } from './services/media/shrink.js'
import { createAcceptance } from './services/messages/acceptance.js'
import { createBacklog } from './services/messages/admission/backlog.js'
import { createHolds } from './services/messages/holds.js'
import { warnOfDoubt } from './services/messages/recovery.js'
import { createRequestLog } from './services/requests/log.js'
import { createArrivals } from './services/sim/arrivals.js'
import { createCallNetwork } from './services/sim/calls.js'
import { resumeClock } from './services/sim/clock.js'
import { createFaultNetwork } from './services/sim/faults.js'
import { createLocationNetwork } from './services/sim/location.js'
import { createPhoneNetwork } from './services/sim/phones.js'
import { createPresenceBooks } from './services/sim/presence.js'
import { createProfileNetwork } from './services/sim/profile.js'
import { startTraces, traceAcceptance } from './services/tracing/start.js'
import { createWebhookBook } from './services/webhooks/book.js'
import { createDoor, type Door } from './services/webhooks/door/door.js'
import type { Lookup } from './services/webhooks/door/guard.js'
import type { Db } from './storage/engine/db.js'
import { openStorage } from './storage/engine/open.js'
import type { Runner } from './worker/lines/runner.js'
import { createWorker } from './worker/lines/worker.js'
import { createCourier } from './worker/webhooks/courier.js'

export interface App {
  ctx: Ctx
  server: FastifyInstance
  /** Where it listens, once started. */
  url(): string
  start(): Promise<void>
  /** Not ready, clients are told to go, no new requests or claims, sends on the wire finish, leases go back. */
  stop(): Promise<void>
  /** Waits until nothing is going on any more at the present time. */
  settle(): Promise<void>
  /** Loads what the first requests would wait for. */
  warmUp(): void
  /** Moves a simulated world's time ahead and lets everything due happen on the way. */
  advance(ms: number): Promise<void>
}

export interface AppOptions {
  clock?: Clock
  log?: Log
  /** Catch the use of the outer database inside a transaction (tests). */
  guardTx?: boolean
  /** Make the default world in an empty database. */
  seed?: boolean | Ctx['seed']
  /** Keys of the default world instead of the development keys. */
  keys?: WorldKeys
  /** Nothing of it need survive the process: nothing waits for the disk (SQLite). */
  throwaway?: boolean
  /** Seed of a simulated world's random choices; without it they differ from run to run. */
  random?: string
  /** How names become addresses, for tests that must not leave the machine. */
  lookup?: Lookup
  /** The way out to users' URLs, for simulations without a network. */
  door?: Door
  /** Import of the package that makes images smaller. */
  sharp?: () => Promise<SharpModule>
  /** Carriers beside those that are built in and those of the settings. */
  drivers?: readonly Driver[]
  /** A database that is being opened already. */
  storage?: Promise<Db>
  /** Make the API document from the routes: for whoever writes or checks it. */
  document?: boolean
  /** Without: no lines are driven and nothing listens; for administration beside a stopped server. */
  worker?: boolean
}

/** The composition root: everything that lives long is made here and nowhere else. */
export async function createApp(config: Config, options: AppOptions = {}): Promise<App> {
  const clock = options.clock ?? createClock()
  const log = options.log ?? createLog(config.logLevel)
  const db = await (options.storage ??
    openStorage(config, { now: clock.now(), guardTx: options.guardTx, durable: !options.throwaway }))
  try {
    return await compose(config, options, db, clock, log)
  } catch (error) {
    await db.close()
    throw error
  }
}

async function compose(config: Config, options: AppOptions, db: Db, clock: Clock, log: Log): Promise<App> {
  const vault = openVault(config, log)
  await checkVault(db, vault)
  await resumeClock(db, clock, log)
  const ids = createIds(options.random)
  const errands: Activity = { open: 0, begun: 0 }
  let server: FastifyInstance | undefined
  const wakes = createWakes(db)
  const errand = <T>(work: () => Promise<T>) => {
    errands.open++
    errands.begun++
    return work().finally(() => errands.open--)
  }
  const metrics = createMetrics()
  const loops = createLoops(clock, log, (loop) => metrics.loopFailures.inc({ loop }))
  const exposure = createExposure({ db, config, wakes, loops, errand })
  const urlRules = urlRulesOf(exposure, config.allowHosts)
  const platform: Platform = {
    db,
    config,
    clock,
    log,
    newId: () => ids.timeOrdered(clock.now()),
    random: ids.random,
    metrics,
    loops,
    wakes,
    ...createPortions(wakes, errand),
    vault,
    marks: createMarks(vault),
    exposure,
    urlRules,
    door:
      options.door ??
      createDoor(urlRules, { lookup: options.lookup, postTimeoutMs: config.webhookTimeoutMs }),
    blobs: await openBlobs(config, db),
    lastCalls: createBoundedMap(10_000),
    shrink: createShrink(options.sharp ?? loadSharp),
    disk: createDisk({ config, db }),
    publicUrl: () => config.publicUrl ?? (listenUrl(server) || expectedUrl(config)),
    errand,
    failpoint: createFailpoint(config.failpoint),
  }
  const drivers = await allDrivers(platform, options.drivers)
  const directory = createDirectory(db, drivers, clock)
  platform.wakes.on(topics.access, () => directory.forget())
  const desk = createLineDesk<Runner>()
  const parts = {
    ...platform,
    drivers,
    directory,
    meters: createMeters(platform, () => worker.liveNodes()),
    requestLog: createRequestLog(platform),
    traces: options.worker === false ? undefined : startTraces(platform),
    seed: typeof options.seed === 'object' ? options.seed : {},
    lines: desk,
    holds: createHolds(platform),
  }
  const backlog = createBacklog(parts)
  const ctx: Ctx = {
    ...parts,
    backlog,
    webhooks: createWebhookBook(platform),
    acceptance: traceAcceptance(parts, createAcceptance({ ...parts, backlog })),
  }
  const nodeId = `${process.pid}-${randomBytes(6).toString('hex')}`
  const worker = createWorker(ctx, nodeId, desk)
  const courier = createCourier(ctx, nodeId, renderWebhook)

  // A database without lines can only be exposed by its settings.
  const isSafe = harmsOf({ ...config, hasRealLines: false }).length === 0
  if (options.seed && (isSafe || options.keys)) await seedDefaultWorld(ctx, options.keys)
  await exposure.load()
  const settle = () => untilSettled(() => [db.activity(), errands])
  const advance = (ms: number) =>
    clock
      .advance(ms, settle)
      .then(() => wakes.wake(topics.alerts))
      .then(settle)
  let phase: 'starting' | 'ready' | 'stopping' = 'starting'
  const http = await buildServer(ctx, {
    document: options.document ?? false,
    localAdmin: options.worker === false,
    isReady: () => phase === 'ready',
    advance,
  })
  server = http

  return {
    ctx,
    server: http,
    url: () => listenUrl(http),
    settle,
    warmUp() {
      warmUp()
      ctx.metrics.watchProcess()
    },
    advance,
    async start() {
      ctx.disk.watch()
      await endKeysIfExposed(ctx)
      if (!config.publicUrl && /^(0\.0\.0\.0|::)$/.test(config.host))
        log.warn({ host: config.host }, 'TRUNKLINE_PUBLIC_URL is not set: nobody can follow links to media')
      if (isOpenToOthers(config.data))
        log.warn(
          { folder: config.data },
          `other users can enter the data folder; run: chmod 700 ${config.data}`,
        )
      await sweepMedia(ctx, true)
      await endLostChanges(ctx, true)
      await ctx.holds.load()
      await warnOfDoubt(ctx)
      await worker.start()
      await courier.start()
      await http.metricsPort.listen()
      const { host, port } = config
      await http.listen({ host, port }).catch((error) => {
        throw listenFault(error, host, port, '--port or PORT')
      })
      phase = 'ready'
    },
    async stop() {
      phase = 'stopping'
      await http.lameDuck.leave(config.lameDuckMs)
      const allLeft = http.lameDuck.refuse(config.lameDuckMs)
      // A database that cannot take the leases back must neither keep the rest open nor close it too early.
      const stops = await Promise.allSettled([worker.stop(), courier.stop(config.drainMs)])
      await allLeft
      await closeServer(http, config.drainMs)
      await ctx.requestLog.stop()
      await ctx.traces?.stop()
      ctx.disk.stop()
      clock.stop()
      await ctx.door.close()
      await db.close()
      for (const stop of stops) if (stop.status === 'rejected') throw stop.reason
    },
  }
}

/** The carriers of the registry, the simulator with its network of phones, and the operator's own drivers. */
async function allDrivers(
  platform: Platform,
  given: readonly Driver[] = [],
): Promise<ReadonlyMap<string, Driver>> {
  const simulator = createSimulator({
    ...createPhoneNetwork(platform),
    ...createArrivals(platform),
    ...createCallNetwork(platform),
    ...createLocationNetwork(platform),
    ...createProfileNetwork(platform),
    ...createPresenceBooks(platform),
    ...createFaultNetwork(platform),
  })
  const drivers = new Map([simulator, ...CARRIERS].map((driver) => [driver.kind, driver]))
  for (const { driver } of await loadDrivers([...platform.config.drivers, ...given], drivers.keys()))
    drivers.set(driver.kind, driver)
  return drivers
}

function listenUrl(server: FastifyInstance | undefined): string {
  const address = server?.server.address()
  if (!address || typeof address === 'string') return ''
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `http://${host}:${address.port}`
}

/** Where it will listen, unless it takes a free port. */
function expectedUrl({ host, port }: Config): string {
  if (port === 0) return ''
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
