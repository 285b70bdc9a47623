import { Type } from 'typebox'
import type { Seat } from '../../core/accounts/account.js'
import { changeSeat, createSeat, deleteSeat } from '../../services/accounts/accounts.js'
import type { Ctx } from '../../services/ctx.js'
import { findSeatById, listSeats } from '../../storage/accounts/accounts.js'
import type { Sql } from '../../storage/engine/db.js'
import { requireForwarding } from '../http/fields.js'
import { renderer } from '../http/render.js'
import type { Routes } from '../http/routes.js'
import { listOf, nullable, optional, string } from '../http/schemas.js'
import { AccountFilter, admin, createOnce, IdParams, required } from './shared.js'

const NewSeat = Type.Object(
  {
    account_id: string('The account, or a test world'),
    email: string("The user's e-mail address", {
      minLength: 3,
      maxLength: 254,
      pattern: '^[^\\s@]+@[^\\s@]+$',
    }),
    subject: optional(
      string("The user's id at an outside identity provider", { minLength: 1, maxLength: 128 }),
    ),
    first_name: optional(string('First name', { maxLength: 200 })),
    last_name: optional(string('Last name', { maxLength: 200 })),
    forwarding_number: optional(
      string('Number that rings for calls to lines assigned to this seat; E.164 or US'),
    ),
  },
  { title: 'NewSeat' },
)
const SeatChanges = Type.Object(
  {
    forwarding_number: optional(
      nullable('string', 'Number that rings for calls to lines assigned to this seat; null: none'),
    ),
  },
  { title: 'SeatChanges' },
)

const SeatWire = Type.Object(
  {
    id: string('Id to send with, as seat_id'),
    account_id: string('The account'),
    email: string("The user's e-mail address"),
    subject: nullable('string', "The user's id at an outside identity provider"),
    first_name: nullable('string', 'First name'),
    last_name: nullable('string', 'Last name'),
    forwarding_number: nullable('string', 'Number that rings for calls to lines assigned to this seat'),
    created_at: string('When it was created'),
  },
  { title: 'ManagedSeat' },
)

const seatWire = renderer<Seat>()(SeatWire, {})

export function registerAdminSeats(app: Routes, ctx: Ctx): void {
  app.get(
    '/admin/seats',
    admin({
      operationId: 'listAllSeats',
      summary: 'List seats',
      querystring: AccountFilter,
      response: { 200: listOf(SeatWire) },
    }),
    async (request) => ({ data: (await listSeats(ctx.db, request.query.account_id)).map(seatWire) }),
  )
  app.post(
    '/admin/seats',
    admin({
      operationId: 'createSeat',
      errors: { 404: 'There is no such account.', 409: 'The account has this seat already.' },
      summary: 'Create a seat',
      example: { account_id: '{account_id}', email: 'grace@example.com', first_name: 'Grace' },
      body: NewSeat,
      response: { 201: SeatWire },
    }),
    async (request, reply) => {
      const { body } = request
      const forwardingNumber =
        body.forwarding_number === undefined
          ? null
          : requireForwarding('forwarding_number', body.forwarding_number)
      const create = async (sql: Sql) => {
        const seat = await createSeat(ctx, sql, {
          accountId: body.account_id,
          email: body.email,
          subject: body.subject ?? null,
          firstName: body.first_name ?? null,
          lastName: body.last_name ?? null,
          forwardingNumber,
        })
        return { status: 201, body: seatWire(seat) }
      }
      const taken = `There is a seat for ${body.email}${body.subject ? ` or ${body.subject}` : ''} already`
      return createOnce(ctx, reply, create, {
        taken,
        retries: async (sql, { id }) => (await findSeatById(sql, id)) !== undefined,
      })
    },
  )
  app.get(
    '/admin/seats/:id',
    admin({
      operationId: 'getSeatById',
      summary: 'Show a seat',
      params: IdParams,
      response: { 200: SeatWire },
    }),
    async (request) =>
      seatWire(required(await findSeatById(ctx.db, request.params.id), 'seat', request.params.id)),
  )
  app.patch(
    '/admin/seats/:id',
    admin({
      operationId: 'updateSeat',
      summary: 'Change a seat',
      params: IdParams,
      example: { forwarding_number: '+12025550102' },
      body: SeatChanges,
      response: { 200: SeatWire },
    }),
    async (request) => {
      const { forwarding_number: given } = request.body
      const number = given == null ? given : requireForwarding('forwarding_number', given)
      return seatWire(await changeSeat(ctx, request.params.id, number))
    },
  )
  app.delete(
    '/admin/seats/:id',
    admin({
      operationId: 'deleteSeat',
      summary: 'Remove a seat',
      params: IdParams,
      response: { 204: Type.Null() },
    }),
    async (request, reply) => {
      await deleteSeat(ctx, request.params.id)
      return reply.code(204).send(null)
    },
  )
}
