import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import { VERSION } from '../../base/version.js'
import type { Account, Key } from '../../core/accounts/account.js'
import type { ConsoleSession } from '../../core/accounts/console-session.js'
import { AppError } from '../../core/errors.js'
import { closeSession, openSession } from '../../services/accounts/console-sessions.js'
import { isDefaultWorld } from '../../services/accounts/default-world.js'
import type { Ctx } from '../../services/ctx.js'
import type { Authenticator } from '../http/auth.js'
import { developmentKeysRefused } from '../http/development-keys.js'
import { type Routes, routesOf } from '../http/routes.js'
import { boolean, nullable, string } from '../http/schemas.js'
import { clearCookie, isFromConsole, sessionOf, setCookie } from '../http/session-cookie.js'

const route = routesOf('Console', { access: 'open' })

/** Signing in to the console with a key. */

const HeldKey = Type.Object(
  {
    id: string('The key'),
    kind: string('live, test or admin'),
    label: string('Label'),
  },
  { title: 'SessionKey' },
)

const SessionWire = Type.Object(
  {
    signed_in: boolean('Whether the cookie belongs to a session with a valid key'),
    account: Type.Unsafe<{ id: string; email: string; name: string } | null>({
      type: ['object', 'null'],
      description: 'The account of the key; null without an account key',
      properties: {
        id: { type: 'string', description: 'Id' },
        email: { type: 'string', description: 'Account identifier' },
        name: { type: 'string', description: 'Name' },
      },
    }),
    world: nullable('string', 'live or test; null without an account'),
    simulated: boolean('Whether the account has virtual phones'),
    keys: Type.Array(HeldKey, {
      description: 'Keys of the session: at most one account key and one admin key',
    }),
    expires_at: nullable('string', 'When the session expires'),
    development: boolean('Whether the development keys are accepted here'),
    version: string('Version of Trunkline'),
  },
  { title: 'ConsoleSession' },
)

export function registerConsoleSession(app: Routes, ctx: Ctx, authenticator: Authenticator): void {
  app.get(
    '/console/session',
    route({
      operationId: 'getSession',
      summary: 'Who is signed in to the console',
      description: 'The cookie is accepted only together with the header x-trunkline-console: 1.',
      response: { 200: SessionWire },
    }),
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      return describe(ctx, request, await currentSession(authenticator, request))
    },
  )

  app.post(
    '/console/session',
    route({
      operationId: 'signIn',
      errors: {
        401: 'The key does not exist, or its secret is wrong.',
        403: 'The header x-trunkline-console: 1 is missing, or the request comes from another origin.',
        429: 'Too many wrong keys from this address.',
      },
      summary: 'Sign in to the console',
      description:
        'Sets a cookie for twelve hours. A session holds an account key and an admin key; signing in with the other kind adds it. Needs the header x-trunkline-console: 1.',
      example: { key_id: 'dev-live-key', secret: 'dev-live-secret' },
      body: Type.Object({
        key_id: string('Id of a live, test or admin key', { minLength: 1, maxLength: 512 }),
        secret: string('Secret of the key', { minLength: 1, maxLength: 512 }),
      }),
      response: { 200: SessionWire },
    }),
    async (request, reply) => {
      requireConsole(request)
      reply.header('cache-control', 'no-store')
      const { key_id: id, secret } = request.body
      const principal = await authenticator.checkKey(request, id, secret)
      const before = await currentSession(authenticator, request)
      const { session, text } = await openSession(ctx, principal.key!, before)
      request.principal = { ...principal, session }
      setCookie(request, reply, text)
      return describe(ctx, request, session)
    },
  )

  app.delete(
    '/console/session',
    route({
      operationId: 'signOut',
      errors: {
        403: 'The header x-trunkline-console: 1 is missing, or the request comes from another origin.',
      },
      summary: 'Sign out of the console',
      description:
        'Ends the session and its open streams. Has no effect without a session. Needs the header x-trunkline-console: 1.',
      response: { 204: Type.Null({ description: 'Signed out' }) },
    }),
    async (request, reply: FastifyReply) => {
      requireConsole(request)
      const shown = sessionOf(request)
      const principal = shown && (await authenticator.principalBehind(request, shown))
      if (principal?.session) {
        await closeSession(ctx, principal.session.id)
        request.principal = principal
      }
      clearCookie(request, reply)
      return reply.code(204).send()
    },
  )
}

/** Pages of other sites cannot send the console's header, so they cannot sign anyone in or out. */
function requireConsole(request: FastifyRequest): void {
  if (!isFromConsole(request))
    throw new AppError(
      'forbidden',
      'Only the console can do this: the header x-trunkline-console: 1 is missing, or the request comes from another origin',
    )
}

/** The session of the cookie, while one of its keys works. */
async function currentSession(
  authenticator: Authenticator,
  request: FastifyRequest,
): Promise<ConsoleSession | undefined> {
  const shown = sessionOf(request)
  return shown && ((await authenticator.principalBehind(request, shown))?.session ?? undefined)
}

async function describe(ctx: Ctx, request: FastifyRequest, session: ConsoleSession | undefined) {
  const ids = session ? [session.accountKeyId, session.adminKeyId] : []
  const found = await Promise.all(ids.flatMap((id) => (id === null ? [] : ctx.directory.key(id))))
  const keys = found.flatMap((one): Key[] => (one ? [one.key] : []))
  const account = await accountOf(ctx, keys)
  return {
    signed_in: session !== undefined,
    account: account ? { id: account.id, email: account.email, name: account.name } : null,
    world: account?.world ?? null,
    simulated: account !== undefined && (await isSimulated(ctx, account)),
    keys: keys.map(({ id, kind, label }) => ({ id, kind, label })),
    expires_at: session ? formatTime(session.expiresAt) : null,
    development: !developmentKeysRefused(request, ctx) && (await isDefaultWorld(ctx)),
    version: VERSION,
  }
}

/** The rule of `simulatedAccount`, which guards the routes of virtual phones. */
async function isSimulated(ctx: Ctx, account: Account): Promise<boolean> {
  if (account.world === 'test') return true
  return [...(await ctx.directory.linesOf(account.id)).values()].some(
    ({ line }) => line.driver === 'simulator',
  )
}

async function accountOf(ctx: Ctx, keys: readonly Key[]): Promise<Account | undefined> {
  const id = keys.find((key) => key.accountId !== null)?.accountId
  return id ? ctx.directory.account(id) : undefined
}
