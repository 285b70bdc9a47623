import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { AppError } from '../core/errors.js'
import type { Ctx } from '../ctx.js'
import { CALLBACK } from '../services/driver-host.js'
import { ask } from '../services/line-actions.js'
import { findLine } from '../storage/lines.js'
import type { Routes } from './routes.js'

const BODY_LIMIT = 4 << 20

const Params = Type.Object({
  line: Type.String({ description: 'Id of the line' }),
  token: Type.String({ description: 'What only the carrier was told' }),
})

/**
 * Where carriers call a line. The address itself is the secret: it is made for one line, and a wrong one looks like
 * none at all. When the line cannot take it right now the carrier is told to come again.
 */
export async function registerCallbacks(app: Routes, ctx: Ctx): Promise<void> {
  await app.register(async (scope) => {
    // Carriers send what they like; their driver reads it.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: BODY_LIMIT }, (_request, body, done) =>
      done(null, body),
    )
    scope.post<{ Params: { line: string; token: string } }>(
      '/callbacks/:line/:token',
      {
        config: { access: 'open' },
        bodyLimit: BODY_LIMIT,
        schema: {
          tags: ['Operations'],
          summary: "Take a carrier's call",
          description: 'For carriers only: a line hands them this address.',
          params: Params,
          response: { 200: Type.Unknown({ description: 'Whatever the carrier wants to hear' }) },
        },
      },
      async (request, reply) => {
        const { line: id, token } = request.params
        const line = ctx.vault.isSigned(CALLBACK, id, token) ? await findLine(ctx.db, id) : undefined
        if (!line) throw new AppError('not_found', 'There is nothing at this address')
        const answer = await ask(ctx, line, 'callback', {
          method: request.method,
          path: request.url.slice(request.url.indexOf(token) + token.length),
          headers: headersOf(request),
          body: Buffer.isBuffer(request.body) ? request.body.toString('base64') : '',
        })
        return reply.code(answer.status).send(answer.body ?? {})
      },
    )
  })
}

function headersOf(request: FastifyRequest): Record<string, string> {
  return Object.fromEntries(
    Object.entries(request.headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value]] : [],
    ),
  )
}
