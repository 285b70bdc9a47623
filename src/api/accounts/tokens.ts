import { Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import type { Key } from '../../core/accounts/account.js'
import { TOKEN_LIFE, type Token } from '../../core/accounts/token.js'
import { AppError } from '../../core/errors.js'
import { mintToken, revokeToken } from '../../services/accounts/tokens.js'
import type { Ctx } from '../../services/ctx.js'
import { listKeys } from '../../storage/accounts/accounts.js'
import { listTokens } from '../../storage/accounts/tokens.js'
import { accountOf, actorOf } from '../http/auth.js'
import { idCursor, NextCursor, pageQuery } from '../http/cursor.js'
import { requirePhone } from '../http/fields.js'
import { answerOnce } from '../http/once.js'
import { renderer } from '../http/render.js'
import { type Routes, routesOf } from '../http/routes.js'
import { boolean, integer, nullable, optional, string, strings } from '../http/schemas.js'

const route = routesOf('Temporary tokens', { access: 'live key' })

const MAX_NUMBERS = 100

const NewToken = Type.Object(
  {
    expires_in_seconds: optional(
      integer('Lifetime in seconds', {
        minimum: TOKEN_LIFE.min,
        maximum: TOKEN_LIFE.max,
        default: TOKEN_LIFE.default,
      }),
    ),
    phone_number: optional(string('A line of the account, E.164; confines the token to it')),
    phone_numbers: optional(
      strings(
        'Several lines of the account, E.164; confines the token to them. Not together with phone_number, and not empty',
        { minItems: 1, maxItems: MAX_NUMBERS },
      ),
    ),
  },
  { title: 'NewToken' },
)

const TokenWire = Type.Object(
  {
    token: optional(
      string(
        'The bearer token, shown only once: a request repeated under its Idempotency-Key does not get it again',
      ),
    ),
    token_id: string('Id, used for revocation'),
    token_type: string('Always Bearer'),
    expires_at: string('When it expires, ISO 8601'),
    phone_numbers: strings('Lines that the token is confined to; empty for the whole account'),
  },
  { title: 'Token' },
)

function tokenWire(token: Token) {
  return {
    token_id: token.id,
    token_type: 'Bearer',
    expires_at: formatTime(token.expiresAt),
    phone_numbers: [...(token.numbers ?? [])],
  }
}

const ListedToken = Type.Object(
  {
    token_id: string('Id, used for revocation'),
    created_at: string('When it was created, ISO 8601'),
    expires_at: string('When it expires, ISO 8601'),
    revoked_at: nullable('string', 'When it was revoked; null otherwise'),
    is_valid: boolean('Whether it works: neither the token nor its key is revoked'),
    phone_numbers: strings('Lines that the token is confined to; empty for the whole account'),
    key_id: string('The key that created it'),
    key_label: string('Label of that key'),
  },
  { title: 'ListedToken' },
)

const listedWire = renderer<Token & { key: Key | undefined }>()(ListedToken, {
  token_id: ({ id }) => id,
  is_valid: ({ revokedAt, key }) => revokedAt === null && key?.revokedAt === null,
  phone_numbers: ({ numbers }) => [...(numbers ?? [])],
  key_label: ({ key }) => key?.label ?? '',
})

/** Short-lived replacements of a live key, for programs that should not hold the key itself. */
export function registerTokens(app: Routes, ctx: Ctx): void {
  app.get(
    '/v3/auth/tokens',
    route({
      operationId: 'listTokens',
      summary: 'List temporary tokens',
      description:
        'Tokens that have not expired, including revoked ones, newest first. The text of a token is shown only when it is created.',
      querystring: Type.Object(pageQuery(1000, 100)),
      response: { 200: Type.Object({ data: Type.Array(ListedToken), next_cursor: NextCursor }) },
    }),
    async (request) => {
      const account = accountOf(request)
      const limit = Math.min(request.query.limit ?? 100, 1000)
      const before = idCursor(request.query.cursor)
      const tokens = await listTokens(ctx.db, account.id, ctx.clock.now(), before, limit)
      const keys = new Map((await listKeys(ctx.db, account.id)).map((key) => [key.id, key]))
      return {
        data: tokens.map((token) => listedWire({ ...token, key: keys.get(token.keyId) })),
        next_cursor: tokens.length < limit ? null : tokens.at(-1)!.id,
      }
    },
  )

  app.post(
    '/v3/auth/tokens',
    route({
      operationId: 'createToken',
      summary: 'Create a temporary token',
      description:
        'Needs a live key. The token goes into Authorization: Bearer and stops working when it expires, when it is ' +
        'revoked, and when the key that made it is revoked. With a phone selector it sees and sends only on those ' +
        'lines; without one it can do what the account can, except make and revoke tokens.',
      aliases: {},
      optionalBody: true,
      example: { expires_in_seconds: 3600, phone_numbers: ['+12025550100'] },
      body: NewToken,
      response: { 201: TokenWire },
    }),
    async (request, reply) => {
      const { expires_in_seconds: life, phone_number: one, phone_numbers: several } = request.body
      if (one !== undefined && several !== undefined)
        throw new AppError('invalid', 'phone_numbers: give either phone_number or phone_numbers, not both')
      const { account, key } = actorOf(request)
      const input = {
        keyId: key.id,
        lifeSeconds: life ?? TOKEN_LIFE.default,
        numbers:
          one !== undefined
            ? [requirePhone('phone_number', one)]
            : (several?.map((number) => requirePhone('phone_numbers', number)) ?? null),
      }
      return answerOnce(ctx, reply, 'anew', async (sql) => {
        const { token, text } = await mintToken(ctx, sql, account, input)
        return { status: 201, body: { token: text, ...tokenWire(token) }, stored: tokenWire(token) }
      })
    },
  )

  app.delete(
    '/v3/auth/tokens/:token_id',
    route({
      operationId: 'revokeToken',
      summary: 'Revoke a temporary token',
      description:
        'Any live key of the account can revoke the token. Also answers 204 when the token was revoked or has expired.',
      params: Type.Object({ token_id: string('Id of the token') }),
      response: { 204: Type.Null() },
    }),
    async (request, reply) => {
      await revokeToken(ctx, accountOf(request), request.params.token_id)
      return reply.code(204).send(null)
    },
  )
}
