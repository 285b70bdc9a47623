import type { FastifyContextConfig, FastifyInstance, RouteOptions } from 'fastify'
import type { Access } from './auth.js'

/** Who may call a route. */
export interface Policy {
  method: string
  url: string
  /** For a caller on this machine, with no settings that expose the server. */
  access: Access
  confined: boolean
  basic: boolean
  /** Why a route that is no GET writes no audit log. */
  unaudited: FastifyContextConfig['unaudited']
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Every route with its policy. */
    policies(): Policy[]
  }
}

/** Bytes of a body from a caller without a key: room for the form that signs in to the console. */
const STRANGERS_BODY_BYTES = 8 * 1024

const KEY = { keyId: [], keySecret: [] }
const TOKEN = { token: [] }
const BASIC = { basic: [] }

/**
 * Keeps a table of the routes and writes into the API document which credentials each route accepts. A route without
 * an access rule is a mistake and stops the server from starting.
 */
export function registerPolicies(app: FastifyInstance): void {
  const routes: RouteOptions[] = []
  app.addHook('onRoute', (route) => {
    routes.push(route)
    // Such a route reads the body before it knows the caller.
    if (route.config?.access === 'open') route.bodyLimit ??= STRANGERS_BODY_BYTES
    if (route.schema && route.schema.security === undefined) {
      const { access, basic } = route.config ?? {}
      if (access === 'open') route.schema.security = []
      else if (access === 'admin' && basic) route.schema.security = [KEY, BASIC]
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
        access: config!.openToScrapes ? 'open' : config!.access!,
        confined: config!.confined !== undefined,
        basic: config!.basic === true,
        unaudited: config!.unaudited,
      })),
    ),
  )
}
