import { Type } from 'typebox'
import type { Call } from '../../core/calls/call.js'
import { actAtDashboard, callFromDashboard } from '../../services/calls/dashboard.js'
import type { Ctx } from '../../services/ctx.js'
import { wakeCalls } from '../../services/sim/calls.js'
import { listOutboundCalls } from '../../storage/calls/calls.js'
import { requirePhone } from '../http/fields.js'
import { answerOnce } from '../http/once.js'
import { renderer } from '../http/render.js'
import type { Routes } from '../http/routes.js'
import { boolean, integer, listOf, nullable, oneOf, optional, string } from '../http/schemas.js'
import { sim, simulatedAccount } from './shared.js'

/** Calls that users of an account place from its lines, or answer instead of the phone that a line forwards to. */

const CallWire = Type.Object(
  {
    id: string('Id of the call, as in its event'),
    direction: oneOf(['inbound', 'outbound'], 'inbound: a call to a line. outbound: a call from a line'),
    from: string('The caller: a phone, or the line that calls'),
    to: string('The called phone, or the called line'),
    state: oneOf(['ringing', 'answered', 'ended'], 'State of the call'),
    outcome: nullable('string', 'COMPLETED, NO_ANSWER, BUSY, FAILED or CANCELLED; null until the call ends'),
    voicemail: boolean('Whether voicemail answered'),
    sent_by: nullable('string', 'Who placed an outbound call: a seat, or the account'),
    created_at: string('When it started'),
    answered_at: nullable('string', 'When it was answered'),
    ended_at: nullable('string', 'When it ended'),
  },
  { title: 'LineCall' },
)

const callWire = renderer<Call>()(CallWire, {
  from: ({ caller }) => caller,
  to: ({ direction, lineNumber, forwardedTo }) => (direction === 'inbound' ? lineNumber : forwardedTo!),
})

const ACTIONS = {
  answer: {
    operationId: 'answerCallInConsole',
    errors: { 409: 'The call does not ring.' },
    summary: 'Answer a call to a line in the console',
    description:
      'A call that rings at the phone it is forwarded to also rings in the console. Answered here, it was not forwarded: forwarded_to of its event is null.',
  },
  decline: {
    operationId: 'declineCallInConsole',
    errors: { 409: 'The call does not ring.' },
    summary: 'Decline a call to a line in the console',
    description: 'The ringing call ends as BUSY, also on the phone it is forwarded to.',
  },
  hangup: {
    operationId: 'hangUpCallInConsole',
    errors: { 409: 'The call has ended, or was answered at a phone.' },
    summary: 'Hang up a call in the console',
    description:
      'An answered call ends as COMPLETED, a ringing call from a line as CANCELLED. A call that was answered at a phone is hung up there.',
  },
} as const

export function registerSimOutboundCalls(app: Routes, ctx: Ctx): void {
  app.get(
    '/sim/calls',
    sim({
      operationId: 'listSimCalls',
      summary: 'List calls from lines, newest first',
      querystring: Type.Object({ limit: optional(integer('At most 1000; default 100', { minimum: 1 })) }),
      response: { 200: listOf(CallWire) },
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
      operationId: 'callFromLine',
      summary: 'Call a phone from a line',
      description:
        'Like a user at the dashboard. The phone rings for 30 seconds; then the call ends as NO_ANSWER. It ends as FAILED when the phone is off or the number is a line, and as BUSY when the phone refuses everything. Its end is the event call.outbound, which call_log webhooks receive.',
      example: { from: '+12025550100', to: '+12025550101' },
      body: Type.Object({
        from: string('A simulated line, E.164'),
        to: string('The phone, E.164'),
        seat_id: optional(
          string(
            'The caller: a seat of the account, by its id, or by its subject at an outside identity provider',
          ),
        ),
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
  for (const [action, about] of Object.entries(ACTIONS)) {
    app.post(
      `/sim/calls/:id/${action}`,
      sim({
        ...about,
        params: Type.Object({ id: string('The call') }),
        response: { 200: CallWire },
      }),
      async (request, reply) => {
        const account = await simulatedAccount(ctx, request)
        return answerOnce(ctx, reply, 'told', async (sql) => {
          const { id } = request.params
          const call = await actAtDashboard(ctx, sql, account, id, action as keyof typeof ACTIONS)
          return { status: 200, body: callWire(call) }
        })
      },
    )
  }
}
