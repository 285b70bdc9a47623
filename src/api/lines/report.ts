import { Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import { perMillisecond } from '../../core/lines/pacing.js'
import type { Ctx } from '../../services/ctx.js'
import { type LineReport, reportLines } from '../../services/lines/report.js'
import { actorOf } from '../http/auth.js'
import { snakeCase } from '../http/render.js'
import { type Routes, routesOf } from '../http/routes.js'
import { boolean, integer, listOf, nullable, oneOf, string, strings } from '../http/schemas.js'
import { PACE_REPORT, paceOf } from './pace.js'

const route = routesOf('Lines', { access: 'account', confined: 'to its lines' })

export const QueueWire = Type.Object(
  {
    waiting: integer("Number of the account's messages waiting"),
    is_more: boolean('Whether more than 10000 messages wait; counting stops there'),
    oldest_at: nullable('string', 'Since when the oldest message waits, ISO 8601'),
    oldest_age_ms: nullable('integer', 'Age of the oldest message in milliseconds'),
    empty_in_ms: nullable(
      'integer',
      'When the queue is empty at the earliest, at the pace of the line, in milliseconds from now; null: the line has no pace, or nothing waits',
    ),
  },
  { title: 'LineQueue', description: 'Messages waiting on the line, without scheduled ones' },
)

const LineWire = Type.Object(
  {
    line_id: string('Id of the line'),
    number: string('The line, E.164'),
    kind: string('dedicated: only this account uses the line. shared: other accounts use it, too'),
    driver: string('Driver'),
    status: oneOf(['ONLINE', 'OFFLINE', 'DEGRADED', 'UNKNOWN'], 'As in GET /api/v2/lines/state'),
    status_detail: nullable('string', 'Detail of the status, from the driver'),
    status_changed_at: nullable('string', 'When the status last changed, ISO 8601'),
    blocked_at: nullable('string', 'Since when the line is blocked from sending'),
    services: strings('Services that the line can send by'),
    features: strings('Further features of the line'),
    ...PACE_REPORT,
    sent_last_second: integer('Messages that the line sent in the last second, for all accounts'),
    queue: QueueWire,
    today: Type.Object(
      {
        sent: integer('Sent messages, whether delivered or not'),
        failed: integer('Failed'),
        received: integer('Received'),
      },
      { description: "The account's messages on the line since midnight UTC" },
    ),
    forwarding_number: nullable(
      'string',
      'Number that calls to the line are forwarded to; null when not set',
    ),
  },
  { title: 'LineReport' },
)

export function registerLineReport(app: Routes, ctx: Ctx): void {
  app.get(
    '/v3/lines',
    route({
      operationId: 'listLineReports',
      summary: 'List lines with health, queue and pace',
      description:
        "Dedicated lines before shared ones. A token confined to some lines sees only those lines. Queues and totals count only this account's messages.",
      response: { 200: listOf(LineWire) },
    }),
    async (request) => {
      const now = ctx.clock.now()
      return { data: (await reportLines(ctx, actorOf(request))).map((report) => lineWire(report, now)) }
    },
  )
}

export function queueWire({ line, queue }: Pick<LineReport, 'line' | 'queue'>, now: number) {
  const { waiting, isMore, since } = queue
  return {
    waiting,
    is_more: isMore,
    oldest_at: since === null ? null : formatTime(since),
    oldest_age_ms: since === null ? null : Math.max(0, now - since),
    empty_in_ms: line.pace === 0 || waiting === 0 ? null : Math.round(waiting / perMillisecond(line)),
  }
}

export function statusOf({ line, health }: Pick<LineReport, 'line' | 'health'>): string {
  return line.blockedAt === null ? (health?.state ?? 'UNKNOWN') : 'OFFLINE'
}

function lineWire(report: LineReport, now: number) {
  const { line, health, capabilities } = report
  const time = (at: number | null | undefined) => (at == null ? null : formatTime(at))
  const { services = [], ...features } = capabilities ?? {}
  return {
    line_id: line.id,
    number: line.number,
    kind: line.kind,
    driver: line.driver,
    status: statusOf(report),
    status_detail: health?.detail ?? null,
    status_changed_at: time(line.blockedAt ?? health?.changedAt),
    blocked_at: time(line.blockedAt),
    services: [...services],
    features: Object.entries(features)
      .filter(([, can]) => can === true)
      .map(([name]) => snakeCase(name)),
    ...paceOf(line),
    sent_last_second: report.paceUsed,
    queue: queueWire(report, now),
    today: report.today,
    forwarding_number: report.forwardingNumber,
  }
}
