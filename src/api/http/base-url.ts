import type { FastifyRequest } from 'fastify'
import type { Ctx } from '../../services/ctx.js'

/** Where the caller reaches this server, for links in answers. */
export function baseUrl(ctx: Ctx, request: FastifyRequest): string {
  return ctx.config.publicUrl ?? `${request.protocol}://${request.host}`
}
