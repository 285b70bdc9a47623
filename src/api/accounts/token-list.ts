import { Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import type { Ctx } from '../../services/ctx.js'
import { listKeys } from '../../storage/accounts/accounts.js'
import { listTokens } from '../../storage/accounts/tokens.js'
import { accountOf } from '../http/auth.js'
import { idCursor, NextCursor, pageQuery } from '../http/cursor.js'
import { routesOf } from '../http/route.js'
import type { Routes } from '../http/routes.js'
import { boolean, nullable, string, strings } from '../http/schemas.js'

const route = routesOf('Temporary tokens', { access: 'live key' })

const ListedToken = Type.Object({
  token_id: string('Id, used for revocation'),
  created_at: string('When it was made, ISO 8601'),
  expires_at: string('When it stops working, ISO 8601'),
  revoked_at: nullable('string', 'When it was revoked; null while it was not'),
  is_valid: boolean('Whether it works: neither it nor the key that made it is revoked'),
  phone_numbers: strings('Lines it is confined to; empty when it is good for the whole account'),
  key_id: string('The key that made it'),
  key_label: string("That key's label"),
})

export function registerTokenList(app: Routes, ctx: Ctx): void {
  app.get(
    '/v3/auth/tokens',
    route({
      summary: 'List temporary tokens',
      description:
        'Those that have not expired, newest first; revoked ones among them. The text of a token is never shown again.',
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
        data: tokens.map((token) => {
          const key = keys.get(token.keyId)
          return {
            token_id: token.id,
            created_at: formatTime(token.createdAt),
            expires_at: formatTime(token.expiresAt),
            revoked_at: token.revokedAt === null ? null : formatTime(token.revokedAt),
            is_valid: token.revokedAt === null && key?.revokedAt === null,
            phone_numbers: [...(token.numbers ?? [])],
            key_id: token.keyId,
            key_label: key?.label ?? '',
          }
        }),
        next_cursor: tokens.length < limit ? null : tokens.at(-1)!.id,
      }
    },
  )
}
