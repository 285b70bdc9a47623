import { timingSafeEqual } from 'node:crypto'
import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify'
import { createBoundedMap } from '../../base/bounded-map.js'
import type { Limiter } from '../../base/limiter.js'
import type { Key } from '../../core/accounts/account.js'
import type { LimitedAccount } from '../../core/accounts/budgets.js'
import type { ConsoleSession } from '../../core/accounts/console-session.js'
import { harmsOf, INIT } from '../../core/accounts/harmless.js'
import type { Token } from '../../core/accounts/token.js'
import { AppError } from '../../core/errors.js'
import { hashSecret } from '../../services/accounts/accounts.js'
import { noteUse } from '../../services/accounts/console-sessions.js'
import { DEFAULT_WORLD } from '../../services/accounts/default-world.js'
import { KEEP_ENTRIES, KEEP_MS } from '../../services/accounts/directory.js'
import type { Ctx } from '../../services/ctx.js'
import type { Actor } from '../../services/messages/outbound.js'
import { type Credentials, credentialsOf } from './credentials.js'
import { developmentKeysRefused, isFromThisMachine } from './development-keys.js'

/** The caller. An admin acts for no account; a token may be confined to some lines of its account. */
export type Principal = AccountPrincipal | { kind: 'admin'; key: Key | null; session: ConsoleSession | null }

export interface AccountPrincipal extends Actor {
  kind: 'account'
  account: LimitedAccount
  /** The key, or the key that created the token. */
  key: Key
  token: Token | null
  /** The console session that holds the key. */
  session: ConsoleSession | null
}

/** Who may call a route. A live key belongs to the live account: neither a test key nor a token. */
export type Access = 'account' | 'live key' | 'admin' | 'any' | 'open'

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access
    /** Set where confined tokens are allowed: the route limits them to their lines. */
    confined?: 'to its lines'
    /** Set where a key may also be sent as HTTP Basic, id and secret as user and password. */
    basic?: boolean
    /** Set where Prometheus needs no key: on its port, and on this machine while no proxy can be in front. */
    openToScrapes?: boolean
    /** Set where callers do not know our rules: path and query are not checked. */
    verbatim?: boolean
  }
  interface FastifyRequest {
    principal: Principal | null
  }
}

const NO_HASH = hashSecret('')

export interface Authenticator {
  /** The caller, if these credentials were checked recently. Synchronous. */
  recent(request: FastifyRequest, route: RouteConfig): Principal | undefined
  authenticate(request: FastifyRequest, route: RouteConfig): Promise<Principal>
  /** Checks a key from the body of a request. */
  checkKey(request: FastifyRequest, id: string, secret: string): Promise<Principal>
  /** The caller behind a cookie, while one of the session's keys works for this request. */
  principalBehind(
    request: FastifyRequest,
    cookie: { id: string; secret: string },
  ): Promise<Principal | undefined>
}

type RouteConfig = Pick<FastifyContextConfig, 'access' | 'basic'>

/**
 * Checks keys and tokens. Missing, unknown and wrong credentials get the same answer after the same work: one
 * look-up, one hash, one comparison. Valid credentials are cached as long as entries of the directory, and then only
 * compared.
 */
export function createAuthenticator(ctx: Ctx, failures: Limiter): Authenticator {
  type CheckedCredentials = { secret: Buffer; principal: Principal; version: number }
  const keep = () => createBoundedMap<string, CheckedCredentials>(KEEP_ENTRIES, KEEP_MS)
  const verified = { key: keep(), token: keep(), session: keep() }
  return {
    recent(request, { access, basic = false }) {
      const shown = credentialsOf(request, basic)
      const known = verified[shown.kind].get(nameOf(shown, access), performance.now())
      if (known?.version !== ctx.directory.version()) return undefined
      const secret = Buffer.from(shown.secret, 'latin1')
      if (secret.length !== known.secret.length) return undefined
      if (!timingSafeEqual(secret, known.secret)) return undefined
      return hasExpired(ctx, known.principal) ? undefined : known.principal
    },
    async authenticate(request, { access, basic = false }) {
      const shown = credentialsOf(request, basic)
      const version = ctx.directory.version()
      const at = performance.now()
      const principal = await check(ctx, shown, access)
      if (!principal) throw refusal(ctx, failures, request, shown)
      const secret = Buffer.from(shown.secret, 'latin1')
      verified[shown.kind].set(nameOf(shown, access), { secret, principal, version }, at)
      return principal
    },
    async checkKey(request, id, secret) {
      const shown = { kind: 'key', id, secret } as const
      const principal = await check(ctx, shown, 'any')
      if (!principal) throw refusal(ctx, failures, request, shown)
      const refused = refusedHere(ctx, request, principal)
      if (refused) throw refused
      return principal
    },
    async principalBehind(request, cookie) {
      const principal = await check(ctx, { kind: 'session', ...cookie }, 'any')
      return principal && !refusedHere(ctx, request, principal) ? principal : undefined
    },
  }
}

