import { type Static, Type } from 'typebox'
import type { Account } from '../../core/account.js'
import { formatTime } from '../../core/time.js'
import type { Ctx } from '../../ctx.js'
import { createAccount, deleteAccount } from '../../services/accounts.js'
import { findAccount, listAccounts } from '../../storage/accounts.js'
import type { Routes } from '../routes.js'
import { config, createOnce, IdParams, idOf, listOf, required, tags } from './shared.js'

const NewAccount = Type.Object({
  email: Type.String({
    minLength: 3,
    maxLength: 254,
    pattern: '^[^\\s@]+@[^\\s@]+$',
    description: 'Identifies the account on the wire',
  }),
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Company or person' })),
  plan: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 50,
      description: 'dedicated (default), free or a name of your own',
    }),
  ),
})

const AccountWire = Type.Object({
  id: Type.String({ description: 'Id' }),
  email: Type.String({ description: 'Identifies the account on the wire' }),
  name: Type.String({ description: 'Company or person' }),
  plan: Type.String({ description: 'Plan' }),
  test_account_id: Type.String({ description: 'Id of its test world' }),
  created_at: Type.String({ description: 'When it was made' }),
})

function accountWire(account: Account): Static<typeof AccountWire> {
  return {
    id: account.id,
    email: account.email,
    name: account.name,
    plan: account.plan,
    test_account_id: account.twinId,
    created_at: formatTime(account.createdAt),
  }
}

export function registerAdminAccounts(app: Routes, ctx: Ctx): void {
  app.get(
    '/admin/accounts',
    { config, schema: { tags, summary: 'List accounts', response: { 200: listOf(AccountWire) } } },
    async () => ({
      data: (await listAccounts(ctx.db)).filter((account) => account.world === 'live').map(accountWire),
    }),
  )
  app.post(
    '/admin/accounts',
    {
      config,
      schema: {
        tags,
        summary: 'Create an account and its test world',
        body: NewAccount,
        response: { 201: AccountWire },
      },
    },
    async (request, reply) => {
      const { body } = request
      return createOnce(ctx, request, reply, async (sql) => {
        const { live } = await createAccount(ctx, sql, { ...body, name: body.name ?? body.email })
        return { status: 201, body: accountWire(live) }
      })
    },
  )
  app.get(
    '/admin/accounts/:id',
    {
      config,
      schema: { tags, summary: 'Show an account', params: IdParams, response: { 200: AccountWire } },
    },
    async (request) => {
      const account = await findAccount(ctx.db, idOf(request))
      return accountWire(required(account?.world === 'live' ? account : undefined, 'account', idOf(request)))
    },
  )
  app.delete(
    '/admin/accounts/:id',
    {
      config,
      schema: {
        tags,
        summary: 'Remove an account, its test world, keys and lines',
        params: IdParams,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await deleteAccount(ctx, idOf(request))
      return reply.code(204).send(null)
    },
  )
}
