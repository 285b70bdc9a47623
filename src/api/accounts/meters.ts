import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Ctx } from '../../services/ctx.js'

/** Bodies up to this size are not counted: all connections of a process together hold little with them. */
const SMALL_BODY = 16_384
/** Bytes in memory of a form whose file is written to disk piece by piece, and at most of another form. */
const STREAMED_BYTES = 1 << 20
const FORM_BYTES = 6_000_000

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set where the file of a form is written to disk while it arrives. */
    isStreamed?: boolean
  }
}

/** Counts requests and the bytes of their bodies on the account's budgets before a body is read. */
export function registerMeters(app: FastifyInstance, ctx: Ctx): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { principal } = request
    const account = principal?.kind === 'account' ? principal.account : null
    try {
      if (account) ctx.meters.countRequest(account)
      const bytes = bodyBytes(request)
      if (bytes > SMALL_BODY) releaseAtEnd(reply, ctx.meters.hold(account, bytes))
      done()
    } catch (error) {
      done(error as Error)
    }
  })
}

/** The size of the body as far as it is in memory at once. */
function bodyBytes({ headers, routeOptions }: FastifyRequest): number {
  const length = headers['content-length']
  if (length === undefined && headers['transfer-encoding'] === undefined) return 0
  // A route refuses a body beyond its limit before it reads it.
  const most = !headers['content-type']?.startsWith('multipart/')
    ? routeOptions.bodyLimit
    : routeOptions.config.isStreamed
      ? STREAMED_BYTES
      : FORM_BYTES
  return Math.min(Number(length ?? Number.POSITIVE_INFINITY), most ?? 1 << 20)
}

function releaseAtEnd({ raw }: FastifyReply, held: { release(): void }): void {
  raw.once('finish', held.release)
  // The caller may go away before it has its answer.
  raw.once('close', held.release)
}
