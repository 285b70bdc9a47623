import { Type } from 'typebox'
import type { Call, CallAction } from '../../core/calls/call.js'
import type { Ctx } from '../../services/ctx.js'
import { actOnCall, callFromPhone, wakeCalls } from '../../services/sim/calls.js'
import { listPhoneCalls } from '../../storage/calls/calls.js'
import { requirePhone } from '../http/fields.js'
import { answerOnce } from '../http/once.js'
import { renderer } from '../http/render.js'
import type { RouteSchema, Routes } from '../http/routes.js'
import { integer, listOf, nullable, oneOf, optional, string } from '../http/schemas.js'
import { Params, phoneIn, sim } from './shared.js'

/** Calls on virtual phones. */

const CallWire = Type.Object(
  {
    id: string('Id of the call, as in its event'),
    direction: oneOf(['in', 'out'], 'Seen from the phone'),
    number: string('The other party: the called line, or the caller'),
    line: string('The line of the call'),
    state: oneOf(
      ['ringing', 'answered', 'ended', 'turned_away'],
      'turned_away: the caller is blocked, or calls to the line are not forwarded',
    ),
    outcome: nullable('string', 'COMPLETED, NO_ANSWER, BUSY, FAILED or CANCELLED; null until the call ends'),
    created_at: string('When it started'),
    answered_at: nullable('string', 'When it was answered'),
    ended_at: nullable('string', 'When it ended'),
  },
  { title: 'PhoneCall' },
)

const CallParams = Type.Object({ number: string('The phone, E.164'), id: string('The call') })

/** A caller does not learn where the call is forwarded. */
const render = renderer<Call & { phone: string }>()(CallWire, {
  direction: ({ caller, phone }) => (caller === phone ? 'out' : 'in'),
  number: ({ caller, phone, lineNumber }) => (caller === phone ? lineNumber : caller),
  line: ({ lineNumber }) => lineNumber,
})
const callWire = (call: Call, phone: string) => render({ ...call, phone })

const ACTIONS: Record<CallAction, Pick<RouteSchema, 'operationId' | 'errors' | 'summary' | 'description'>> = {
  answer: {
    operationId: 'answerCall',
    errors: { 409: 'The call does not ring.' },
    summary: 'Answer a call',
    description: 'On the ringing phone.',
  },
  voicemail: {
    operationId: 'answerCallByVoicemail',
    errors: { 409: 'The call does not ring.' },
    summary: 'Let voicemail answer a call',
    description:
      'On the ringing phone. The call counts as answered; the event of an outbound call says that voicemail answered.',
  },
  decline: {
    operationId: 'declineCall',
    errors: { 409: 'The call does not ring.' },
    summary: 'Decline a call',
    description: 'On the ringing phone. The call ends as BUSY.',
  },
  hangup: {
    operationId: 'hangUpCall',
    errors: { 409: 'The call has ended.' },
    summary: 'Hang up',
    description:
      'Either phone ends an answered call as COMPLETED; the caller ends a ringing call as CANCELLED.',
  },
}

export function registerSimCalls(app: Routes, ctx: Ctx): void {
  app.get(
    '/sim/phones/:number/calls',
    sim({
      operationId: 'listPhoneCalls',
      summary: 'List the calls of a phone, newest first',
      params: Params,
      querystring: Type.Object({ limit: optional(integer('At most 1000; default 100', { minimum: 1 })) }),
      response: { 200: listOf(CallWire) },
    }),
    async (request) => {
      const { account, number } = await phoneIn(ctx, request)
      const calls = await listPhoneCalls(
        ctx.db,
        account.id,
        number,
        Math.min(request.query.limit ?? 100, 1000),
      )
      return { data: calls.map((call) => callWire(call, number)) }
    },
  )
  app.post(
    '/sim/phones/:number/calls',
    sim({
      operationId: 'callFromPhone',
      summary: 'Call a line',
      description:
        'The phone that the line forwards to rings for 30 seconds; then the call ends as NO_ANSWER. It ends as FAILED when that phone is off or its number is a line, and as BUSY when the phone refuses everything or is the caller. When calls are not forwarded, or the caller is blocked, the call is turned away without an event.',
      params: Params,
      example: { to: '+12025550100' },
      body: Type.Object({ to: string('A simulated line, E.164') }),
      response: { 201: CallWire },
    }),
    async (request, reply) => {
      const { account, number } = await phoneIn(ctx, request)
      const to = requirePhone('to', request.body.to)
      return answerOnce(ctx, reply, 'told', async (sql) => {
        const call = await callFromPhone(ctx, sql, account, number, to)
        return { status: 201, body: callWire(call, number), after: () => wakeCalls(ctx, call) }
      })
    },
  )
  for (const [action, about] of Object.entries(ACTIONS)) {
    app.post(
      `/sim/phones/:number/calls/:id/${action}`,
      sim({ ...about, params: CallParams, response: { 200: CallWire } }),
      async (request, reply) => {
        const { account, number } = await phoneIn(ctx, request)
        const { id } = request.params as { id: string }
        return answerOnce(ctx, reply, 'told', async (sql) => {
          const call = await actOnCall(ctx, sql, account, number, id, action as CallAction)
          return { status: 200, body: callWire(call, number) }
        })
      },
    )
  }
}
