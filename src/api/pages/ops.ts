import { readFile } from 'node:fs/promises'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import type { FailingLoop } from '../../base/again.js'
import { inRunningTime } from '../../base/in-time.js'
import type { Ctx } from '../../services/ctx.js'
import { createDoubtCount, describeDoubt } from '../../services/messages/recovery.js'
import { createHealth } from '../../storage/engine/health.js'
import { countQueued, listWaitingSince } from '../../storage/messages/queue.js'
import { type Routes, routesOf } from '../http/routes.js'
import { optional, string } from '../http/schemas.js'

const route = routesOf('Operations', { access: 'open' })

/** The committed document; a test checks that it matches the routes. */
const DOCUMENT = new URL('../../../openapi.json', import.meta.url)

/** Health checks ask every few seconds and give up after about as long. */
const HEALTH_MS = 5000

/** Lines whose queue's age is shown. */
const AGED_LINES = 200

/** Health without authentication, metrics for this machine and administrators; both without confidential data. */
export function registerOps(app: Routes, ctx: Ctx, options: { isReady(): boolean; document: boolean }): void {
  const health = createHealth(ctx.db)
  const countInDoubt = createDoubtCount(ctx)
  const Status = Type.Object({ status: string('ok') })
  const Readiness = Type.Object(
    {
      status: string('ok, degraded (ready, but background work fails or messages are held) or unavailable'),
      reasons: optional(
        Type.Array(Type.String(), { description: 'Why the status is not ok, for the operator' }),
      ),
    },
    { title: 'Readiness' },
  )

  app.get(
    '/livez',
    {
      ...route({
        operationId: 'getLiveness',
        summary: 'Is the process alive?',
        security: [],
        response: { 200: Status },
      }),
      exposeHeadRoute: true,
    },
    async (_request, reply) => say(reply, 'ok'),
  )

  app.get(
    '/readyz',
    {
      ...route({
        operationId: 'getReadiness',
        summary: 'Is the process ready for traffic?',
        description: 'Answers 200 only if the process can write to its database.',
        security: [],
        response: { 200: Readiness, 503: Readiness },
      }),
      exposeHeadRoute: true,
    },
    async (_request, reply) => {
      if (!options.isReady())
        return say(reply.code(503), 'unavailable', ['The server is starting or stopping.'])
      const trouble = ctx.disk.trouble()
      // A write that succeeds would hide another one that does not.
      if (trouble) return say(reply.code(503), 'unavailable', [trouble])
      try {
        await inRunningTime(health.check(), HEALTH_MS, () => new Error('the database did not answer'))
      } catch {
        return say(reply.code(503), 'unavailable', ['The database cannot be written to.'])
      }
      const failing = ctx.loops.failing()
      const faults = failing
        .filter(({ isVital, failures }) => isVital && failures >= VITAL_FAILURES)
        .map(tell)
      if (faults.length > 0) return say(reply.code(503), 'unavailable', faults)
      const held = await countInDoubt()
      const reasons = [...failing.map(tell), ...(held > 0 ? [`${describeDoubt(held)}.`] : [])]
      return reasons.length > 0 ? say(reply, 'degraded', reasons) : say(reply, 'ok')
    },
  )

  app.get(
    '/metrics',
    routesOf('Operations', { access: 'admin', basic: true, openToScrapes: true })({
      operationId: 'getMetrics',
      summary: 'Prometheus metrics',
      description:
        'Needs no key on the port TRUNKLINE_METRICS_PORT. While that port, TRUNKLINE_PUBLIC_URL, TRUNKLINE_TRUST_PROXY and an address beyond loopback are not set, a program on this machine that calls the server directly needs none either. Otherwise it needs an admin key; Prometheus sends it as basic_auth.',
    }),
    async (_request, reply) => {
      ctx.metrics.watchProcess()
      ctx.metrics.databaseFaults.reset()
      for (const [kind, n] of Object.entries(ctx.db.faults())) ctx.metrics.databaseFaults.inc({ kind }, n)
      await measureQueues(ctx)
      ctx.metrics.inDoubt.set(await countInDoubt())
      ctx.metrics.inFlight.reset()
      for (const one of ctx.lines.all()) ctx.metrics.inFlight.set({ line: one.line.id }, one.inFlight())
      ctx.metrics.failingLoops.reset()
      for (const { name, loops } of ctx.loops.failing()) ctx.metrics.failingLoops.set({ loop: name }, loops)
      const free = ctx.disk.freeBytes()
      // Without a value, it would say 0.
      if (free === undefined) ctx.metrics.diskFree.remove()
      else ctx.metrics.diskFree.set(free)
      reply.header('content-type', ctx.metrics.registry.contentType)
      return ctx.metrics.registry.metrics()
    },
  )

  app.get(
    '/openapi.json',
    route({ operationId: 'getApiDocument', summary: 'The API document', security: [] }),
    async (_request, reply) => {
      const document = options.document ? JSON.stringify(app.swagger()) : await readFile(DOCUMENT)
      return reply.header('content-type', 'application/json').send(document)
    },
  )
}

/** Ids grow with time: the queues with the lowest first id wait longest. */
async function measureQueues({ db, clock, metrics }: Ctx): Promise<void> {
  const queues = await countQueued(db)
  metrics.queued.reset()
  for (const { lineId, n } of queues) metrics.queued.set({ line: lineId }, n)
  const first = queues.map(({ firstId }) => firstId).sort((a, b) => a - b)
  const waiting = await listWaitingSince(db, first.slice(0, AGED_LINES))
  metrics.queueAge.reset()
  for (const { lineId, since } of waiting)
    metrics.queueAge.set({ line: lineId }, Math.max(0, clock.now() - since) / 1000)
}

/** Sends text, so that health checks of a starting server do not wait for a serialiser. */
function say(reply: FastifyReply, status: string, reasons?: readonly string[]): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(JSON.stringify({ status, reasons }))
}

/** A single failure may be a moment of a failover; after this many in a row the process is of no use. */
const VITAL_FAILURES = 3

function tell({ name, loops, failures }: FailingLoop): string {
  const times = failures === 1 ? 'once' : `${failures} times in a row`
  return `Background work fails: ${name}${loops > 1 ? ` (${loops})` : ''}, ${times}. The log has the cause.`
}
