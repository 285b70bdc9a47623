import { Type } from 'typebox'
import type { Account } from '../../core/accounts/account.js'
import {
  MAX_RETENTION_DAYS,
  RETENTION,
  RETENTION_NAMES,
  type Retention,
  type RetentionName,
} from '../../core/accounts/retention.js'
import { changeAccount, createAccount, deleteAccount } from '../../services/accounts/accounts.js'
import type { Ctx } from '../../services/ctx.js'
import { removeWorldsOf } from '../../services/sim/worlds.js'
import { findAccount, listAccounts } from '../../storage/accounts/accounts.js'
import { findRetention, listRetention } from '../../storage/accounts/retention.js'
import type { Sql } from '../../storage/engine/db.js'
import { requireForwarding } from '../http/fields.js'
import { renderer } from '../http/render.js'
import type { Routes } from '../http/routes.js'
import { integer, listOf, nullable, optional, string } from '../http/schemas.js'
import { BudgetChanges, OwnBudgets } from './budgets.js'
import { admin, createOnce, IdParams, required } from './shared.js'

const email = string('Identifies the account on the wire', {
  minLength: 3,
  maxLength: 254,
  pattern: '^[^\\s@]+@[^\\s@]+$',
})
const names = {
  name: optional(string('Company or person', { minLength: 1, maxLength: 200 })),
  plan: optional(string('dedicated (default), free or a name of your own', { minLength: 1, maxLength: 50 })),
}
const NewAccount = Type.Object({ email, ...names }, { title: 'NewAccount' })

const days = <T>(field: (description: string, limits: { minimum: number; maximum: number }) => T) =>
  Object.fromEntries(
    RETENTION_NAMES.map((name) => {
      const { about, minDays } = RETENTION[name]
      return [name, field(`${about}. In days`, { minimum: minDays, maximum: MAX_RETENTION_DAYS })]
    }),
  ) as Record<RetentionName, T>

const OwnRetention = Type.Object(
  days((description) => optional(integer(description))),
  {
    title: 'Retention',
    description:
      'Days after which data of the account is removed. What is not in it is kept, or removed after the days that the settings of the server say',
  },
)
const RetentionChanges = Type.Object(
  days((description, limits) => optional(nullable('integer', `${description}; null: not set here`, limits))),
  {
    title: 'RetentionChanges',
    description:
      'Days after which data is removed, in the live and the test world. What is not named stays as it is',
    additionalProperties: false,
  },
)

const AccountChanges = Type.Object(
  {
    email: optional(email),
    ...names,
    budgets: optional(BudgetChanges),
    retention: optional(RetentionChanges),
    default_forwarding_number: optional(
      nullable(
        'string',
        'Number that rings when neither a seat nor the line has a forwarding number, in the live and the test world; E.164 or US; null: none',
      ),
    ),
  },
  { title: 'AccountChanges' },
)

const AccountWire = Type.Object(
  {
    id: string('Id'),
    email: string('Identifies the account on the wire'),
    name: string('Company or person'),
    plan: string('Plan'),
    default_forwarding_number: nullable(
      'string',
      'Number that rings when neither a seat nor the line has a forwarding number',
    ),
    budgets: OwnBudgets,
    retention: OwnRetention,
    test_account_id: string('Id of its test world'),
    created_at: string('When it was created'),
  },
  { title: 'ManagedAccount' },
)

const accountWire = renderer<Account & { retention: Retention }>()(AccountWire, {
  test_account_id: ({ twinId }) => twinId,
})

const withRetention = async (sql: Sql, account: Account) => ({
  ...account,
  retention: await findRetention(sql, account.id),
})

export function registerAdminAccounts(app: Routes, ctx: Ctx): void {
  app.get(
    '/admin/accounts',
    admin({
      operationId: 'listAccounts',
      summary: 'List accounts, without worlds',
      response: { 200: listOf(AccountWire) },
    }),
    async () => {
      const retention = await listRetention(ctx.db)
      const accounts = (await listAccounts(ctx.db)).filter(
        (one) => one.world === 'live' && one.owner === null,
      )
      return {
        data: accounts.map((one) => accountWire({ ...one, retention: retention.get(one.id) ?? {} })),
      }
    },
  )
  app.post(
    '/admin/accounts',
    admin({
      operationId: 'createAccount',
      errors: { 409: 'There is an account with this e-mail address already.' },
      summary: 'Create an account and its test world',
      example: { email: 'grace@example.com', name: 'Grace' },
      body: NewAccount,
      response: { 201: AccountWire },
    }),
    async (request, reply) => {
      const { body } = request
      const create = async (sql: Sql) => {
        const { live } = await createAccount(ctx, sql, { ...body, name: body.name ?? body.email })
        return { status: 201, body: accountWire({ ...live, retention: {} }) }
      }
      return createOnce(ctx, reply, create, {
        retries: async (sql, { id }) => (await findAccount(sql, id)) !== undefined,
      })
    },
  )
  app.get(
    '/admin/accounts/:id',
    admin({
      operationId: 'getAccountById',
      summary: 'Show an account',
      params: IdParams,
      response: { 200: AccountWire },
    }),
    async (request) => {
      const account = await findAccount(ctx.db, request.params.id)
      const live = required(account?.world === 'live' ? account : undefined, 'account', request.params.id)
      return accountWire(await withRetention(ctx.db, live))
    },
  )
  app.patch(
    '/admin/accounts/:id',
    admin({
      operationId: 'updateAccount',
      errors: { 409: 'There is an account with this e-mail address already.' },
      summary: 'Change an account',
      params: IdParams,
      example: { name: 'Navy', budgets: { queued: 5000 } },
      body: AccountChanges,
      response: { 200: AccountWire },
    }),
    async (request) => {
      const { default_forwarding_number: given, ...rest } = request.body
      const number = given == null ? given : requireForwarding('default_forwarding_number', given)
      const changes = { defaultForwardingNumber: number, ...rest }
      return accountWire(await withRetention(ctx.db, await changeAccount(ctx, request.params.id, changes)))
    },
  )
  app.delete(
    '/admin/accounts/:id',
    admin({
      operationId: 'deleteAccount',
      summary: 'Remove an account, its test world, keys, lines and worlds',
      params: IdParams,
      response: { 204: Type.Null() },
    }),
    async (request, reply) => {
      await deleteAccount(ctx, request.params.id)
      await removeWorldsOf(ctx, request.params.id)
      return reply.code(204).send(null)
    },
  )
}
