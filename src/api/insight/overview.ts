import { Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import { WINDOWS, type Window } from '../../core/insight/overview.js'
import type { Ctx } from '../../services/ctx.js'
import { createOverviews, type Durations, type Overview } from '../../services/insight/overview.js'
import { actorOf } from '../http/auth.js'
import { type Routes, routesOf } from '../http/routes.js'
import { boolean, integer, nullable, oneOf, optional, string } from '../http/schemas.js'
import { PACE_REPORT, paceOf } from '../lines/pace.js'
import { QueueWire, queueWire, statusOf } from '../lines/report.js'

const route = routesOf('Overview', { access: 'account' })

const count = (description: string) => integer(description)
const at = string('Beginning of the step, ISO 8601')
const median = nullable('integer', 'Median in milliseconds; null without messages')
const p95 = nullable('integer', '95th percentile in milliseconds')

const durations = (description: string) =>
  Type.Object(
    {
      sampled: count('Number of messages measured'),
      is_cut: boolean('Only the newest 10000 messages were measured'),
      median_ms: median,
      p95_ms: p95,
      steps: Type.Array(Type.Object({ at, median_ms: median, p95_ms: p95 }, { title: 'DurationStep' })),
    },
    { title: 'Durations', description: `${description}, without scheduled messages` },
  )

const OverviewWire = Type.Object(
  {
    window: string('The requested window'),
    from: string('Beginning of the first step, ISO 8601'),
    to: string('End of the window'),
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
            imessage: count('By iMessage'),
            rcs: count('By RCS'),
            whatsapp: count('By WhatsApp'),
            sms: count('By SMS'),
            received: count('Received'),
          }),
        ),
      },
      { description: 'Messages by acceptance time and current status' },
    ),
    queue: durations('From acceptance to the carrier'),
    delivery: durations('From acceptance to delivery'),
    webhooks: Type.Object(
      {
        delivered: count('Acknowledged by the receiver'),
        failed: count('Failed'),
        pending: count('Waiting for an attempt'),
        canceled: count('Canceled'),
        attempts: count('Number of attempts'),
        success_rate: nullable('number', 'Share of delivered among delivered and failed, 0 to 1'),
        is_cut: boolean('Only the newest 10000 deliveries were counted'),
        steps: Type.Array(
          Type.Object({
            at,
            delivered: count('Delivered'),
            failed: count('Failed'),
            pending: count('Pending'),
          }),
        ),
      },
      { description: 'Webhook deliveries' },
    ),
    lines: Type.Array(
      Type.Object({
        line_id: string('Id of the line'),
        number: string('The line, E.164'),
        status: string('As in GET /v3/lines'),
        ...PACE_REPORT,
        queue: QueueWire,
      }),
      { description: 'Current queue of each line' },
    ),
  },
  { title: 'Overview' },
)

export function registerOverview(app: Routes, ctx: Ctx): void {
  const overviews = createOverviews(ctx)
  app.get(
    '/v3/overview',
    route({
      operationId: 'getOverview',
      summary: 'Show an overview of the account',
      description:
        'Sends by status and service, time to delivery, webhooks and queues. is_cut is true where only the newest rows were counted. Cached for up to two seconds.',
      querystring: Type.Object({
        window: optional(
          oneOf<Window>(
            Object.keys(WINDOWS),
            'Period: 1h in steps of 5 minutes, 24h in steps of an hour, 7d in steps of 6 hours',
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
        whatsapp: step.services.WhatsApp,
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
      ...paceOf(report.line),
      queue: queueWire(report, overview.to),
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
