import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createLimiter } from '../../base/limiter.js'
import type { AuditEntry } from '../../core/audit/audit.js'
import { createAuditTrail } from '../../services/audit/audit.js'
import type { Ctx } from '../../services/ctx.js'
import { findSeat } from '../../storage/accounts/accounts.js'
import type { Principal } from '../http/auth.js'
import { SEAT_HEADER } from '../http/session-cookie.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Why a route that is no GET writes no audit log: it is part of a message's life, or changes nothing. */
    unaudited?: 'message' | 'read-only'
  }
  interface FastifyRequest {
    /** The change that this request makes, once it has begun. */
    change: { id: string; at: number; seatId: string | null } | null
    /** The id of the object that the answer shows. */
    shown: string | null
  }
}

/** Refused requests of one key that the log keeps for each minute: nobody can fill the log without a right. */
const REFUSALS_A_MINUTE = 60
const MAX_TEXT = 200

/** Whether a route writes the audit log: everything but reads does, unless the route says otherwise. */
export function isAudited(method: string, unaudited: string | undefined): boolean {
  return unaudited === undefined && !['GET', 'HEAD', 'OPTIONS'].includes(method)
}

/**
 * Writes the audit log for every route that changes something. The row begins before the handler runs and is complete
 * before the answer leaves. Hooks are added to these routes only, so that other requests pay nothing.
 */
export function registerAudit(app: FastifyInstance, ctx: Ctx): void {
  const trail = createAuditTrail(ctx)
  const refusals = createLimiter(REFUSALS_A_MINUTE, 60_000, Date.now)
  app.decorateRequest('change', null)
  app.decorateRequest('shown', null)

  const begin = async (request: FastifyRequest) => {
    // An open route, such as signing in, knows nobody yet: only its success is recorded.
    if (!request.principal) return
    const began = { at: Date.now(), seatId: await seatOf(ctx, request, request.principal) }
    const id = await trail.begin(entryOf(request, request.principal, began, null))
    request.change = { id, ...began }
    ctx.failpoint('audit.begun')
  }
  const look = async (request: FastifyRequest, _reply: FastifyReply, payload: unknown) => {
    request.shown = idIn(payload) ?? null
    return payload
  }
  const end = async (request: FastifyRequest, reply: FastifyReply, payload: unknown) => {
    const { principal, change } = request
    const { statusCode } = reply
    if (!principal || !(change || isWorthKeeping(principal, statusCode))) return payload
    ctx.failpoint('audit.changed')
    try {
      const began = change ?? { at: Date.now(), seatId: null }
      await trail.end(change?.id, entryOf(request, principal, began, statusCode))
    } catch (error) {
      // The change was made and its beginning is stored: `endLostChanges` appends it later.
      ctx.log.error(
        { err: error, req: request.id },
        'the end of a change could not be written to the audit log',
      )
    }
    return payload
  }
  const isWorthKeeping = ({ key }: Principal, status: number) =>
    status < 400 || (status === 403 && refusals.take(key?.id ?? '') === 0)

  app.addHook('onRoute', (route) => {
    if (![route.method].flat().some((method) => isAudited(method, route.config?.unaudited))) return
    route.preHandler = [begin, ...listOf(route.preHandler)]
    route.preSerialization = [...listOf(route.preSerialization), look]
    route.onSend = [...listOf(route.onSend), end]
  })
}

function listOf<T>(hooks: T | T[] | undefined): T[] {
  return hooks === undefined ? [] : ([hooks].flat() as T[])
}

function entryOf(
  request: FastifyRequest,
  principal: Principal,
  { at, seatId }: Pick<AuditEntry, 'at' | 'seatId'>,
  status: number | null,
): AuditEntry {
  const { key, session } = principal
  const token = principal.kind === 'account' ? principal.token : null
  const isLocal = key === null
  return {
    at,
    actor: session ? 'console' : token ? 'token' : isLocal ? 'cli' : 'key',
    actorId: session?.id ?? token?.id ?? key?.id ?? null,
    keyId: key?.id ?? null,
    accountId: principal.kind === 'account' ? principal.account.id : null,
    seatId,
    address: isLocal ? null : request.ip.slice(0, MAX_TEXT),
    forwardedFor: isLocal ? null : forwardedFor(request),
    action: `${request.method} ${request.routeOptions.url}`,
    object: objectOf(request, status),
    fields: fieldsOf(request),
    status,
  }
}

/** The seat that the person at the console chose. A key does not say who holds it, so this is the person's own word. */
async function seatOf(ctx: Ctx, { headers }: FastifyRequest, principal: Principal): Promise<string | null> {
  const named = headers[SEAT_HEADER]
  const keyId = principal.session?.accountKeyId
  if (typeof named !== 'string' || !keyId) return null
  const accountId =
    principal.kind === 'account' ? principal.account.id : (await ctx.directory.key(keyId))?.key.accountId
  return (accountId && (await findSeat(ctx.db, accountId, named))?.id) || null
}

function forwardedFor({ headers }: FastifyRequest): string | null {
  const claims = [headers.forwarded, headers['x-forwarded-for'], headers['x-real-ip']].flat()
  return claims.find((one) => one !== undefined)?.slice(0, MAX_TEXT) ?? null
}

/** The ids in the path, and the id of what was created. */
function objectOf(request: FastifyRequest, status: number | null): string | null {
  const ids = Object.values(request.params as Record<string, string>)
  const named = request.method === 'POST' && status !== null && status < 300 ? request.shown : null
  const created = named ?? (ids.length === 0 ? idIn(request.body) : undefined)
  if (created !== undefined && !ids.includes(created)) ids.push(created)
  return ids.length === 0 ? null : ids.join('/').slice(0, MAX_TEXT)
}

const IDS = ['id', 'token_id', 'sid', 'group_id', 'phone_number', 'phone', 'number', 'conversation']

/** The id of an object, or of the object in it. */
function idIn(body: unknown, isInner = false): string | undefined {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined
  const fields = body as Record<string, unknown>
  const id = IDS.map((name) => fields[name]).find((value) => typeof value === 'string' && value !== '')
  if (id !== undefined || isInner) return id as string | undefined
  return Object.values(fields)
    .map((value) => idIn(value, true))
    .find((one) => one !== undefined)
}

/** Names of the fields that the request gave and its schema knows: a name of the caller's own could be content. */
function fieldsOf({ body, routeOptions }: FastifyRequest): string | null {
  const known = (routeOptions.schema?.body as { properties?: object } | undefined)?.properties
  if (!known || typeof body !== 'object' || body === null) return null
  const given = Object.keys(known).filter((name) => (body as Record<string, unknown>)[name] !== undefined)
  return given.length === 0 ? null : given.join(' ')
}
