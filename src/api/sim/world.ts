import { Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import type { Ctx } from '../../services/ctx.js'
import { renewWorld } from '../../services/sim/worlds.js'
import type { Sql } from '../../storage/engine/db.js'
import { answeredBefore, answerOnce } from '../http/once.js'
import type { Routes } from '../http/routes.js'
import { boolean, optional, string } from '../http/schemas.js'
import { sim, simulatedAccount } from './shared.js'

const Reset = Type.Object({ reset: boolean('Always true'), at: string('Time of the simulated world') })

export function registerSimWorld(app: Routes, ctx: Ctx): void {
  app.post(
    '/sim/reset',
    sim({
      operationId: 'resetWorld',
      errors: { 409: 'The account has or had a line that is not simulated.' },
      summary: 'Reset the world',
      description: [
        "Resets the world of the key's account to its beginning: removes messages including scheduled ones, events, contacts, opt-outs, groups, calls, verifications, one-time codes, media, phones with their content, faults, stored Idempotency-Keys and, unless kept, webhooks. The account gets its first phones again, and the lines of the default world their initial state. Keys, tokens, seats and lines stay; blocked lines are unblocked.",
        'After the answer, nothing of the old world happens: no delivery and no webhook. A large world is removed in steps, during which requests of the account wait. Sequence numbers of events continue: a stream with an older bookmark gets a recovery.gap, and the first event after it is world.reset.',
        'Other accounts are not affected. Answers 409 if the account has ever had a line that is not simulated; test worlds never have one.',
      ].join('\n\n'),
      optionalBody: true,
      example: { keep: ['webhooks'] },
      body: Type.Object({
        keep: optional(
          Type.Array(Type.Unsafe<'webhooks'>({ type: 'string', enum: ['webhooks'] }), {
            maxItems: 10,
            description: 'webhooks: keep the webhook configuration',
          }),
        ),
      }),
      response: { 200: Reset },
    }),
    async (request, reply) => {
      const account = await simulatedAccount(ctx, request)
      const retries = 'anew'
      const earlier = await answeredBefore<{ reset: boolean; at: string }>(ctx, reply, retries)
      if (earlier) return earlier
      const keep = { webhooks: request.body.keep?.includes('webhooks') ?? false }
      return renewWorld(ctx, account, keep, (begin) =>
        answerOnce(ctx, reply, retries, async (sql: Sql) => {
          await begin(sql)
          return { status: 200, body: { reset: true, at: formatTime(ctx.clock.now()) } }
        }),
      )
    },
  )
}
