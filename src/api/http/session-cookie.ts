import type { FastifyReply, FastifyRequest } from 'fastify'
import { parseUrl } from '../../base/parse-url.js'
import { parseSessionText, SESSION_LIFE_MS } from '../../core/accounts/console-session.js'

/** The session cookie of the console, and the checks that go with it. */

const NAME = 'trunkline_session'
/** Pages of other sites cannot send this header: the browser asks for permission first, and the server gives none. */
export const CONSOLE_HEADER = 'x-trunkline-console'
/** The seat of the person at the console, for the audit log. */
export const SEAT_HEADER = 'x-trunkline-seat'

/** The session of a console request. Without the console's header the cookie is ignored. */
export function sessionOf(request: FastifyRequest): { id: string; secret: string } | undefined {
  return isFromConsole(request) ? parseSessionText(cookieOf(request)) : undefined
}

/** Whether a page of the console sent the request: browsers state the origin, and pages cannot change it. */
export function isFromConsole({ headers, host }: FastifyRequest): boolean {
  if (headers[CONSOLE_HEADER] !== '1') return false
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin') return false
  const { origin } = headers
  return origin === undefined || parseUrl(origin)?.host === host
}

/** A repeated cookie counts as absent. */
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
  // Behind a proxy that ends TLS, only its header tells. A client that forges it affects only its own cookie.
  const isHttps = request.protocol === 'https' || request.headers['x-forwarded-proto'] === 'https'
  const secure = isHttps ? '; Secure' : ''
  return `${NAME}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure}`
}