/** The cache key. A session uses its admin key on routes for admins. */
function nameOf({ kind, id }: Credentials, access: Access | undefined): string {
  return kind === 'session' && access === 'admin' ? `${id} admin` : id
}

async function check(
  ctx: Ctx,
  shown: Credentials,
  access: Access | undefined,
): Promise<Principal | undefined> {
  const found = await ctx.directory[shown.kind](shown.id)
  const right = timingSafeEqual(
    Buffer.from(hashSecret(shown.secret), 'latin1'),
    Buffer.from(found?.secretHash ?? NO_HASH, 'latin1'),
  )
  if (!right || !found || shown.secret === '') return undefined
  const token = 'token' in found ? found.token : null
  const session = 'session' in found ? found.session : null
  // A token or session works only while its key works.
  const key = 'key' in found ? found.key : await keyBehind(ctx, found, access)
  if (!key) return undefined
  if (session) noteUse(ctx, session)
  if (key.kind === 'admin') return unlessExpired(ctx, { kind: 'admin', key, session })
  const account = await ctx.directory.account(key.accountId!)
  if (!account) return undefined
  const numbers = token?.numbers ? new Set(token.numbers) : null
  return unlessExpired(ctx, { kind: 'account', account, key, token, session, numbers })
}

/** The key that created a token; for a session, the key to use on this route. */
async function keyBehind(
  ctx: Ctx,
  found: { token: Token } | { session: ConsoleSession },
  access: Access | undefined,
): Promise<Key | undefined> {
  if ('token' in found) return (await ctx.directory.key(found.token.keyId))?.key
  const { accountKeyId, adminKeyId } = found.session
  for (const id of access === 'admin' ? [adminKeyId, accountKeyId] : [accountKeyId, adminKeyId]) {
    const held = id === null ? undefined : await ctx.directory.key(id)
    if (held) return held.key
  }
  return undefined
}

function unlessExpired(ctx: Ctx, principal: Principal): Principal | undefined {
  return hasExpired(ctx, principal) ? undefined : principal
}

function hasExpired(ctx: Ctx, principal: Principal): boolean {
  const now = ctx.clock.now()
  if ((principal.key?.expiresAt ?? Number.POSITIVE_INFINITY) <= now) return true
  if (principal.session) return principal.session.expiresAt <= Date.now()
  return principal.kind === 'account' && principal.token !== null && principal.token.expiresAt <= now
}

function refusal(ctx: Ctx, failures: Limiter, request: FastifyRequest, shown: Credentials): AppError {
  ctx.metrics.authFailures.inc()
  const wait = failures.take(request.ip)
  if (wait === 0)
    return new AppError('unauthorized', isDevelopmentKey(shown) ? NO_DEVELOPMENT_KEYS : 'Unauthorized')
  return new AppError(
    'rate_limited',
    'Too many failed attempts from this address; wait and check your keys',
    { retryAfterMs: wait },
  )
}

const NO_DEVELOPMENT_KEYS = `Unauthorized: the development keys do not work on this server. They end when it can be reached from outside or has a line that reaches real phones. Create your own keys with: ${INIT}`

function isDevelopmentKey({ id, secret }: Credentials): boolean {
  return Object.values(DEFAULT_WORLD.keys).some((key) => key.id === id && key.secret === secret)
}

/**
 * Authenticates every request. The hook calls back instead of returning a promise because every request passes it.
 * Returns a function that checks whether the caller of an open request, such as a stream, still has access.
 */
