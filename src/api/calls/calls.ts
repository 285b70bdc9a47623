import { Type } from 'typebox'
import type { Call } from '../../core/calls/call.js'
import type { Ctx } from '../../services/ctx.js'
import { listCalls } from '../../storage/calls/calls.js'
import { accountOf } from '../http/auth.js'
import { idCursor, NextCursor, pageQuery } from '../http/cursor.js'
import { renderer } from '../http/render.js'
import { type Routes, routesOf } from '../http/routes.js'
import { boolean, nullable, oneOf, string } from '../http/schemas.js'

const route = routesOf('Calls', { access: 'account' })

const CallWire = Type.Object(
  {
    call_id: string('Id of the call, as in its event'),
    direction: oneOf(
      ['inbound', 'outbound'],
      'inbound: a call to a line. outbound: a call by a user of the account.',
    ),
    line: string('The line, E.164'),
    from_number: string('Caller; for an outbound call, the line'),
    to_number: string('Callee; for an inbound call, the line'),
    forwarded_to: nullable('string', 'Phone that an inbound call was forwarded to'),
    state: oneOf(['ringing', 'answered', 'ended'], 'State of the call'),
    outcome: nullable('string', 'COMPLETED, NO_ANSWER, BUSY, FAILED or CANCELLED; null until the call ends'),
    voicemail: boolean('Whether voicemail answered'),
    sent_by: nullable('string', 'Who placed an outbound call: a seat, or the account'),
    duration_seconds: nullable('integer', 'Seconds from answer to end; null for an unanswered call'),
    created_at: string('When it started, ISO 8601'),
    answered_at: nullable('string', 'When it was answered'),
    ended_at: nullable('string', 'When it ended'),
  },
  { title: 'Call' },
)

const callWire = renderer<Call>()(CallWire, {
  call_id: ({ id }) => id,
  line: ({ lineNumber }) => lineNumber,
  from_number: ({ caller }) => caller,
  to_number: (call) => (call.direction === 'inbound' ? call.lineNumber : call.forwardedTo!),
  forwarded_to: (call) => (call.direction === 'inbound' ? call.forwardedTo : null),
  duration_seconds: ({ answeredAt, endedAt }) =>
    answeredAt === null || endedAt === null ? null : Math.floor((endedAt - answeredAt) / 1000),
})

export function registerCalls(app: Routes, ctx: Ctx): void {
  app.get(
    '/v3/calls',
    route({
      operationId: 'listCalls',
      summary: 'List calls',
      description: "Newest first: inbound calls to the account's lines and outbound calls by its users.",
      querystring: Type.Object(pageQuery(1000, 100)),
      response: { 200: Type.Object({ data: Type.Array(CallWire), next_cursor: NextCursor }) },
    }),
    async (request) => {
      const limit = Math.min(request.query.limit ?? 100, 1000)
      const calls = await listCalls(ctx.db, accountOf(request).id, idCursor(request.query.cursor), limit)
      return { data: calls.map(callWire), next_cursor: calls.length < limit ? null : calls.at(-1)!.id }
    },
  )
}
