import { type Static, Type } from 'typebox'
import type { Key, KeyKind } from '../../core/accounts/account.js'
import { topics } from '../../core/topics.js'
import { createKey, revoke } from '../../services/accounts/accounts.js'
import { rotateKey } from '../../services/accounts/rotation.js'
import type { Ctx } from '../../services/ctx.js'
import { findAccount, findKey, listKeys } from '../../storage/accounts/accounts.js'
import type { Sql } from '../../storage/engine/db.js'
import { renderer } from '../http/render.js'
import type { Routes } from '../http/routes.js'
import { integer, listOf, nullable, oneOf, optional, string } from '../http/schemas.js'
import { AccountFilter, admin, createOnce, IdParams, required, worldAccounts } from './shared.js'

const Kind = oneOf(['live', 'test', 'admin'], 'live (default), test or admin')

const NewKey = Type.Object(
  {
    account_id: optional(string('The account; none for an admin key')),
    kind: optional(Kind),
    label: optional(string('Label', { maxLength: 200 })),
  },
  { title: 'NewKey' },
)

const DAY_S = 86_400

const Rotation = Type.Object(
  {
    overlap_seconds: optional(
      integer('How long the old key works beside the new one; default 86400, a day; 0 ends it at once', {
        minimum: 0,
        maximum: 30 * DAY_S,
      }),
    ),
  },
  { title: 'KeyRotation' },
)

const KeyWire = Type.Object(
  {
    id: string('Value of the header sb-api-key-id'),
    secret: optional(string('Value of the header sb-api-secret-key; shown once, when the key is created')),
    account_id: nullable('string', 'The account or test world of the key; null for an admin key'),
    kind: Kind,
    label: string('Label'),
    created_at: string('When it was created'),
    expires_at: nullable('string', 'When it ends because another has replaced it; null otherwise'),
    revoked_at: nullable('string', 'When it was revoked'),
  },
  { title: 'Key' },
)

const keyWire = renderer<Key>()(KeyWire, {})

export function registerAdminKeys(app: Routes, ctx: Ctx): void {
  app.get(
    '/admin/keys',
    admin({
      operationId: 'listKeys',
      summary: 'List keys',
      querystring: AccountFilter,
      response: { 200: listOf(KeyWire) },
    }),
    async (request) => {
      const accountId = request.query.account_id
      const keys = await listKeys(ctx.db)
      if (!accountId) {
        const worlds = await worldAccounts(ctx)
        return { data: keys.filter((key) => !worlds.has(key.accountId ?? '')).map(keyWire) }
      }
      const account = await findAccount(ctx.db, accountId)
      return {
        data: keys
          .filter((key) => key.accountId && [account?.id, account?.twinId].includes(key.accountId))
          .map(keyWire),
      }
    },
  )
  app.post(
    '/admin/keys',
    admin({
      operationId: 'createKey',
      errors: { 404: 'There is no such account.' },
      summary: 'Create a key; its secret is shown only here',
      example: { kind: 'admin', label: 'Deployment' },
      body: NewKey,
      response: { 201: KeyWire },
    }),
    async (request, reply) => {
      const { body } = request
      const create = async (sql: Sql) => {
        const { key, secret } = await createKey(ctx, sql, {
          accountId: body.account_id ?? null,
          kind: (body.kind ?? 'live') as KeyKind,
          label: body.label ?? '',
        })
        return { status: 201, body: { ...keyWire(key), secret }, stored: keyWire(key) }
      }
      return createOnce<Static<typeof KeyWire>>(ctx, reply, create, {
        retries: async (sql, { id }) => (await findKey(sql, id))?.revokedAt === null,
      })
    },
  )
  app.post(
    '/admin/keys/:id/rotate',
    admin({
      operationId: 'rotateKey',
      summary: 'Replace a key by a new one; its secret is shown only here',
      description:
        'The new key has the account, kind and label of the old one, and both work until the overlap is over. Then the old key ends, and with it the tokens that it made.',
      params: IdParams,
      example: { overlap_seconds: 3600 },
      errors: { 409: 'The key was revoked or replaced already.' },
      body: Rotation,
      response: { 201: KeyWire },
    }),
    async (request, reply) => {
      const overlapMs = (request.body.overlap_seconds ?? DAY_S) * 1000
      const rotate = async (sql: Sql) => {
        const { key, secret } = await rotateKey(ctx, sql, request.params.id, overlapMs)
        return {
          status: 201,
          body: { ...keyWire(key), secret },
          stored: keyWire(key),
          after: async () => ctx.wakes.wake(topics.access),
        }
      }
      return createOnce<Static<typeof KeyWire>>(ctx, reply, rotate, {
        retries: async (sql, { id }) => (await findKey(sql, id))?.revokedAt === null,
      })
    },
  )
  app.get(
    '/admin/keys/:id',
    admin({ operationId: 'getKey', summary: 'Show a key', params: IdParams, response: { 200: KeyWire } }),
    async (request) => keyWire(required(await findKey(ctx.db, request.params.id), 'key', request.params.id)),
  )
  app.delete(
    '/admin/keys/:id',
    admin({
      operationId: 'revokeKey',
      summary: 'Revoke a key',
      params: IdParams,
      response: { 200: KeyWire },
    }),
    async (request) => keyWire(await revoke(ctx, request.params.id)),
  )
}
