import { Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import type { Ctx } from '../../services/ctx.js'
import { type LineQueue, type LineReport, reportLines } from '../../services/lines/report.js'
import { actorOf } from '../http/auth.js'
import { snakeCase } from '../http/render.js'
import { type Routes, routesOf } from '../http/routes.js'
import { boolean, integer, nullable, oneOf, string, strings } from '../http/schemas.js'

const route = routesOf('Lines', { access: 'account', confined: 'to its lines' })

export const QueueWire = Type.Object(
  {
    waiting: integer("The account's messages that wait for their turn"),
    is_more: boolean('Whether there are more: no more than 10000 are counted'),
    oldest_at: nullable('string', 'Since when the first of them waits, ISO 8601'),
    oldest_age_ms: nullable('integer', 'How long that is'),
  },
  { description: 'What waits on the line; not what waits for a chosen time' },
)

const LineWire = Type.Object({
  line_id: string('Id of the line'),
  number: string('The line, E.164'),
  kind: string("dedicated: the account's own. shared: with others"),
  driver: string('What drives it'),
  status: oneOf(['ONLINE', 'OFFLINE', 'DEGRADED', 'UNKNOWN'], 'As in GET /api/v2/lines/state'),
  status_detail: nullable('string', 'What the line said about it'),
  status_changed_at: nullable('string', 'Since when, ISO 8601'),
  blocked_at: nullable('string', 'Since when the line may send nothing'),
  services: strings('Services it can send by'),
  features: strings('What else it can do'),
  pace_per_second: integer('Messages it sends a second at most; 0: no limit'),
  sent_last_second: integer('Messages it sent in the last second, whosever they were'),
  queue: QueueWire,
  today: Type.Object(
    {
      sent: integer('Sent, delivered or not'),
      failed: integer('Failed'),
      received: integer('Received'),
    },
    { description: "The account's messages on it since midnight UTC" },
  ),
  forwarding_number: nullable('string', 'Where calls to it go; null when not set'),
})

export function registerLineReport(app: Routes, ctx: Ctx): void {
  app.get(
    '/v3/lines',
    route({
      summary: 'Lines with their health, queue and pace',
      description:
        'Own lines before shared ones. A token that is confined to some lines sees those. Queues and totals are of this account alone.',
      response: { 200: Type.Object({ data: Type.Array(LineWire) }) },
    }),
    async (request) => {
      const now = ctx.clock.now()
      return { data: (await reportLines(ctx, actorOf(request))).map((report) => lineWire(report, now)) }
    },
  )
}

export function queueWire({ waiting, isMore, since }: LineQueue, now: number) {
  return {
    waiting,
    is_more: isMore,
    oldest_at: since === null ? null : formatTime(since),
    oldest_age_ms: since === null ? null : Math.max(0, now - since),
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
      .filter(([, can]) => can)
      .map(([name]) => snakeCase(name)),
    pace_per_second: line.pace,
    sent_last_second: report.paceUsed,
    queue: queueWire(report.queue, now),
    today: report.today,
    forwarding_number: report.forwardingNumber,
  }
}
