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

const LineState = Type.Object(
  {
    worker_id: string('Id of the line'),
    sendblue_number: nullable('string', 'The line, E.164'),
    status: oneOf(
      ['ONLINE', 'OFFLINE', 'DEGRADED', 'UNKNOWN'],
      'Last status that the line reported. OFFLINE: messages wait. UNKNOWN: no process drives the line at the moment.',
    ),
    assignment: oneOf(
      ['assigned', 'shared', 'grace_period'],
      'assigned: only this account uses the line. shared: other accounts use it, too. grace_period: removed from the account but usable until effective_until; Trunkline removes lines at once and never returns this value.',
    ),
    status_changed_at: nullable('string', 'When the status last changed; null while UNKNOWN'),
    degraded_since: nullable('string', 'Since when the line is DEGRADED; null when it is not'),
    effective_until: nullable('string', 'End of the grace period; always null'),
    blocked_at: nullable('string', 'Since when the line is blocked from sending; its status is then OFFLINE'),
  },
  { title: 'LineState' },
)

export function registerLines(app: Routes, ctx: Ctx): void {
  app.get(
    '/api/lines',
    route({
      operationId: 'listLines',
      summary: 'List lines',
      description: 'The numbers to send from. A token confined to some lines sees only those lines.',
      response: { 200: Type.Object({ numbers: strings('E.164, dedicated lines before shared ones') }) },
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
      operationId: 'listLineStates',
      summary: 'Status of the lines',
      description:
        'The lines of the account and when each last changed its status. Every process gives the same answer.',
      response: {
        200: Type.Object({
          status: string('OK'),
          snapshot_at: string('Time of this snapshot, ISO 8601'),
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
