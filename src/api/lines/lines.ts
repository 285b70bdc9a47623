import { Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import { assignmentOf } from '../../core/lines/line.js'
import type { Ctx } from '../../services/ctx.js'
import { linesOf } from '../../services/messages/outbound.js'
import { type LineWithHealth, listLinesWithHealth } from '../../storage/lines/states.js'
import { accountOf, actorOf } from '../http/auth.js'
import { type Routes, routesOf } from '../http/routes.js'
import { nullable, oneOf, string, strings } from '../http/schemas.js'

const route = routesOf('Lines', { access: 'account', confined: 'to its lines' })
const accountRoute = routesOf('Lines', { access: 'account' })

const LineState = Type.Object({
  worker_id: string('Id of the line'),
  sendblue_number: nullable('string', 'The line, E.164'),
  status: oneOf(
    ['ONLINE', 'OFFLINE', 'DEGRADED', 'UNKNOWN'],
    'What the line last said of its connection. OFFLINE: messages wait. UNKNOWN: no process drives the line at the moment.',
  ),
  assignment: oneOf(
    ['assigned', 'shared', 'grace_period'],
    'assigned: of this account alone. shared: with others. grace_period: taken away, but usable until effective_until; Trunkline takes lines away at once and never says it.',
  ),
  status_changed_at: nullable('string', 'When it came into this status; null while UNKNOWN'),
  degraded_since: nullable('string', 'Since when it is DEGRADED; null when it is not'),
  effective_until: nullable('string', 'End of a time of grace; null'),
  blocked_at: nullable('string', 'Since when the line may send nothing; then its status is OFFLINE'),
})

export function registerLines(app: Routes, ctx: Ctx): void {
  app.get(
    '/api/lines',
    route({
      summary: 'List lines',
      description: 'The numbers to send from. A token that is confined to some lines sees those.',
      response: {
        200: Type.Object({
          numbers: strings('E.164, own lines before shared ones'),
        }),
      },
    }),
    async (request) => {
      const lines = [...(await linesOf(ctx, actorOf(request))).values()].map(({ line }) => line)
      const own = lines.filter((line) => line.kind === 'dedicated')
      const shared = lines.filter((line) => line.kind === 'shared')
      return { numbers: [...own, ...shared].map((line) => line.number) }
    },
  )

  app.get(
    '/api/v2/lines/state',
    accountRoute({
      summary: 'How the lines are',
      description:
        'The lines of the account and the last change of each. Every process answers the same, whichever drives the line.',
      response: {
        200: Type.Object({
          status: string('OK'),
          snapshot_at: string('When this was read, ISO 8601'),
          data: Type.Array(LineState),
        }),
      },
    }),
    async (request) => ({
      status: 'OK',
      snapshot_at: formatTime(ctx.clock.now()),
      data: (await listLinesWithHealth(ctx.db, accountOf(request).id)).map(stateWire),
    }),
  )
}

function stateWire({ line, health }: LineWithHealth) {
  const time = (at: number | null | undefined) => (at == null ? null : formatTime(at))
  const { blockedAt } = line
  return {
    worker_id: line.id,
    sendblue_number: line.number,
    status: blockedAt === null ? (health?.state ?? 'UNKNOWN') : 'OFFLINE',
    assignment: assignmentOf(line),
    status_changed_at: time(blockedAt ?? health?.changedAt),
    degraded_since: blockedAt === null ? time(health?.degradedSince) : null,
    effective_until: null,
    blocked_at: time(blockedAt),
  }
}
