import { Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import type { Ctx } from '../../services/ctx.js'
import { findAccount } from '../../storage/accounts/accounts.js'
import {
  deleteBlockedCaller,
  insertBlockedCaller,
  listBlockedCallers,
} from '../../storage/calls/forwarding.js'
import { requirePhone } from '../http/fields.js'
import type { Routes } from '../http/routes.js'
import { listOf, string } from '../http/schemas.js'
import { admin, IdParams, required } from './shared.js'

const Params = Type.Object({
  id: string('The account, or a test world'),
  number: string('The caller, E.164'),
})
const BlockedCaller = Type.Object(
  {
    number: string('The caller, E.164'),
    blocked_at: string('Since when it is blocked'),
  },
  { title: 'BlockedCaller' },
)

export function registerAdminBlockedCallers(app: Routes, ctx: Ctx): void {
  const account = async (id: string) => required(await findAccount(ctx.db, id), 'account', id)

  app.get(
    '/admin/accounts/:id/blocked-callers',
    admin({
      operationId: 'listBlockedCallers',
      summary: 'List blocked callers',
      params: IdParams,
      response: { 200: listOf(BlockedCaller) },
    }),
    async (request) => {
      const { id } = await account(request.params.id)
      const blocked = await listBlockedCallers(ctx.db, id)
      return { data: blocked.map(({ number, blockedAt }) => ({ number, blocked_at: formatTime(blockedAt) })) }
    },
  )
  app.put(
    '/admin/accounts/:id/blocked-callers/:number',
    admin({
      operationId: 'blockCaller',
      summary: 'Block a caller',
      description: 'Calls from the number are rejected without an event. Messages are not affected.',
      params: Params,
      response: { 204: Type.Null() },
    }),
    async (request, reply) => {
      const { id } = await account(request.params.id)
      const number = requirePhone('number', request.params.number)
      await insertBlockedCaller(ctx.db, id, number, ctx.clock.now())
      return reply.code(204).send(null)
    },
  )
  app.delete(
    '/admin/accounts/:id/blocked-callers/:number',
    admin({
      operationId: 'unblockCaller',
      summary: 'Unblock a caller',
      params: Params,
      response: { 204: Type.Null() },
    }),
    async (request, reply) => {
      const { id } = await account(request.params.id)
      await deleteBlockedCaller(ctx.db, id, requirePhone('number', request.params.number))
      return reply.code(204).send(null)
    },
  )
}
