import type { FastifyReply, FastifyRequest } from 'fastify'
import { maskBody, maskMessage, textsIn } from '../../core/requests/mask.js'
import { ADMINS, STRANGERS } from '../../core/requests/request.js'
import type { Ctx } from '../../services/ctx.js'
import type { Authenticator, Principal } from '../http/auth.js'

type Recorder = (request: FastifyRequest, reply: FastifyReply, payload: unknown) => void

/** Paths of API calls. Other paths are pages, health, or themselves secrets, such as those of media and callbacks. */
const API = /^\/(api|accounts?|v3|admin|sim)(\/|\?|$)/

/** Bodies of these routes are secrets. */
const SECRET = /totp|\/auth\/tokens|\/signing-secret/

/** Larger bodies are not looked into. */
const MAX_LOOKED_INTO = 64 * 1024

/** Puts answered calls into the request log. Undefined if there is no log. Every request passes it. */
export function createRecorder(ctx: Ctx, authenticator: Authenticator): Recorder | undefined {
  if (ctx.config.requestDays === 0) return undefined
  return (request, reply, payload) => {
    const { url, config } = request.routeOptions
    if (url === undefined ? !API.test(request.url) : config.access === 'open' || config.openToScrapes) return
    const principal = request.principal ?? (url === undefined ? callerOf(authenticator, request) : null)
    // The console looks every few seconds; its reads would hide the calls of programs.
    if (principal?.session && request.method === 'GET') return
    // A command that works on the database itself calls no server.
    if (principal?.key === null) return
    const account = principal?.kind === 'account' ? principal.account : null
    const now = Date.now()
    const tookMs = request.readAt === 0 ? 0 : performance.now() - request.readAt
    const hasBodies = account !== null && account.bodiesUntil !== null && account.bodiesUntil > now
    const { fault } = request
    ctx.requestLog.note({
      accountId: account ? account.id : principal ? ADMINS : STRANGERS,
      at: Math.round(now - tookMs),
      id: request.id,
      method: request.method,
      url: short(request.url),
      status: reply.statusCode,
      keyId: principal ? principal.key.id : null,
      durationUs: Math.round(tookMs * 1000),
      errorCode: fault ? fault.code : null,
      errorMessage: fault ? maskMessage(fault.message, valuesOf(request)) : null,
      ignored: request.ignored,
      requestBody: hasBodies ? requestBody(request) : null,
      responseBody: hasBodies ? responseBody(request, payload) : null,
    })
  }
}

/** Longer than any path that is shown. */
const MAX_URL = 512

/** Copied, because a slice would keep the whole text in memory. */
function short(url: string): string {
  return url.length <= MAX_URL ? url : Buffer.from(url.slice(0, MAX_URL)).toString()
}

/** Who called a path that does not exist: such a call is answered before its key is checked. */
function callerOf(authenticator: Authenticator, request: FastifyRequest): Principal | null {
  return authenticator.recent(request, { access: 'any' }) ?? null
}

/** Texts that came with the request: an error message may repeat them. */
function* valuesOf({ params, query, body }: FastifyRequest): Generator<string> {
  yield* textsIn(params)
  for (const text of textsIn(query)) {
    yield text
    yield* text.split(/[,:\s]+/)
  }
  yield* textsIn(body)
}

function requestBody({ url, rawBody, headers }: FastifyRequest): string | null {
  if (!rawBody || rawBody.length === 0) return null
  if (SECRET.test(url)) return NOT_KEPT
  if (rawBody.length > MAX_LOOKED_INTO) return `(${rawBody.length} bytes)`
  const text = rawBody.toString('utf8')
  const isForm = headers['content-type']?.startsWith('application/x-www-form-urlencoded')
  const json = isForm ? JSON.stringify(Object.fromEntries(new URLSearchParams(text))) : text
  return maskBody(json) ?? `(${rawBody.length} bytes that are not JSON)`
}

const NOT_KEPT = '(not kept: it may hold secrets)'

function responseBody({ url }: FastifyRequest, payload: unknown): string | null {
  if (typeof payload !== 'string' || payload === '') return null
  if (SECRET.test(url)) return NOT_KEPT
  if (payload.length > MAX_LOOKED_INTO) return `(${payload.length} characters)`
  return maskBody(payload) ?? null
}
