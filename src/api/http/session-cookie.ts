import type { FastifyReply, FastifyRequest } from 'fastify'
import { parseUrl } from '../../base/parse-url.js'
import { parseSessionText, SESSION_LIFE_MS } from '../../core/accounts/console-session.js'

/** The console's cookie, and what a request must show beside it. */

const NAME = 'trunkline_session'
/** A page of another site cannot set it without asking first, and nobody answers that question. */
export const CONSOLE_HEADER = 'x-trunkline-console'

/** The session a request of the console stands for. Without the console's header the cookie counts for nothing. */
export function sessionOf(request: FastifyRequest): { id: string; secret: string } | undefined {
  return isFromConsole(request) ? parseSessionText(cookieOf(request)) : undefined
}

/** Whether a page of ours asks: browsers say where a request comes from, and pages cannot change that. */
export function isFromConsole({ headers, host }: FastifyRequest): boolean {
  if (headers[CONSOLE_HEADER] !== '1') return false
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin') return false
  const { origin } = headers
  return origin === undefined || parseUrl(origin)?.host === host
}

/** A cookie that came twice is none: which of the two would count? */
function cookieOf(request: FastifyRequest): string {
  const header = request.headers.cookie
  if (typeof header !== 'string' || header.length > 8192) return ''
  const values = header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${NAME}=`))
  return values.length === 1 ? values[0]!.slice(NAME.length + 1) : ''
}

export function setCookie(request: FastifyRequest, reply: FastifyReply, text: string): void {
  reply.header('set-cookie', cookie(request, text, SESSION_LIFE_MS / 1000))
}

export function clearCookie(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('set-cookie', cookie(request, '', 0))
}

function cookie(request: FastifyRequest, value: string, maxAge: number): string {
  // Behind a proxy that ends TLS only the proxy knows. Lying about it changes nobody's cookie but one's own.
  const isHttps = request.protocol === 'https' || request.headers['x-forwarded-proto'] === 'https'
  const secure = isHttps ? '; Secure' : ''
  return `${NAME}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure}`
}
