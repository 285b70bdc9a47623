import { createRequire } from 'node:module'
import type {
  Counter as CounterOf,
  Gauge as GaugeOf,
  Histogram as HistogramOf,
  Registry as RegistryOf,
} from 'prom-client'

// Imported part by part: the package's index loads the process metrics, which take longer than all other parts.
const require = createRequire(import.meta.url)
const Registry = require('prom-client/lib/registry') as typeof RegistryOf
const Counter = require('prom-client/lib/counter') as typeof CounterOf
const Gauge = require('prom-client/lib/gauge') as typeof GaugeOf
const Histogram = require('prom-client/lib/histogram') as typeof HistogramOf

/**
 * How often the delay of the event loop is taken. The delays in the metrics include this time. The library's 10 ms cost
 * half a percent of a core while nothing happens.
 */
const LAG_TICK_MS = 50

export type Metrics = ReturnType<typeof createMetrics>

/** Prometheus metrics. Labels have few values and never a number, a text or a secret. */
export function createMetrics() {
  const registry = new Registry()
  const registers = [registry]
  const answered = new Map<string, number>()
  new Counter({
    name: 'trunkline_http_requests_total',
    help: 'Answered requests by route and status',
    labelNames: ['method', 'route', 'status'] as const,
    registers,
    collect() {
      this.reset()
      for (const [key, n] of answered) {
        const [method, route, status] = key.split(' ')
        this.inc({ method, route, status }, n)
      }
    },
  })
  let watchesProcess = false
  const metrics = {
    registry,
    /** Adds the metrics of the process, on the first call. */
    watchProcess() {
      if (watchesProcess) return
      watchesProcess = true
      const { collectDefaultMetrics } = require('prom-client') as typeof import('prom-client')
      collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_TICK_MS })
    },
    /** A plain number, read when scraped: cheaper than a labelled counter, which is looked up by all its labels. */
    countRequest(method: string, route: string, status: number) {
      const key = `${method} ${route} ${status}`
      answered.set(key, (answered.get(key) ?? 0) + 1)
    },
    accepted: new Counter({
      name: 'trunkline_messages_accepted_total',
      help: 'Sends that were accepted and stored',
      registers,
    }),
    received: new Counter({
      name: 'trunkline_messages_received_total',
      help: 'Inbound messages, by whether they were new',
      labelNames: ['result'] as const,
      registers,
    }),
    outcomes: new Counter({
      name: 'trunkline_send_attempts_total',
      help: 'Ended attempts to put a message on the wire',
      labelNames: ['driver', 'outcome'] as const,
      registers,
    }),
    receipts: new Counter({
      name: 'trunkline_receipts_total',
      help: 'Delivery receipts from carriers by what they say, repeated ones included',
      labelNames: ['driver', 'status'] as const,
      registers,
    }),
    wireSeconds: new Histogram({
      name: 'trunkline_send_seconds',
      help: 'Time a carrier took to answer a send',
      labelNames: ['driver'] as const,
      buckets: [0.005, 0.02, 0.1, 0.5, 1, 2, 5, 10, 30],
      registers,
    }),
    databaseFaults: new Counter({
      name: 'trunkline_database_faults_total',
      help: 'Sessions lost, connections without an answer, and transactions repeated (PostgreSQL)',
      labelNames: ['kind'] as const,
      registers,
    }),
    queued: new Gauge({
      name: 'trunkline_queue_messages',
      help: 'Messages that wait for something to be done, on all lines of the database',
      labelNames: ['line'] as const,
      registers,
    }),
    queueAge: new Gauge({
      name: 'trunkline_queue_age_seconds',
      help: 'How long the first message in the queue of a line has been waiting, on the lines that wait longest',
      labelNames: ['line'] as const,
      registers,
    }),
    inDoubt: new Gauge({
      name: 'trunkline_messages_in_doubt',
      help: 'Messages that are held until the operator decides, because the database was restored, copied or promoted',
      registers,
    }),
    inFlight: new Gauge({
      name: 'trunkline_in_flight_messages',
      help: 'Messages this process is putting on the wire or asking a carrier about',
      labelNames: ['line'] as const,
      registers,
    }),
    webhooks: new Counter({
      name: 'trunkline_webhook_posts_total',
      help: 'Posts to webhooks and status callbacks, by what they left behind',
      labelNames: ['result'] as const,
      registers,
    }),
    webhookLag: new Histogram({
      name: 'trunkline_webhook_lag_seconds',
      help: 'Time from an event until its webhook was acknowledged, without replays',
      buckets: [0.1, 0.5, 1, 5, 30, 120, 600, 3600, 21_600, 86_400],
      registers,
    }),
    loopFailures: new Counter({
      name: 'trunkline_loop_failures_total',
      help: 'Failed runs of background work, by its name; each is tried again',
      labelNames: ['loop'] as const,
      registers,
    }),
    failingLoops: new Gauge({
      name: 'trunkline_loops_failing',
      help: 'Background work whose last run failed',
      labelNames: ['loop'] as const,
      registers,
    }),
    removed: new Counter({
      name: 'trunkline_retention_removed_total',
      help: 'Rows that were removed because an account keeps them for a limited time only',
      labelNames: ['data'] as const,
      registers,
    }),
    removalLag: new Gauge({
      name: 'trunkline_retention_lag_seconds',
      help: 'How long the oldest row that this process has still to remove is over its time',
      labelNames: ['data'] as const,
      registers,
    }),
    requestsDropped: new Counter({
      name: 'trunkline_request_log_dropped_total',
      help: 'Calls that the request log left out because there were too many at once',
      registers,
    }),
    diskFree: new Gauge({
      name: 'trunkline_disk_free_bytes',
      help: 'Free space on the disk of the data folder (SQLite)',
      registers,
    }),
    spans: new Counter({
      name: 'trunkline_spans_total',
      help: 'Spans of traces that were exported, or dropped because their receiver did not take them',
      labelNames: ['result'] as const,
      registers,
    }),
    leaseChanges: new Counter({
      name: 'trunkline_lease_changes_total',
      help: 'Lines that this process took, released for another process, or lost to one',
      labelNames: ['change'] as const,
      registers,
    }),
    linesDriven: new Gauge({ name: 'trunkline_lines_driven', help: 'Lines this process drives', registers }),
    eventStreams: new Gauge({
      name: 'trunkline_event_streams',
      help: 'Open streams of events',
      registers,
    }),
    authFailures: new Counter({
      name: 'trunkline_auth_failures_total',
      help: 'Requests with missing or wrong credentials',
      registers,
    }),
  }
  for (const change of ['taken', 'released', 'lost']) metrics.leaseChanges.inc({ change }, 0)
  for (const result of ['delivered', 'retry', 'failed']) metrics.webhooks.inc({ result }, 0)
  const drivers = new Set<string>()
  return {
    ...metrics,
    /** Shows the counters of a driver from its first line on: Prometheus sees no increase in a counter that is new. */
    watchDriver(driver: string) {
      if (drivers.has(driver)) return
      drivers.add(driver)
      for (const outcome of ['accepted', 'refused', 'never-left', 'unknown'])
        metrics.outcomes.inc({ driver, outcome }, 0)
    },
  }
}
