import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { MAX_NAME } from '../../core/verify/otpauth.js'
import { ALGORITHMS, type Algorithm, DIGITS, MAX_PERIOD, type TotpSecret } from '../../core/verify/totp.js'
import type { Ctx } from '../../services/ctx.js'
import { createTotpSecret, noSecret, readTotpCode, removeTotpSecret } from '../../services/verify/totp.js'
import type { Sql } from '../../storage/engine/db.js'
import { findTotpSecret, listTotpSecrets } from '../../storage/verify/totp.js'
import { accountOf } from '../http/auth.js'
import { answerOnce } from '../http/once.js'
import { renderer } from '../http/render.js'
import { type Routes, routesOf } from '../http/routes.js'
import { integer, nullable, oneOf, optional, string } from '../http/schemas.js'

const route = routesOf('TOTP', { access: 'account' })

const VISIBLE = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$'

const NewSecret = Type.Object(
  {
    uri: optional(
      string('otpauth://totp/… URI of a QR code. When given, every other field is ignored.', {
        maxLength: 4096,
      }),
    ),
    label: optional(string('Label; required unless uri is given', { maxLength: MAX_NAME, pattern: VISIBLE })),
    issuer: optional(string('Issuer of the codes', { maxLength: MAX_NAME, pattern: VISIBLE })),
    secret: optional(
      string(
        'Base32, 5 to 256 bytes; spaces, dashes, letter case and padding are ignored. Default: 20 random bytes.',
        { maxLength: 1024 },
      ),
    ),
    algorithm: optional(oneOf<Algorithm>(ALGORITHMS, 'Hash algorithm; default SHA1')),
    digits: optional(
      Type.Unsafe<number>({ type: 'integer', enum: [...DIGITS], description: 'Length of a code; default 6' }),
    ),
    period: optional(
      integer('Validity of a code in seconds; default 30', { minimum: 1, maximum: MAX_PERIOD }),
    ),
  },
  { title: 'NewTotpSecret' },
)

const record = {
  id: string('Unique identifier'),
  label: string('Label'),
  issuer: nullable('string', 'Issuer of the codes'),
  algorithm: oneOf<Algorithm>(ALGORITHMS, 'Hash algorithm'),
  digits: integer('Length of a code, 6 or 8'),
  period: integer('Validity of a code in seconds'),
  created_at: string('When it was stored, ISO 8601'),
}
const Secret = Type.Object(record, { title: 'TotpSecret' })
const FirstSecret = Type.Object({
  ...record,
  secret: optional(string('Base32. Shown only once: a repeated request does not get it again.')),
})
const status = string('OK')
const Params = Type.Object({ secret_id: string('Id of the secret') })

const secretWire = renderer<TotpSecret>()(Secret, {})

/** A URI overrides all other fields, even invalid ones. */
function uriAlone(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  const body = request.body as Record<string, unknown> | null | undefined
  if (body && body.uri !== undefined) request.body = { uri: body.uri }
  done()
}

/** Secrets of one-time codes. They belong to the account, so confined tokens are refused. */
export function registerTotp(app: Routes, ctx: Ctx): void {
  app.post(
    '/api/v2/totp/secrets',
    route({
      operationId: 'createTotpSecret',
      summary: 'Store a TOTP secret',
      description:
        'Give the URI of a QR code or a base32 secret, or neither to generate one. Secrets are stored encrypted and shown only in this answer.',
      example: { uri: 'otpauth://totp/Example:ada?secret=JBSWY3DPEHPK3PXP&issuer=Example' },
      body: NewSecret,
      response: { 201: Type.Object({ status, totp_secret: FirstSecret }) },
      aliases: {},
      beforeValidation: uriAlone,
    }),
    async (request, reply) => {
      type Body = { status: string; totp_secret: Static<typeof FirstSecret> }
      const account = accountOf(request)
      const exists = async (sql: Sql, { totp_secret }: Body) =>
        (await findTotpSecret(sql, account.id, totp_secret.id)) !== undefined
      return answerOnce<Body>(ctx, reply, exists, async (sql) => {
        const { record, secret } = await createTotpSecret(ctx, sql, account, request.body)
        const shown = secretWire(record)
        const body = { status: 'OK', totp_secret: { ...shown, secret } }
        return { status: 201, body, stored: { status: 'OK', totp_secret: shown } }
      })
    },
  )
  app.get(
    '/api/v2/totp/secrets',
    route({
      operationId: 'listTotpSecrets',
      summary: 'List TOTP secrets',
      description: 'Oldest first, without the secrets themselves.',
      response: { 200: Type.Object({ status, totp_secrets: Type.Array(Secret) }) },
    }),
    async (request) => ({
      status: 'OK',
      totp_secrets: (await listTotpSecrets(ctx.db, accountOf(request).id)).map(secretWire),
    }),
  )
  app.get(
    '/api/v2/totp/secrets/:secret_id',
    route({
      operationId: 'getTotpSecret',
      summary: 'Show a TOTP secret',
      description: 'Without the secret itself.',
      params: Params,
      response: { 200: Type.Object({ status, totp_secret: Secret }) },
    }),
    async (request) => {
      const found = await findTotpSecret(ctx.db, accountOf(request).id, request.params.secret_id)
      if (!found) throw noSecret()
      return { status: 'OK', totp_secret: secretWire(found.secret) }
    },
  )
  app.delete(
    '/api/v2/totp/secrets/:secret_id',
    route({
      operationId: 'deleteTotpSecret',
      summary: 'Delete a TOTP secret',
      description: 'Permanently.',
      params: Params,
      response: { 200: Type.Object({ status }) },
    }),
    async (request) => {
      await removeTotpSecret(ctx, accountOf(request), request.params.secret_id)
      return { status: 'OK' }
    },
  )
  app.get(
    '/api/v2/totp/code/:secret_id',
    route({
      operationId: 'getTotpCode',
      summary: 'Show the current code of a secret',
      params: Params,
      response: {
        200: Type.Object({
          status,
          code: string('Six or eight digits'),
          expires_in: integer('Seconds until the next code'),
        }),
      },
    }),
    async (request) => {
      const { code, expiresIn } = await readTotpCode(ctx, accountOf(request), request.params.secret_id)
      return { status: 'OK', code, expires_in: expiresIn }
    },
  )
}
