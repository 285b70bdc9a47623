import { Type } from 'typebox'
import { ERASURE_STATES, type Erasure } from '../../core/erasure/erasure.js'
import type { Ctx } from '../../services/ctx.js'
import { requestErasure } from '../../services/erasure/request.js'
import { findErasure, listErasures } from '../../storage/erasure/erasures.js'
import { idCursor, NextCursor, pageQuery } from '../http/cursor.js'
import { requireHandle } from '../http/fields.js'
import { answerOnce } from '../http/once.js'
import { renderer } from '../http/render.js'
import type { Routes } from '../http/routes.js'
import { nullable, oneOf, optional, string } from '../http/schemas.js'
import { admin, IdParams, required } from './shared.js'

const ErasureWire = Type.Object(
  {
    id: string('Id of the erasure'),
    account_id: nullable('string', 'The account; null: every account'),
    hint: string('What is kept of the address: its last four digits, or that it was an e-mail address'),
    state: oneOf(
      ERASURE_STATES,
      'running; waiting: a message or call is under way, or a message changed in the last ten minutes; done',
    ),
    step: string('What is done next'),
    counts: Type.Record(Type.String(), Type.Integer(), {
      description: 'Rows that were removed, or in which the address was replaced, by kind',
    }),
    requested_at: string('When it was requested, ISO 8601. What came later is not erased'),
    finished_at: nullable('string', 'When it was done, ISO 8601'),
  },
  { title: 'Erasure' },
)

const erasureWire = renderer<Erasure>()(ErasureWire, {
  step: ({ state, step }) => (state === 'done' ? '' : step),
})

const USUAL = 50
const MAX = 500

export function registerAdminErasures(app: Routes, ctx: Ctx): void {
  app.post(
    '/admin/erasures',
    admin({
      operationId: 'erasePerson',
      summary: 'Erase a person',
      description:
        'Removes what the database holds of a phone number or e-mail address: messages, media, contacts, calls, locations, verifications, webhook bodies, stored answers. In what belongs to others, such as events and group chats, the address is replaced. It happens in the background and goes on after a restart. An opt-out of the person stays in force, under a mark that does not tell the address. This cannot be undone.',
      example: { person: '+12025550101' },
      errors: {
        404: 'There is no such account.',
        409: 'An erasure of this person is under way, or the address is that of a line, a seat or an account.',
      },
      body: Type.Object({
        person: string('Phone number in E.164, or e-mail address of iMessage'),
        account_id: optional(
          string(
            'Only in this account, its test world and its worlds. Default: in every account, removed ones too',
          ),
        ),
      }),
      response: { 201: ErasureWire },
    }),
    async (request, reply) => {
      const { person, account_id: accountId = null } = request.body
      const handle = requireHandle('person', person)
      const create = async (sql: Parameters<typeof requestErasure>[1]) => ({
        status: 201,
        body: erasureWire(await requestErasure(ctx, sql, handle, accountId)),
      })
      // The body names the person, so its fingerprint is sealed.
      return answerOnce(ctx, reply, 'anew', create, { isSecret: true })
    },
  )

  app.get(
    '/admin/erasures',
    admin({
      operationId: 'listErasures',
      summary: 'List erasures',
      description: 'Newest first.',
      querystring: Type.Object(pageQuery(MAX, USUAL)),
      response: { 200: Type.Object({ data: Type.Array(ErasureWire), next_cursor: NextCursor }) },
    }),
    async ({ query }) => {
      const limit = Math.min(query.limit ?? USUAL, MAX)
      const erasures = await listErasures(ctx.db, idCursor(query.cursor), limit)
      return {
        data: erasures.map(erasureWire),
        next_cursor: erasures.length < limit ? null : erasures.at(-1)!.id,
      }
    },
  )

  app.get(
    '/admin/erasures/:id',
    admin({
      operationId: 'getErasure',
      summary: 'Show an erasure',
      params: IdParams,
      response: { 200: ErasureWire },
    }),
    async ({ params: { id } }) => erasureWire(required(await findErasure(ctx.db, id), 'erasure', id)),
  )
}
