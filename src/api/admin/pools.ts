import { type Static, Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import { MOST_POOL_LINES, type Pool } from '../../core/lines/pool.js'
import type { Ctx } from '../../services/ctx.js'
import { changePool, createPool, deletePool } from '../../services/lines/pools/pools.js'
import type { Sql } from '../../storage/engine/db.js'
import { findPool, listPooledLines, listPools } from '../../storage/lines/pools.js'
import type { Routes } from '../http/routes.js'
import { listOf, optional, string } from '../http/schemas.js'
import { admin, createOnce, IdParams, required } from './shared.js'

const NAME = string('Name, unique in the account', { minLength: 1, maxLength: 100 })
const LINES = Type.Array(string('Id of a line'), {
  minItems: 1,
  maxItems: MOST_POOL_LINES,
  description: 'Dedicated lines of one account that carry the same services; a line is in one pool at most',
})
const NewPool = Type.Object({ name: NAME, lines: LINES }, { title: 'NewPool' })
const PoolChanges = Type.Object({ name: optional(NAME), lines: optional(LINES) }, { title: 'PoolChanges' })

const PoolWire = Type.Object(
  {
    id: string('Id'),
    account_id: string('Account of its lines'),
    name: string('Name'),
    lines: Type.Array(Type.Object({ line_id: string('The line'), number: string('Its number, E.164') }), {
      description: 'Lines of the pool',
    }),
    created_at: string('When it was created'),
  },
  { title: 'Pool' },
)
type PoolWire = Static<typeof PoolWire>

const ABOUT =
  'The lines of a pool send as one. A send names any of them as `from_number`; the answer names the line that it leaves from. A conversation stays on the line that it began on, a new one goes to the line with most room. A line that is OFFLINE or blocked hands a conversation over with the next send, unless a message of it waits there or may have left.'

/** Sender pools: several lines that send as one. */
export function registerAdminPools(app: Routes, ctx: Ctx): void {
  async function wire(sql: Sql, pools: readonly Pool[]): Promise<PoolWire[]> {
    const linesOf = new Map<string, PoolWire['lines']>(pools.map(({ id }) => [id, []]))
    for (const { id, number, poolId } of await listPooledLines(sql))
      linesOf.get(poolId!)?.push({ line_id: id, number })
    return pools.map(({ id, accountId, name, createdAt }) => ({
      id,
      account_id: accountId,
      name,
      lines: linesOf.get(id)!,
      created_at: formatTime(createdAt),
    }))
  }
  const one = async (sql: Sql, pool: Pool) => (await wire(sql, [pool]))[0]!
  const errors = { 404: 'There is no such line.', 409: 'The name is taken, or a line is in another pool.' }
  const taken = 'name: the account has a pool with this name'

  app.get(
    '/admin/pools',
    admin({
      operationId: 'listPools',
      summary: 'List sender pools',
      response: { 200: listOf(PoolWire) },
    }),
    async () => ({ data: await wire(ctx.db, await listPools(ctx.db)) }),
  )
  app.get(
    '/admin/pools/:id',
    admin({
      operationId: 'getPool',
      summary: 'Show a sender pool',
      params: IdParams,
      response: { 200: PoolWire },
    }),
    async ({ params: { id } }) => one(ctx.db, required(await findPool(ctx.db, id), 'pool', id)),
  )
  app.post(
    '/admin/pools',
    admin({
      operationId: 'createPool',
      summary: 'Make a sender pool of lines',
      description: ABOUT,
      errors,
      example: { name: 'phones', lines: ['{line_id}'] },
      body: NewPool,
      response: { 201: PoolWire },
    }),
    async ({ body: { name, lines } }, reply) =>
      createOnce<PoolWire>(
        ctx,
        reply,
        async (sql) => ({
          status: 201,
          body: await one(sql, await createPool(ctx, sql, { name, lineIds: lines })),
        }),
        { retries: async (sql, told) => (await findPool(sql, told.id)) !== undefined, taken },
      ),
  )
  app.patch(
    '/admin/pools/:id',
    admin({
      operationId: 'changePool',
      summary: 'Change the name or the lines of a pool',
      description: `${ABOUT} \`lines\` replaces all lines; conversations on a line that leaves move with their next message.`,
      errors,
      params: IdParams,
      example: { name: 'shop phones' },
      body: PoolChanges,
      response: { 200: PoolWire },
    }),
    async ({ params: { id }, body: { name, lines } }) =>
      one(
        ctx.db,
        await changePool(ctx, id, {
          ...(name !== undefined && { name }),
          ...(lines !== undefined && { lineIds: lines }),
        }),
      ),
  )
  app.delete(
    '/admin/pools/:id',
    admin({
      operationId: 'removePool',
      summary: 'Remove a sender pool',
      description: 'Its lines stay, each for itself.',
      params: IdParams,
      response: { 204: Type.Null() },
    }),
    async (request, reply) => {
      await deletePool(ctx, request.params.id)
      return reply.code(204).send(null)
    },
  )
}
