import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { AppError } from '../../core/errors.js'
import type { Ctx } from '../../services/ctx.js'
import { ask } from '../../services/lines/actions.js'
import { CALLBACK } from '../../services/lines/driver-host.js'
import { reachAnswer } from '../../services/lines/reach-ask.js'
import { findLine } from '../../storage/lines/lines.js'
import { NO_ROUTE } from '../http/not-found.js'
import type { Routes } from '../http/routes.js'
import { string } from '../http/schemas.js'

const BODY_LIMIT = 4 << 20
const METHODS = ['GET', 'POST', 'PUT'] as const

const Params = Type.Object({
  line: string('Id of the line'),
  token: string('Secret that only the carrier has'),
})

/**
 * Callbacks of carriers to a line. The URL itself is the secret: a wrong one answers like an unknown path. While the
 * line cannot take a callback, the answer tells the carrier to retry.
 */
export async function registerCallbacks(app: Routes, ctx: Ctx): Promise<void> {
  await app.register(async (scope) => {
    // The driver parses the body.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: BODY_LIMIT }, (_request, body, done) =>
      done(null, body),
    )
    // Checked before the body is read.
    scope.addHook('onRequest', async (request, reply) => {
      const { line, token } = addressOf(request)
      const reached = reachAnswer(ctx, line, token)
      if (reached) return reply.header('cache-control', 'no-store').send({ reached })
      if (!ctx.vault.isSigned(CALLBACK, line, token)) throw new AppError('not_found', NO_ROUTE)
    })

    const take = async (request: FastifyRequest, reply: FastifyReply) => {
      const { line: id, path } = addressOf(request)
      const line = await findLine(ctx.db, id)
      if (!line) throw new AppError('not_found', NO_ROUTE)
      ctx.lastCalls.set(id, ctx.clock.now())
      const answer = await ask(ctx, line, 'callback', {
        method: request.method,
        path,
        headers: headersOf(request),
        body: Buffer.isBuffer(request.body) ? request.body.toString('base64') : '',
      })
      const { status, body, contentType } = answer ?? {}
      if (!Number.isInteger(status) || status < 200 || status > 599)
        throw new AppError('unavailable', 'The line did not confirm the callback. Retry later.', {
          retryAfterMs: 2000,
        })
      reply.code(status)
      if (typeof body === 'string') return reply.type(contentType ?? 'text/plain; charset=utf-8').send(body)
      return reply.send(status === 204 ? undefined : (body ?? {}))
    }
    for (const method of METHODS)
      for (const url of ['/callbacks/:line/:token', '/callbacks/:line/:token/*'])
        scope.route({
          method,
          url,
          config: { access: 'open', verbatim: true, unaudited: 'message' },
          bodyLimit: BODY_LIMIT,
          schema: {
            hide: url.endsWith('*'),
            tags: ['Operations'],
            operationId: `receiveCallbackBy${method}`,
            summary: 'Receive a callback from a carrier',
            description: 'For carriers only: the line gives them this URL. The carrier may append a path.',
            params: Params,
            response: { 200: Type.Unknown({ description: "Answer in the carrier's format" }) },
          },
          handler: take,
        })
  })
}

/** From the raw URL: the path that a carrier appends is not decoded. */
function addressOf(request: FastifyRequest): { line: string; token: string; path: string } {
  const [, line = '', token = '', path = ''] =
    /^\/callbacks\/([^/?]+)\/([^/?]+)(.*)$/s.exec(request.raw.url ?? '') ?? []
  return { line, token, path }
}

function headersOf(request: FastifyRequest): Record<string, string> {
  return Object.fromEntries(
    Object.entries(request.headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value]] : [],
    ),
  )
}
