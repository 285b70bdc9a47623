import { createBoundedMap } from '../../base/bounded-map.js'
import {
  countSends,
  outcomeOf,
  percentile,
  type SendStep,
  stepAt,
  stepsOf,
  WINDOWS,
  type Window,
} from '../../core/insight/overview.js'
import type { Status } from '../../core/messages/message.js'
import { HOUR_MS, listCells } from '../../storage/messages/counts.js'
import { type ChartSample, scanSamples } from '../../storage/messages/scan.js'
import { scanDeliveryStates } from '../../storage/webhooks/log.js'
import type { Ctx } from '../ctx.js'
import { type LineReport, reportLines } from '../lines/report.js'
import type { Actor } from '../messages/outbound.js'

export interface Overview {
  from: number
  to: number
  step: number
  sends: SendStep[]
  /** The counts cover only the examined messages; there were more. */
  areSendsCut: boolean
  /** From acceptance to the carrier. */
  queue: Durations
  /** From acceptance to the phone. */
  delivery: Durations
  webhooks: {
    delivered: number
    failed: number
    pending: number
    canceled: number
    attempts: number
    isCut: boolean
    steps: { at: number; delivered: number; failed: number; pending: number }[]
  }
  lines: LineReport[]
}

export interface Durations {
  /** Examined messages with a known duration. */
  sampled: number
  /** There were more messages than were examined. */
  isCut: boolean
  median: number | null
  p95: number | null
  steps: { at: number; median: number | null; p95: number | null }[]
}

/** The newest messages, and deliveries, that one overview examines. */
export const LOOKED_AT = 10_000
const KEPT_MS = 2000
const KEPT = 500

export interface Overviews {
  read(actor: Actor, window: Window): Promise<Overview>
}

/** Several open consoles of an account share one result. */
export function createOverviews(ctx: Ctx): Overviews {
  const kept = createBoundedMap<string, { read: number; overview: Promise<Overview> }>(KEPT, KEPT_MS)
  return {
    read(actor, window) {
      const name = `${window} ${actor.account.id}`
      const now = ctx.clock.now()
      const known = kept.get(name, now)
      if (known && performance.now() - known.read < KEPT_MS) return known.overview
      const overview = readOverview(ctx, actor, window)
      kept.set(name, { read: performance.now(), overview }, now)
      overview.catch(() => kept.delete(name))
      return overview
    },
  }
}

async function readOverview(ctx: Ctx, actor: Actor, window: Window): Promise<Overview> {
  const accountId = actor.account.id
  const now = ctx.clock.now()
  const { step } = WINDOWS[window]
  const steps = stepsOf(window, now)
  const from = steps[0]!
  const sql = ctx.db.aside(accountId)
  const [samples, cells, deliveries, lines] = await Promise.all([
    scanSamples(sql, { accountId, from }, LOOKED_AT),
    // Totals of whole hours are maintained, so any number of messages is cheap.
    step < HOUR_MS ? null : listCells(sql, accountId, 'created', HOUR_MS, from, now + HOUR_MS),
    scanDeliveryStates(sql, accountId, from, LOOKED_AT),
    reportLines(ctx, actor),
  ])
  const counted =
    cells?.map((cell) => ({ ...cell, at: cell.bucket })) ??
    samples.map((sample) => ({ ...sample, at: sample.createdAt, n: 1 }))
  return {
    from,
    to: now,
    step,
    sends: countSends(steps, counted),
    areSendsCut: cells === null && samples.length === LOOKED_AT,
    queue: durations(steps, samples, ({ status, sentAt, createdAt }) =>
      hasLeft(status) ? sentAt - createdAt : null,
    ),
    delivery: durations(steps, samples, ({ status, updatedAt, createdAt }) =>
      outcomeOf(status) === 'delivered' ? updatedAt - createdAt : null,
    ),
    webhooks: webhookStates(steps, deliveries),
    lines,
  }
}

function hasLeft(status: Status): boolean {
  return ['sent', 'delivered'].includes(outcomeOf(status))
}

/** A scheduled message waited on purpose, so its duration does not count. */
function durations(
  steps: readonly number[],
  samples: readonly ChartSample[],
  lasted: (sample: ChartSample) => number | null,
): Durations {
  const all: number[] = []
  const inStep = steps.map((): number[] => [])
  for (const sample of samples) {
    const ms = sample.isOutbound && !sample.wasScheduled ? lasted(sample) : null
    if (ms === null) continue
    all.push(ms)
    inStep[stepAt(steps, sample.createdAt)]?.push(ms)
  }
  const summary = (times: readonly number[]) => ({
    median: percentile(times, 0.5),
    p95: percentile(times, 0.95),
  })
  return {
    sampled: all.length,
    isCut: samples.length === LOOKED_AT,
    ...summary(all),
    steps: steps.map((at, i) => ({ at, ...summary(inStep[i]!) })),
  }
}

function webhookStates(
  steps: readonly number[],
  deliveries: Awaited<ReturnType<typeof scanDeliveryStates>>,
): Overview['webhooks'] {
  const total = { delivered: 0, failed: 0, pending: 0, canceled: 0 }
  const inStep = steps.map((at) => ({ at, delivered: 0, failed: 0, pending: 0 }))
  let attempts = 0
  for (const delivery of deliveries) {
    total[delivery.state]++
    attempts += delivery.attempts
    const step = inStep[stepAt(steps, delivery.createdAt)]
    if (step && delivery.state !== 'canceled') step[delivery.state]++
  }
  return { ...total, attempts, isCut: deliveries.length === LOOKED_AT, steps: inStep }
}
