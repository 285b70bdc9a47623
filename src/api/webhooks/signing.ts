import { Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import type { Ctx } from '../../services/ctx.js'
import { readSigningSecret, replaceSigningSecret } from '../../services/webhooks/signing.js'
import { accountOf } from '../http/auth.js'
import { answerOnce } from '../http/once.js'
import { type Routes, routesOf } from '../http/routes.js'
import { nullable, string } from '../http/schemas.js'

const route = routesOf('Webhooks', { access: 'account' })

const Secret = Type.Object(
  {
    data: Type.Object({
      secret: string('Signs status callbacks: whsec_ and a key in base64, for any Standard Webhooks library'),
      former_until: nullable('string', 'Until when the previous secret signs, too; null without one'),
    }),
  },
  { title: 'SigningSecret' },
)

/** The account's own signing secret. */
export function registerSigningSecret(app: Routes, ctx: Ctx): void {
  const read = async (accountId: string) => {
    const { secret, former } = await readSigningSecret(ctx, accountId)
    const until = former && former.until > ctx.clock.now() ? formatTime(former.until) : null
    return { data: { secret, former_until: until } }
  }
  app.get(
    '/v3/signing-secret',
    route({
      operationId: 'getSigningSecret',
      summary: 'Show the signing secret of status callbacks',
      description:
        'Every post to a status_callback carries webhook-id, webhook-timestamp and webhook-signature by this secret, and a second signature by globalSecret if there is one. The secret itself is never in a post.',
      response: { 200: Secret },
    }),
    async (request) => read(accountOf(request).id),
  )
  app.post(
    '/v3/signing-secret/rotate',
    route({
      operationId: 'rotateSigningSecret',
      summary: 'Replace the signing secret of status callbacks',
      description: 'The previous secret signs beside the new one for 24 hours.',
      optionalBody: true,
      response: { 200: Secret },
    }),
    async (request, reply) => {
      const { id } = accountOf(request)
      await answerOnce(ctx, reply, 'anew', async (sql) => {
        await replaceSigningSecret(ctx, sql, id)
        return { status: 200, body: {} }
      })
      // Read now and not stored with the answer, which would keep the secret in plain text.
      return read(id)
    },
  )
}
