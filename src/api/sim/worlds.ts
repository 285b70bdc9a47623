import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { type Account, ADMIN_OWNER } from '../../core/accounts/account.js'
import { BUDGETS } from '../../core/accounts/budgets.js'
import { AppError } from '../../core/errors.js'
import { DEFAULT_WORLD } from '../../services/accounts/default-world.js'
import type { Ctx } from '../../services/ctx.js'
import { createWorld, removeWorld, requireWorld } from '../../services/sim/worlds.js'
import type { Sql } from '../../storage/engine/db.js'
import { listWorlds } from '../../storage/sim/worlds.js'
import { answerOnce } from '../http/once.js'
import { renderer } from '../http/render.js'
import { type Routes, routesOf } from '../http/routes.js'
import { optional, string, strings } from '../http/schemas.js'
import { simulatedAccount } from './shared.js'

const World = Type.Object(
  {
    id: string('Id'),
    name: string('Name in the list'),
    created_at: string('When it was created'),
  },
  { title: 'World' },
)

const WorldKey = Type.Object(
  {
    id: string('Value of the header sb-api-key-id'),
    secret: optional(string('Value of the header sb-api-secret-key; shown once, when the world is created')),
  },
  { title: 'WorldKey' },
)

const NewWorld = Type.Object(
  {
    ...World.properties,
    keys: Type.Object(
      { live: WorldKey, test: WorldKey },
      { description: 'Keys that work in this world only' },
    ),
    lines: strings('Its lines, E.164: the dedicated line, then the shared line'),
    phones: strings('Its phones, E.164'),
  },
  { title: 'NewWorld' },
)

const worldWire = renderer<Account>()(World, {})
const worlds = routesOf('Simulator', { access: 'any' })

/** Worlds for tests that run at the same time, one for each worker. */
export function registerSimWorlds(app: Routes, ctx: Ctx): void {
  app.post(
    '/sim/worlds',
    worlds({
      operationId: 'createWorld',
      summary: 'Create a world',
      description: [
        'A world is an account with its own keys and its own telephone network. It has the lines and phones of the default world under the same numbers, so tests that run at the same time share one server and keep their constants. Worlds and other accounts do not see each other. The clock belongs to the server: moving it moves it for every world.',
        `A test key creates worlds for its account, as many as its budget of worlds allows (default ${BUDGETS.worlds.limit}); so does a live key of an account with a simulated line. An admin key has no limit. Tokens and the keys of a world cannot create worlds.`,
      ].join('\n\n'),
      optionalBody: true,
      example: { name: 'worker-1' },
      body: Type.Object({
        name: optional(string('Name in the list; default World', { minLength: 1, maxLength: 200 })),
      }),
      response: { 201: NewWorld },
    }),
    async (request, reply) => {
      const owner = await ownerOf(request)
      const create = async (sql: Sql) => {
        const { account, keys } = await createWorld(ctx, sql, owner, request.body.name ?? 'World')
        const world = {
          ...worldWire(account),
          lines: [DEFAULT_WORLD.line, DEFAULT_WORLD.sharedLine],
          phones: DEFAULT_WORLD.phones.map(({ number }) => number),
        }
        const known = { live: { id: keys.live.id }, test: { id: keys.test.id } }
        return {
          status: 201,
          body: { ...world, keys },
          stored: { ...world, keys: known },
          after: () => ctx.directory.forget(),
        }
      }
      return answerOnce(ctx, reply, 'anew', create)
    },
  )
  app.get(
    '/sim/worlds',
    worlds({
      operationId: 'listWorlds',
      summary: 'List worlds',
      description: 'The worlds that this account created, oldest first. An admin key lists all worlds.',
      response: { 200: Type.Object({ data: Type.Array(World) }) },
    }),
    async (request) => {
      const owner = await ownerOf(request)
      return { data: (await listWorlds(ctx.db, owner === ADMIN_OWNER ? undefined : owner)).map(worldWire) }
    },
  )
  app.delete(
    '/sim/worlds/:id',
    worlds({
      operationId: 'deleteWorld',
      summary: 'Remove a world',
      description:
        'Removes the world with its keys, lines, phones, messages, events, webhooks and media, also while messages are on the way. After the answer, nothing of it is stored or posted.',
      params: Type.Object({ id: string('Id of the world') }),
      response: { 204: Type.Null() },
    }),
    async (request, reply) => {
      await removeWorld(ctx, await requireWorld(ctx.db, await ownerOf(request), request.params.id))
      return reply.code(204).send(null)
    },
  )

  /** The owner whose worlds the caller manages. */
  async function ownerOf(request: FastifyRequest): Promise<string> {
    const { principal } = request
    if (principal?.kind !== 'account') return ADMIN_OWNER
    const account = await simulatedAccount(ctx, request)
    if (principal.token !== null)
      throw new AppError(
        'forbidden',
        'A token cannot manage worlds, because their keys outlive it. Use a key.',
      )
    if (account.owner !== null)
      throw new AppError(
        'forbidden',
        'This key belongs to a world, and a world cannot create worlds. Use the key that created it.',
      )
    return account.world === 'live' ? account.id : account.twinId
  }
}
