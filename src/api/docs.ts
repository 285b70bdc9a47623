import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'

const CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The reference page: the API document, readable and to try out, without anything from elsewhere. */
export async function registerDocs(app: FastifyInstance): Promise<void> {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, access: 'open' }
  })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: CSP,
    uiConfig: {
      docExpansion: 'list',
      deepLinking: true,
      displayRequestDuration: true,
      persistAuthorization: false,
      tryItOutEnabled: true,
    },
    theme: { title: 'Trunkline API' },
  })
}
