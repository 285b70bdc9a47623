import type { FastifyReply } from 'fastify'
import { type Static, Type } from 'typebox'
import { AppError } from '../../core/errors.js'
import { originFault } from '../../core/verify/origin.js'
import type { Ctx } from '../../services/ctx.js'
import type { Answer } from '../../services/once.js'
import {
  cancel,
  hostedToken,
  isPending,
  type NewVerification,
  readVerification,
  readVerifications,
  startVerification,
  verificationStarted,
} from '../../services/verify/verifications.js'
import type { Sql } from '../../storage/engine/db.js'
import type { Aliases } from '../http/aliases.js'
import { accountOf } from '../http/auth.js'
import { requirePhone, requireTime } from '../http/fields.js'
import { answerOnce } from '../http/once.js'
import type { Routes } from '../http/routes.js'
import { boolean, integer, oneOf, optional, string } from '../http/schemas.js'
import {
  baseUrl,
  NewVerificationBody,
  ServiceParams,
  StartedVerification,
  stateWire,
  VerificationState,
  VerificationWire,
  verificationWire,
  verifyRoute,
} from './wire.js'

const Params = Type.Object({ ...ServiceParams.properties, sid: string('Sid of the verification') })

/** Field names of a well-known verification service. */
const START_ALIASES: Aliases = { to: ['To'] }
const CANCEL_ALIASES: Aliases = { status: ['Status'] }

export function registerVerifications(app: Routes, ctx: Ctx): void {
  const path = '/api/v2/verify/services/:service_sid/verifications'
  app.post(
    path,
    verifyRoute({
      operationId: 'createVerification',
      summary: 'Start a verification',
      description:
        'Sends nothing. Show the code and the number to the person: the verification is approved when exactly that code is texted from `to` to `pool_number` before it expires. With `hosted`, a page of `parent_origin` can embed a widget that does this.',
      params: ServiceParams,
      aliases: START_ALIASES,
      objects: ['hosted'],
      example: { to: '+12025550101' },
      body: NewVerificationBody,
      response: { 201: StartedVerification },
    }),
    async (request, reply) => start(ctx, reply, request.params.service_sid, request.body),
  )
  app.get(
    `${path}/:sid`,
    verifyRoute({
      operationId: 'getVerification',
      summary: 'Show a verification',
      params: Params,
      response: { 200: VerificationWire },
    }),
    async (request) => {
      const { service_sid, sid } = request.params
      const verification = await readVerification(ctx, accountOf(request), service_sid, sid)
      return verificationWire(verification, baseUrl(ctx, request))
    },
  )
  app.post(
    `${path}/:sid`,
    verifyRoute({
      operationId: 'updateVerification',
      errors: { 409: 'The verification has ended.' },
      summary: 'Cancel a verification',
      description: 'A canceled verification stays canceled; one that has ended otherwise answers 409.',
      params: Params,
      aliases: CANCEL_ALIASES,
      example: { status: 'canceled' },
      body: Type.Object({
        status: oneOf<'canceled'>(['canceled'], 'Only canceled; a verification is approved by text message'),
      }),
      response: { 200: VerificationWire },
    }),
    async (request, reply) => {
      const { service_sid, sid } = request.params
      return answerOnce(ctx, reply, 'anew', async (sql) => {
        const canceled = await cancel(ctx, sql, accountOf(request), service_sid, sid)
        return { status: 200, body: verificationWire(canceled, baseUrl(ctx, request)) }
      })
    },
  )
  app.delete(
    `${path}/:sid`,
    verifyRoute({
      operationId: 'cancelVerification',
      errors: { 409: 'The verification has ended.' },
      summary: 'Cancel a verification',
      description: 'Like posting the status canceled. The record stays.',
      params: Params,
      response: { 204: Type.Null() },
    }),
    async (request, reply) => {
      const { service_sid, sid } = request.params
      await ctx.db.tx((sql) => cancel(ctx, sql, accountOf(request), service_sid, sid))
      return reply.code(204).send(null)
    },
  )
  app.get(
    '/api/v2/verify/verifications',
    verifyRoute({
      operationId: 'listVerifications',
      summary: 'List verifications',
      description: 'Verifications of all services of the account, the most recently changed first.',
      querystring: Type.Object({
        limit: optional(integer('Rows to return; at most 1000', { minimum: 1, default: 100 })),
        offset: optional(integer('Rows to skip', { minimum: 0, default: 0 })),
        updated_at_gte: optional(string('Changed at or after, ISO 8601')),
      }),
      response: {
        200: Type.Object({
          status: string('OK'),
          data: Type.Array(VerificationState),
          pagination: Type.Object({
            count: integer('Rows in this answer'),
            has_more: boolean('Whether there are more rows'),
            limit: integer('Requested number of rows'),
            offset: integer('Rows skipped'),
          }),
        }),
      },
    }),
    async (request) => {
      const { query } = request
      const limit = Math.min(query.limit ?? 100, 1000)
      const offset = Math.min(query.offset ?? 0, 2 ** 31)
      const since = query.updated_at_gte
      const updated = since === undefined ? {} : { updatedFrom: requireTime('updated_at_gte', since) }
      const page = { limit: limit + 1, offset, ...updated }
      const found = await readVerifications(ctx, accountOf(request), page)
      const data = found.slice(0, limit).map(stateWire)
      const pagination = { count: data.length, has_more: found.length > limit, limit, offset }
      return { status: 'OK', data, pagination }
    },
  )
}

async function start(
  ctx: Ctx,
  reply: FastifyReply,
  serviceSid: string,
  body: Static<typeof NewVerificationBody>,
): Promise<Static<typeof StartedVerification>> {
  const account = accountOf(reply.request)
  const base = baseUrl(ctx, reply.request)
  const input: NewVerification = { to: requirePhone('to', body.to), hosted: hostedOf(body.hosted) }
  const lines = [...(await ctx.directory.linesOf(account.id)).values()].filter(
    ({ line }) => line.blockedAt === null,
  )
  const stillPending = (sql: Sql, { sid }: { sid: string }) => isPending(ctx, sql, account, serviceSid, sid)
  const begin = async (sql: Sql): Promise<Answer<Static<typeof StartedVerification>>> => {
    const verification = await startVerification(ctx, sql, account, serviceSid, lines, input)
    const { hosted } = verification
    const wire = verificationWire(verification, base)
    const session = hosted && {
      session_id: hosted.sessionId,
      url: '',
      component_script: `${base}/verify/component.js`,
      expires_at: wire.expires_at,
    }
    const body = { ...wire, ...(session ? { hosted: session } : {}) }
    return { status: 201, body, after: () => verificationStarted(ctx) }
  }
  const answer = await answerOnce(ctx, reply, stillPending, begin)
  // Added here, also for a repeat, because the stored answer must not contain the token.
  if (answer.hosted) {
    const { session_id } = answer.hosted
    answer.hosted.url = `${base}/verify/hosted/${session_id}#token=${hostedToken(ctx, session_id)}`
  }
  return answer
}

function hostedOf(hosted: Static<typeof NewVerificationBody>['hosted']): NewVerification['hosted'] {
  if (!hosted) return null
  const fault = originFault(hosted.parent_origin)
  if (fault) throw new AppError('invalid', `hosted.parent_origin: ${fault}`)
  return {
    parentOrigin: hosted.parent_origin,
    brandName: hosted.brand_name?.trim() ?? null,
    accentColor: hosted.accent_color?.replace('#', '').toLowerCase() ?? null,
    theme: hosted.theme ?? 'auto',
  }
}
