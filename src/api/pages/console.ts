import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../core/errors.js'
import type { Routes } from '../http/routes.js'

/** The built files of the console, read on demand. */

const CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "media-src 'self' blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  // No code of the console turns text into markup or script, and none may begin to.
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const TYPES: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  woff2: 'font/woff2',
}
/** Never cached: a new build has other assets. */
const PAGE = 'index.html'
const PLAIN = ['html', 'js', 'css', 'svg']

interface File {
  bytes: Buffer
  zipped: Buffer | null
  type: string
}

const zip = promisify(gzip)

export function registerConsole(app: Routes): void {
  const files = new Map<string, Promise<File | undefined>>()
  const fileAt = (name: string) => {
    if (name === PAGE) return load(name)
    const file = files.get(name) ?? load(name)
    files.set(name, file)
    // A missing file may be built later.
    void file.then((found) => found ?? files.delete(name))
    return file
  }

  async function serve(request: FastifyRequest, reply: FastifyReply) {
    const path = (request.params as { '*'?: string })['*'] ?? ''
    const isAsset = /^(assets\/)?[\w-]+(\.[\w-]+)*\.[a-z0-9]{2,5}$/i.test(path)
    const file = await fileAt(isAsset ? path : PAGE)
    if (!file)
      throw new AppError(
        'not_found',
        isAsset ? 'There is no such file' : 'The console is not built here. Run "npm run build".',
      )
    harden(reply)
    // The name of an asset contains a hash of its content; every other path shows the page of the newest build.
    reply.header(
      'cache-control',
      path.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-store',
    )
    reply.header('vary', 'accept-encoding')
    reply.type(file.type)
    if (!file.zipped || !/\bgzip\b/.test(request.headers['accept-encoding'] ?? ''))
      return reply.send(file.bytes)
    return reply.header('content-encoding', 'gzip').send(file.zipped)
  }

  const config = { access: 'open' as const }
  const schema = { hide: true }
  app.get('/console', { config, schema }, serve)
  app.get('/console/*', { config, schema }, serve)
  app.get('/', { config, schema }, async (_request, reply) => reply.redirect('/console/', 302))
}

/** Beside the compiled file, or in the build folder when this runs from source. */
function folder(): URL {
  const beside = new URL('../../console/', import.meta.url)
  return existsSync(new URL(PAGE, beside)) ? beside : new URL('../../../dist/console/', import.meta.url)
}

async function load(name: string): Promise<File | undefined> {
  const bytes = await readFile(new URL(name, folder())).catch(() => undefined)
  if (!bytes) return undefined
  const extension = name.slice(name.lastIndexOf('.') + 1)
  const zipped = PLAIN.includes(extension) ? await zip(bytes) : null
  return { bytes, zipped, type: TYPES[extension] ?? 'application/octet-stream' }
}

function harden(reply: FastifyReply): void {
  reply.header('content-security-policy', CSP)
  reply.header('referrer-policy', 'no-referrer')
  reply.header('cross-origin-opener-policy', 'same-origin')
  reply.header('cross-origin-resource-policy', 'same-origin')
}
