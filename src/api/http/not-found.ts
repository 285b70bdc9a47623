import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../../core/errors.js'

export const NO_ROUTE = 'There is no such route. /openapi.json lists them all.'

/** 404 for unknown paths, 405 with `Allow` for known paths with another method. */
export function createNotFound(app: FastifyInstance) {
  const routes: { pattern: RegExp; methods: string[] }[] = []
  app.addHook('onRoute', (route) => {
    const source = route.url.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:\w+/g, '[^/]+')
    routes.push({ pattern: new RegExp(`^${source}$`), methods: [route.method].flat() })
  })
  return async (request: FastifyRequest) => {
    if (request.url.length > 8192)
      throw new AppError('uri_too_long', 'The URL is longer than 8192 characters')
    const path = request.url.split('?', 1)[0]!
    const methods = routes.filter((route) => route.pattern.test(path)).flatMap((route) => route.methods)
    if (methods.length > 0 && !methods.includes(request.method)) {
      const allow = [...new Set(methods)].sort().join(', ')
      throw new AppError(
        'method_not_allowed',
        `${request.method} is not allowed on this path. Use ${allow}.`,
        { allow },
      )
    }
    throw new AppError('not_found', NO_ROUTE)
  }
}
