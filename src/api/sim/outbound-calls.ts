import { Type } from 'typebox'
import type { Call } from '../../core/calls/call.js'
import { callFromDashboard, hangUpAtDashboard } from '../../services/calls/dashboard.js'
import type { Ctx } from '../../services/ctx.js'
import { wakeCalls } from '../../services/sim/calls.js'
import { listOutboundCalls } from '../../storage/calls/calls.js'
import { requirePhone } from '../http/fields.js'
import { answerOnce } from '../http/once.js'
import { renderer } from '../http/render.js'
import type { Routes } from '../http/routes.js'
import { boolean, integer, nullable, oneOf, optional, string } from '../http/schemas.js'
import { sim, simulatedAccount } from './shared.js'

/** Calls that an account places from its lines, as at a dashboard. */

const CallWire = Type.Object({
  id: string('Id; the call_id of the event'),
  from: string('The line that calls'),
  to: string('The phone that is called'),
  state: oneOf(['ringing', 'answered', 'ended'], 'How far it is'),
  outcome: nullable('string', 'COMPLETED, NO_ANSWER, BUSY, FAILED or CANCELLED, when it has ended'),
  voicemail: boolean('Whether a machine answered'),
  sent_by: string('Who placed it: the seat, or the account'),
  created_at: string('When it began'),
  answered_at: nullable('string', 'When it was answered'),
  ended_at: nullable('string', 'When it was over'),
})

const callWire = renderer<Call>()(CallWire, {
  from: ({ lineNumber }) => lineNumber,
  to: ({ forwardedTo }) => forwardedTo!,
  sent_by: ({ sentBy }) => sentBy!,
})

export function registerSimOutboundCalls(app: Routes, ctx: Ctx): void {
  app.get(
    '/sim/calls',
    sim({
      summary: 'Calls from lines, newest first',
      querystring: Type.Object({
        limit: optional(integer('At most 1000; default 100', { minimum: 1 })),
      }),
      response: { 200: Type.Object({ data: Type.Array(CallWire) }) },
    }),
    async (request) => {
      const account = await simulatedAccount(ctx, request)
      const calls = await listOutboundCalls(ctx.db, account.id, Math.min(request.query.limit ?? 100, 1000))
      return { data: calls.map(callWire) }
    },
  )
  app.post(
    '/sim/calls',
    sim({
      summary: 'Call a phone from a line',
      description:
        'As a user does at the dashboard. The phone rings for 30 seconds; then the call ends as NO_ANSWER. It fails at once (FAILED) when the phone is switched off or the number is a line, and is BUSY when the phone refuses everything. Its end is the event call.outbound, which a call_log webhook tells.',
      body: Type.Object({
        from: string('A simulated line, E.164'),
        to: string('The phone, E.164'),
        seat_id: optional(string('Who calls: a seat of the account, by id or outside subject')),
      }),
      response: { 201: CallWire },
    }),
    async (request, reply) => {
      const account = await simulatedAccount(ctx, request)
      const from = requirePhone('from', request.body.from)
      const to = requirePhone('to', request.body.to)
      const seatId = request.body.seat_id
      return answerOnce(ctx, reply, 'told', async (sql) => {
        const call = await callFromDashboard(ctx, sql, account, { from, to, seatId })
        return { status: 201, body: callWire(call), after: () => wakeCalls(ctx, call) }
      })
    },
  )
  app.post(
    '/sim/calls/:id/hangup',
    sim({
      summary: 'Hang up a call from a line',
      description: 'An answered call ends as COMPLETED, one that still rings as CANCELLED.',
      params: Type.Object({ id: string('The call') }),
      response: { 200: CallWire },
    }),
    async (request, reply) => {
      const account = await simulatedAccount(ctx, request)
      return answerOnce(ctx, reply, 'told', async (sql) => {
        const call = await hangUpAtDashboard(ctx, sql, account, request.params.id)
        return { status: 200, body: callWire(call) }
      })
    },
  )
}
