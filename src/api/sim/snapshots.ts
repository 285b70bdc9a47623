import { Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import { AppError } from '../../core/errors.js'
import type { Ctx } from '../../services/ctx.js'
import { loadSnapshot, requireSnapshot, saveSnapshot } from '../../services/sim/snapshots.js'
import { despiteDeadlocks, enterNewWorld, fenceWorld } from '../../services/sim/world.js'
import type { Sql } from '../../storage/engine/db.js'
import { deleteSnapshot, listSnapshots, type Snapshot } from '../../storage/sim/snapshots.js'
import { optionalBody } from '../http/body.js'
import { answeredBefore, answerOnce } from '../http/once.js'
import type { Routes } from '../http/routes.js'
import { simulatedAccount } from './shared.js'

const SnapshotWire = Type.Object({
  name: Type.String({ description: 'Name' }),
  rows: Type.Integer({ description: 'How much is in it' }),
  created_at: Type.String({ description: 'The time of the simulated world when it was saved' }),
})
const Name = Type.String({
  pattern: '^[A-Za-z0-9._:-]{1,64}$',
  description: '1 to 64 of A-Z a-z 0-9 . _ : -',
})
const Params = Type.Object({ name: Type.String({ description: 'Name of the snapshot' }) })

/** Worlds to go back to. */
export function registerSimSnapshots(app: Routes, ctx: Ctx): void {
  const config = { access: 'account' as const }
  const tags = ['Simulator']

  app.post(
    '/sim/snapshots',
    {
      config,
      schema: {
        tags,
        summary: 'Save the world',
        description:
          'As it is at this moment: what a reset would remove, and the webhooks. One of the same name is replaced. Events, tokens and the bytes of media are not in it.',
        body: Type.Object({ name: Name }),
        response: { 201: SnapshotWire },
      },
    },
    async (request, reply) => {
      const account = await simulatedAccount(ctx, request)
      const earlier = await answeredBefore<ReturnType<typeof wireOf>>(ctx, request, reply, 'anew')
      if (earlier) return earlier
      // Saving it twice does no harm.
      const snapshot = await saveSnapshot(ctx, account, request.body.name)
      const answer = { status: 201, body: wireOf(snapshot) }
      return answerOnce(ctx, request, reply, async () => answer, { retries: 'anew' })
    },
  )
  app.get(
    '/sim/snapshots',
    {
      config,
      schema: {
        tags,
        summary: 'List saved worlds',
        response: { 200: Type.Object({ data: Type.Array(SnapshotWire) }) },
      },
    },
    async (request) => {
      const account = await simulatedAccount(ctx, request)
      return { data: (await listSnapshots(ctx.db, account.id)).map(wireOf) }
    },
  )
  app.post(
    '/sim/snapshots/:name/load',
    {
      config: { ...config, optionalBody: true },
      preValidation: optionalBody,
      schema: {
        tags,
        summary: 'Go back to a saved world',
        description:
          'All of it or nothing. What happened since is gone, as with a reset, and nothing of it happens any more. What was under way when it was saved is taken up by the rules of a restart: what waited is sent, and of what was on the wire the carrier is asked, so nothing is sent twice. Webhooks that waited to be posted are called off: they may have been posted since. Event numbers go on, and the first event is world.reset with the name. A snapshot that another version of Trunkline saved is refused with 409.',
        params: Params,
        body: Type.Object({
          keep: Type.Optional(
            Type.Array(Type.Unsafe<'webhooks'>({ type: 'string', enum: ['webhooks'] }), {
              maxItems: 10,
              description: 'webhooks: those of now stay instead of the saved ones',
            }),
          ),
        }),
        response: { 200: SnapshotWire },
      },
    },
    async (request, reply) => {
      const account = await simulatedAccount(ctx, request)
      const { name } = request.params
      const earlier = await answeredBefore<ReturnType<typeof wireOf>>(ctx, request, reply, 'anew')
      if (earlier) return earlier
      await requireSnapshot(ctx.db, account, name)
      const world = await fenceWorld(ctx, account)
      const keep = { webhooks: request.body.keep?.includes('webhooks') ?? false }
      const load = async (sql: Sql) => ({
        status: 200,
        body: wireOf(await loadSnapshot(ctx, sql, world, name, keep)),
      })
      try {
        return await despiteDeadlocks(() => answerOnce(ctx, request, reply, load, { retries: 'anew' }))
      } finally {
        await enterNewWorld(ctx, [])
      }
    },
  )
  app.delete(
    '/sim/snapshots/:name',
    {
      config,
      schema: { tags, summary: 'Delete a saved world', params: Params, response: { 200: SnapshotWire } },
    },
    async (request) => {
      const account = await simulatedAccount(ctx, request)
      const { name } = request.params
      const snapshot = (await listSnapshots(ctx.db, account.id)).find((one) => one.name === name)
      if (!snapshot || !(await ctx.db.tx((sql) => deleteSnapshot(sql, account.id, name))))
        throw new AppError('not_found', `There is no snapshot ${name}`)
      return wireOf(snapshot)
    },
  )
}

function wireOf({ name, rows, createdAt }: Snapshot) {
  return { name, rows, created_at: formatTime(createdAt) }
}
