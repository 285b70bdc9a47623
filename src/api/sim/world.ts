import { Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import type { Ctx } from '../../services/ctx.js'
import { despiteDeadlocks, enterNewWorld, fenceWorld, resetWorld } from '../../services/sim/world.js'
import type { Sql } from '../../storage/engine/db.js'
import { answeredBefore, answerOnce } from '../http/once.js'
import type { Routes } from '../http/routes.js'
import { boolean, optional, string } from '../http/schemas.js'
import { sim, simulatedAccount } from './shared.js'

const Reset = Type.Object({
  reset: boolean('Always true'),
  at: string('Time of the simulated world'),
})

/** A simulated world as a whole. */
export function registerSimWorld(app: Routes, ctx: Ctx): void {
  app.post(
    '/sim/reset',
    sim({
      summary: 'Begin the world anew',
      description: [
        "The world of the account behind the key is as it was at first: its messages, scheduled ones too, events, contacts, opt-outs, groups, calls, verifications, one-time codes, media, phones with all they show, faults, and remembered Idempotency-Keys are gone; the default world's phones and lines are as they were seeded. Webhooks go, too, unless they are kept. Keys, tokens, seats and lines stay, and a line that was blocked is free.",
        'After the answer nothing of the old world happens any more: no delivery, no webhook. Event numbers go on and are never used twice: a stream with a bookmark from before is told of the gap, and the first event after it is world.reset.',
        'Other accounts notice nothing: a phone they use stays as it is. Only while every line the account has ever had is simulated: 409 otherwise. Test worlds always are.',
      ].join('\n\n'),
      optionalBody: true,
      body: Type.Object({
        keep: optional(
          Type.Array(Type.Unsafe<'webhooks'>({ type: 'string', enum: ['webhooks'] }), {
            maxItems: 10,
            description: 'webhooks: where events are posted stays as it is configured',
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
      const world = await fenceWorld(ctx, account)
      let media: string[] = []
      const keep = { webhooks: request.body.keep?.includes('webhooks') ?? false }
      const reset = async (sql: Sql) => {
        media = await resetWorld(ctx, sql, world, keep)
        return { status: 200, body: { reset: true, at: formatTime(ctx.clock.now()) } }
      }
      try {
        return await despiteDeadlocks(() => answerOnce(ctx, reply, retries, reset))
      } finally {
        await enterNewWorld(ctx, media)
      }
    },
  )
}
