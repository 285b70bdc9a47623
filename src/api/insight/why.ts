import { Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import {
  STEP_KINDS,
  type StepKind,
  type Story,
  VERDICTS,
  type VerdictCode,
} from '../../core/insight/why/story.js'
import type { Ctx } from '../../services/ctx.js'
import { explainMessage } from '../../services/insight/why.js'
import { actorOf } from '../http/auth.js'
import { type Routes, routesOf } from '../http/routes.js'
import { oneOf, string } from '../http/schemas.js'

const route = routesOf('Messages', { access: 'account', confined: 'to its lines' })

export const StoryWire = Type.Object({
  handle: string('Message handle'),
  verdict: oneOf<VerdictCode>(
    VERDICTS,
    'Where the message stands and why. ' +
      'received: it came in. delivered: it is on the phone. sent: word of its delivery is still to come. ' +
      'sent_no_receipts: it is out, and nobody reports deliveries. phone_off: it is out, and the phone is off (simulated phones only). ' +
      'scheduled, queued, queued_behind, waiting_for_pace, daily_limit, line_offline, conversation_held: it waits for its time, its turn, an earlier message of its conversation, the pace of the line, the next day of the line, the line, the end of a hold. ' +
      'on_wire: the carrier has not answered yet. retrying: the line did not take it and is tried again. ' +
      'pending_lookup: the carrier is being asked whether it has it. outcome_unknown: that was never found out. ' +
      'opted_out, refused, unreachable, not_imessage, undelivered, line_blocked, line_removed, conversation_dropped, failed: it failed, for that reason.',
  ),
  summary: string('The same in a few plain sentences'),
  next_step: string('What to do about it'),
  steps: Type.Array(
    Type.Object({
      at: string('When it happened, ISO 8601; of what it waits for, now'),
      what: oneOf<StepKind>(STEP_KINDS, 'Kind of the step'),
      detail: string("What happened, with the carrier's or the receiver's own words"),
    }),
    { description: 'What happened, oldest first' },
  ),
})

export function registerWhy(app: Routes, ctx: Ctx): void {
  app.get(
    '/v3/messages/:handle/why',
    route({
      summary: 'Explain a message',
      description:
        'The story of one message: what happened to it, where it stands and why, and what to do about it. ' +
        'It changes nothing and asks no carrier. Tokens that are confined to some lines do not see where webhooks go.',
      params: Type.Object({ handle: string('Message handle') }),
      response: { 200: Type.Object({ data: StoryWire }) },
    }),
    async (request) => {
      const { handle } = request.params
      return { data: storyWire(handle, await explainMessage(ctx, actorOf(request), handle)) }
    },
  )
}

export function storyWire(handle: string, { verdict, summary, nextStep, steps }: Story) {
  return {
    handle,
    verdict,
    summary,
    next_step: nextStep,
    steps: steps.map(({ at, what, detail }) => ({ at: formatTime(at), what, detail })),
  }
}
