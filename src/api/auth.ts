import { timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { isLoopback } from '../config.js'
import type { Account, Key } from '../core/account.js'
import { AppError } from '../core/errors.js'
import type { Ctx } from '../ctx.js'
import { hashSecret } from '../services/accounts.js'
import { KEEP_ENTRIES, KEEP_MS } from '../services/directory.js'
import type { Actor } from '../services/outbound.js'
import type { Limiter } from './limits.js'

/** Who is asking. An admin acts for no account; a token may be confined to some lines of its account. */
export type Principal = (Actor & { kind: 'account'; key: Key | null }) | { kind: 'admin'; key: Key | null }

/** What a route asks of its caller. */
export type Access = 'account' | 'admin' | 'any' | 'open'

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access
    /** Set where a token that is confined to some lines may come in: the route keeps it to those. */
    confined?: 'to its lines'
    /** Set where HTTP Basic counts too. */
    basic?: true
  }
  interface FastifyRequest {
    principal: Principal | null
  }
}

const NO_HASH = hashSecret('')

export interface Authenticator {
  /** Who is asking, when the same credentials were checked a moment ago; without a wait. */
  recent(request: FastifyRequest): Principal | undefined
  authenticate(request: FastifyRequest): Promise<Principal>
}

/**
 * Checks the two key headers. Missing, unknown and wrong credentials get the same answer after the same work:
 * one look-up, one hash, one comparison. Right ones are remembered as long as the directory keeps anything, and
 * are then only compared.
 */
export function createAuthenticator(ctx: Ctx, failures: Limiter): Authenticator {
  const verified = new Map<string, { secret: Buffer; principal: Principal; at: number; version: number }>()
  return {
    recent(request) {
      const known = verified.get(header(request, 'sb-api-key-id'))
      if (!known) return undefined
      const fresh = performance.now() - known.at < KEEP_MS && known.version === ctx.directory.version()
      const secret = Buffer.from(header(request, 'sb-api-secret-key'), 'latin1')
      if (!fresh || secret.length !== known.secret.length) return undefined
      return timingSafeEqual(secret, known.secret) ? known.principal : undefined
    },
    async authenticate(request) {
      const id = header(request, 'sb-api-key-id')
      const secret = header(request, 'sb-api-secret-key')
      const version = ctx.directory.version()
      const at = performance.now()
      const principal = await check(ctx, id, secret)
      if (!principal) throw refusal(ctx, failures, request)
      if (verified.size >= KEEP_ENTRIES) verified.clear()
      verified.set(id, { secret: Buffer.from(secret, 'latin1'), principal, at, version })
      return principal
    },
  }
}

async function check(ctx: Ctx, id: string, secret: string): Promise<Principal | undefined> {
  const found = await ctx.directory.key(id)
  const right = timingSafeEqual(
    Buffer.from(hashSecret(secret), 'latin1'),
    Buffer.from(found?.secretHash ?? NO_HASH, 'latin1'),
  )
  const usable = found && !(found.key.wellKnown && !isLoopback(ctx.config.host))
  if (!right || !usable || secret === '') return undefined
  const { key } = found
  if (key.kind === 'admin') return { kind: 'admin', key }
  const account = await ctx.directory.account(key.accountId!)
  return account && { kind: 'account', account, key, numbers: null }
}

function refusal(ctx: Ctx, failures: Limiter, request: FastifyRequest): AppError {
  ctx.metrics.authFailures.inc()
  const wait = failures.take(request.ip)
  if (wait === 0) return new AppError('unauthorized', 'Unauthorized')
  return new AppError(
    'rate_limited',
    'Too many failed attempts from this address; wait and check your keys',
    { retryAfterMs: wait },
  )
}

/** Why this caller may not come in here, if so. */
export function refusalOf(principal: Principal, access: Access, confined: boolean): AppError | undefined {
  if (access === 'admin' && principal.kind !== 'admin')
    return new AppError('forbidden', 'This needs an admin key')
  if (access === 'account' && principal.kind !== 'account')
    return new AppError('forbidden', 'This needs a key of an account; an admin key belongs to none')
  if (principal.kind === 'account' && principal.numbers && !confined)
    return new AppError('forbidden', 'This token is confined to some lines and cannot do that')
  return undefined
}

/** A header that came twice is no credential: which of the two would count? */
function header(request: FastifyRequest, name: string): string {
  const value = request.headers[name]
  if (typeof value !== 'string' || value.length > 512) return ''
  return value
}

/** The account behind a request on a route with `access: 'account'`. */
export function accountOf(request: FastifyRequest): Account {
  if (request.principal?.kind !== 'account') throw new AppError('forbidden', 'This needs a key of an account')
  return request.principal.account
}

/** The same with the lines a token confines it to. */
export function actorOf(request: FastifyRequest): Actor {
  if (request.principal?.kind !== 'account') throw new AppError('forbidden', 'This needs a key of an account')
  return request.principal
}
