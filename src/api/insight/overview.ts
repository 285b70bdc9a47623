import { Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import { WINDOWS, type Window } from '../../core/insight/overview.js'
import type { Ctx } from '../../services/ctx.js'
import { createOverviews, type Durations, type Overview } from '../../services/insight/overview.js'
import { actorOf } from '../http/auth.js'
import { type Routes, routesOf } from '../http/routes.js'
import { boolean, integer, nullable, oneOf, optional, string } from '../http/schemas.js'
import { QueueWire, queueWire, statusOf } from '../lines/report.js'

const route = routesOf('Overview', { access: 'account' })

const count = (description: string) => integer(description)
const at = string('Beginning of the step, ISO 8601')
const median = nullable('integer', 'Half took no longer, in milliseconds; null when there were none')
const p95 = nullable('integer', '95 of 100 took no longer')

const durations = (description: string) =>
  Type.Object(
    {
      sampled: count('Messages this is from'),
      is_cut: boolean('Only the newest 10000 messages were looked at'),
      median_ms: median,
      p95_ms: p95,
      steps: Type.Array(Type.Object({ at, median_ms: median, p95_ms: p95 })),
    },
    { description: `${description}, without what was sent for a chosen time` },
  )

const OverviewWire = Type.Object({
  window: string('As asked for'),
  from: string('Beginning of the first step, ISO 8601'),
  to: string('When this was read'),
  step_ms: count('Length of a step'),
  sends: Type.Object(
    {
      is_cut: boolean('Only the newest 10000 messages were counted'),
      steps: Type.Array(
        Type.Object({
          at,
          delivered: count('Delivered'),
          sent: count('With the carrier'),
          waiting: count('Not sent yet'),
          failed: count('Failed'),
          imessage: count('Of all, by iMessage'),
          rcs: count('Of all, by RCS'),
          sms: count('Of all, by SMS'),
          received: count('Came in'),
        }),
      ),
    },
    { description: 'Messages by the time they were accepted and their status now' },
  ),
  queue: durations('From acceptance to the carrier'),
  delivery: durations('From acceptance to delivery'),
  webhooks: Type.Object(
    {
      delivered: count('Taken by their receivers'),
      failed: count('Given up'),
      pending: count('Being tried'),
      canceled: count('Called off'),
      attempts: count('Posts in all'),
      success_rate: nullable('number', 'Delivered of all that have ended so or failed, 0 to 1'),
      is_cut: boolean('Only the newest 10000 were looked at'),
      steps: Type.Array(
        Type.Object({ at, delivered: count('Taken'), failed: count('Given up'), pending: count('Open') }),
      ),
    },
    { description: 'Webhook deliveries' },
  ),
  lines: Type.Array(
    Type.Object({
      line_id: string('Id of the line'),
      number: string('The line, E.164'),
      status: string('As in GET /v3/lines'),
      pace_per_second: count('Messages it sends a second at most; 0: no limit'),
      queue: QueueWire,
    }),
    { description: 'What waits, now' },
  ),
})

export function registerOverview(app: Routes, ctx: Ctx): void {
  const overviews = createOverviews(ctx)
  app.get(
    '/v3/overview',
    route({
      summary: 'What the account has been doing',
      description:
        'Sends by status and service, time to delivery, webhooks and queues. What it costs does not grow with the number of messages; where only the newest were looked at, is_cut says so. May be two seconds old.',
      querystring: Type.Object({
        window: optional(
          oneOf<Window>(
            Object.keys(WINDOWS),
            'How far back: 1h in steps of 5 minutes, 24h of an hour, 7d of 6 hours',
            { default: '24h' },
          ),
        ),
      }),
      response: { 200: Type.Object({ data: OverviewWire }) },
    }),
    async (request) => {
      const { window = '24h' } = request.query
      return { data: overviewWire(window, await overviews.read(actorOf(request), window)) }
    },
  )
}

function overviewWire(window: Window, overview: Overview) {
  const { sends, areSendsCut, queue, delivery, webhooks, lines } = overview
  const { isCut, steps, ...totals } = webhooks
  const ended = totals.delivered + totals.failed
  return {
    window,
    from: formatTime(overview.from),
    to: formatTime(overview.to),
    step_ms: overview.step,
    sends: {
      is_cut: areSendsCut,
      steps: sends.map((step) => ({
        at: formatTime(step.at),
        ...step.outcomes,
        imessage: step.services.iMessage,
        rcs: step.services.RCS,
        sms: step.services.SMS,
        received: step.received,
      })),
    },
    queue: durationsWire(queue),
    delivery: durationsWire(delivery),
    webhooks: {
      ...totals,
      success_rate: ended === 0 ? null : totals.delivered / ended,
      is_cut: isCut,
      steps: steps.map((step) => ({ ...step, at: formatTime(step.at) })),
    },
    lines: lines.map((report) => ({
      line_id: report.line.id,
      number: report.line.number,
      status: statusOf(report),
      pace_per_second: report.line.pace,
      queue: queueWire(report.queue, overview.to),
    })),
  }
}

function durationsWire({ sampled, isCut, median, p95, steps }: Durations) {
  return {
    sampled,
    is_cut: isCut,
    median_ms: median,
    p95_ms: p95,
    steps: steps.map((step) => ({ at: formatTime(step.at), median_ms: step.median, p95_ms: step.p95 })),
  }
}
