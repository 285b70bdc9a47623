import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { AppError } from '../../core/errors.js'
import type { Routes } from '../http/routes.js'
import { errorDictionaryPage } from './error-dictionary.js'

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

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Trunkline API</title>
    <link rel="icon" href="/docs/static/favicon-32x32.png" />
    <link rel="stylesheet" href="/docs/static/swagger-ui.css" />
    <link rel="stylesheet" href="/docs/static/index.css" />
    <style>html.dark-mode { color-scheme: dark } html.dark-mode body { background: #1c2022 } html.dark-mode .swagger-ui .header-col { color: #e4e6e6 }</style>
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="/docs/static/swagger-ui-bundle.js"></script>
    <script src="/docs/static/begin.js"></script>
  </body>
</html>
`
const BEGIN = `const dark = matchMedia('(prefers-color-scheme: dark)')
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
follow()
dark.addEventListener('change', follow)
window.ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#swagger-ui',
  docExpansion: 'list',
  deepLinking: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
})
`
const TYPES: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  png: 'image/png',
}
const FILES = ['swagger-ui.css', 'index.css', 'swagger-ui-bundle.js', 'favicon-32x32.png']

/**
 * The reference page: the API document in Swagger UI, without external resources. The files of the package are read on
 * demand; its Fastify plugin would add 50 ms to every start.
 */
export function registerDocs(app: Routes): void {
  const config = { access: 'open' as const }
  const hidden = { hide: true }
  const page = async (_request: unknown, reply: FastifyReply) =>
    harden(reply).type('text/html; charset=utf-8').send(PAGE)
  app.get('/docs', { config, schema: hidden }, page)
  app.get('/docs/', { config, schema: hidden }, page)
  app.get('/docs/errors', { config, schema: hidden }, async (_request, reply) =>
    harden(reply).type('text/html; charset=utf-8').send(errorDictionaryPage()),
  )
  app.get(
    '/docs/static/:file',
    { config, schema: { ...hidden, params: Type.Object({ file: Type.String() }) } },
    async ({ params: { file } }, reply) => {
      const type = TYPES[file.split('.').at(-1)!]
      harden(reply)
        .type(type ?? 'text/plain')
        .header('cache-control', 'public, max-age=3600')
      if (file === 'begin.js') return reply.send(BEGIN)
      if (!FILES.includes(file)) throw new AppError('not_found', 'There is no such file')
      return reply.send(await readFile(join(folder(), file)))
    },
  )
}

function folder(): string {
  return join(dirname(createRequire(import.meta.url).resolve('@fastify/swagger-ui')), 'static')
}

function harden(reply: FastifyReply): FastifyReply {
  return reply.header('content-security-policy', CSP).header('referrer-policy', 'no-referrer')
}