export function registerAuthentication(
  app: FastifyInstance,
  ctx: Ctx,
  authenticator: Authenticator,
  localAdmin: boolean,
): (request: FastifyRequest) => Promise<boolean> {
  app.decorateRequest('principal', null)
  app.addHook('onRequest', (request, _reply, done) => {
    const { config } = request.routeOptions
    const { access, confined } = config
    if (access === undefined || access === 'open') return done()
    if (config.openToScrapes && isOpenScrape(app, ctx, request)) return done()
    const enter = (principal: Principal): void => {
      if (principal.kind === 'account' && principal.account.emptying !== null)
        return void whenOpen(ctx, principal).then(enter, done)
      request.principal = principal
      done(refusedHere(ctx, request, principal) ?? refusalOf(principal, access, confined !== undefined))
    }
    if (localAdmin) return enter({ kind: 'admin', key: null, session: null })
    const recent = authenticator.recent(request, config)
    if (recent) enter(recent)
    else authenticator.authenticate(request, config).then(enter, done)
  })
  return async (request) => {
    const { config } = request.routeOptions
    const { access, confined } = config
    if (localAdmin || access === undefined || access === 'open') return true
    try {
      const recent = authenticator.recent(request, config)
      const principal = recent ?? (await authenticator.authenticate(request, config))
      request.principal = principal
      return (
        (refusedHere(ctx, request, principal) ?? refusalOf(principal, access, confined !== undefined)) ===
        undefined
      )
    } catch (error) {
      if (error instanceof AppError) return false
      throw error
    }
  }
}

/** A proxy on this machine may leave no trace in a request, so settings that announce one close the port of the API. */
function isOpenScrape(app: FastifyInstance, { config }: Ctx, request: FastifyRequest): boolean {
  if (app.metricsPort.has(request)) return true
  const isPrivate = harmsOf({ ...config, hasRealLines: false }).length === 0 && config.trustProxy.length === 0
  return isPrivate && config.metricsPort === null && isFromThisMachine(request)
}

/** How long a request waits while the world of its account is emptied. */
const PATIENCE_MS = 10_000
const LOOK_AGAIN_MS = 50

/** The caller once the world of its account is no longer being emptied. */
async function whenOpen(ctx: Ctx, principal: AccountPrincipal): Promise<AccountPrincipal> {
  for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; ) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS))
    const account = await ctx.directory.account(principal.account.id)
    if (!account) throw new AppError('unauthorized', 'Unauthorized')
    if (account.emptying === null) return { ...principal, account }
  }
  throw new AppError('unavailable', 'This world is large and is still being reset. Repeat the request.', {
    retryAfterMs: 1000,
  })
}

/** The published development keys are refused for some requests. */
function refusedHere(ctx: Ctx, request: FastifyRequest, { key }: Principal): AppError | undefined {
  return key?.wellKnown ? developmentKeysRefused(request, ctx) : undefined
}

/** Why the route refuses this caller, if it does. */
function refusalOf(principal: Principal, access: Access, confined: boolean): AppError | undefined {
  if (access === 'admin' && principal.kind !== 'admin')
    return new AppError('forbidden', 'This needs an admin key')
  if (access === 'account' && principal.kind !== 'account')
    return new AppError('forbidden', 'This needs a key of an account; an admin key has no account')
  if (access === 'live key' && !isLiveKey(principal))
    return new AppError('forbidden', 'This needs a live key of the account; test keys and tokens are refused')
  if (principal.kind === 'account' && principal.numbers && !confined)
    return new AppError('forbidden', 'This token is confined to some lines and cannot use this route')
  return undefined
}

function isLiveKey(principal: Principal): boolean {
  return principal.kind === 'account' && principal.token === null && principal.account.world === 'live'
}

/** The account behind a request on a route with `access: 'account'` or `'live key'`. */
export function accountOf(request: FastifyRequest): LimitedAccount {
  return actorOf(request).account
}

/** The account behind a request, with the lines that its token is confined to. */
export function actorOf(request: FastifyRequest): AccountPrincipal {
  if (request.principal?.kind !== 'account') throw new AppError('forbidden', 'This needs a key of an account')
  return request.principal
}
