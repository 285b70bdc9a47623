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

export const StoryWire = Type.Object(
  {
    handle: string('Message handle'),
    verdict: oneOf<VerdictCode>(
      VERDICTS,
      'State of the message and its reason. ' +
        'received: it arrived. delivered: it is on the phone. sent: the delivery receipt is still to come. ' +
        'sent_no_receipts: it was sent, and the carrier reports no deliveries. phone_off: it was sent, and the phone is off (simulated phones only). ' +
        'scheduled, queued, queued_behind, waiting_for_pace, daily_limit, line_offline, conversation_held: it waits for its send time, its turn, an earlier message of its conversation, the pace of the line, the next day, the line to come online, the end of a hold. ' +
        "held_after_restore: the database was restored, the message may have been sent before, and it waits for the operator's decision. " +
        'on_wire: the carrier has not answered yet. retrying: the line could not send it and retries. ' +
        'pending_lookup: the line is asking the carrier for the outcome. outcome_unknown: the outcome could not be found out. ' +
        'opted_out, refused, media_refused, unreachable, not_imessage, undelivered, line_blocked, line_removed, conversation_dropped, failed: it failed for that reason.',
    ),
    summary: string('The verdict in a few sentences'),
    next_step: string('What to do next'),
    steps: Type.Array(
      Type.Object({
        at: string('When it happened, ISO 8601; for a pending step, the current time'),
        what: oneOf<StepKind>(STEP_KINDS, 'Kind of the step'),
        detail: string("What happened, with the carrier's or the webhook receiver's own words"),
      }),
      { description: 'What happened, oldest first' },
    ),
  },
  { title: 'MessageExplanation' },
)

export function registerWhy(app: Routes, ctx: Ctx): void {
  app.get(
    '/v3/messages/:handle/why',
    route({
      operationId: 'explainMessage',
      summary: 'Explain a message',
      description:
        'What happened to one message, its current state with the reason, and what to do next. ' +
        'Does not ask the carrier. Tokens confined to some lines do not see the URLs of webhooks.',
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
