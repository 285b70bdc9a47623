import type { FastifyInstance, RouteOptions } from 'fastify'
import type { Access } from './auth.js'

/** What a route says about who may come in. */
export interface Policy {
  method: string
  url: string
  access: Access
  confined: boolean
  basic: boolean
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Every route with its policy. */
    policies(): Policy[]
  }
}

const KEY = { keyId: [], keySecret: [] }
const TOKEN = { token: [] }
const BASIC = { basic: [] }

/**
 * Keeps a table of the routes and writes into the API document which credentials each of them takes. A route
 * that says nothing about its callers is a mistake: it stops the server from starting.
 */
export function registerPolicies(app: FastifyInstance): void {
  const routes: RouteOptions[] = []
  app.addHook('onRoute', (route) => {
    routes.push(route)
    if (route.schema && route.schema.security === undefined) {
      const { access, basic } = route.config ?? {}
      if (access === 'open') route.schema.security = []
      else if (access === 'admin' || access === 'live key') route.schema.security = [KEY]
      else if (basic) route.schema.security = [KEY, TOKEN, BASIC]
    }
  })
  app.addHook('onReady', async () => {
    const silent = routes.filter(({ config }) => config?.access === undefined)
    if (silent.length > 0) {
      const names = silent.map(({ method, url }) => `${[method].flat().join(', ')} ${url}`)
      throw new Error(`Routes that do not say who may use them: ${names.join('; ')}`)
    }
  })
  app.decorate('policies', () =>
    routes.flatMap(({ method, url, config }) =>
      [method].flat().map((name) => ({
        method: name,
        url,
        access: config!.access!,
        confined: config!.confined !== undefined,
        basic: config!.basic === true,
      })),
    ),
  )
}
