import { Type } from 'typebox'
import type { Account, Seat } from '../../core/accounts/account.js'
import { AppError } from '../../core/errors.js'
import type { Ctx } from '../../services/ctx.js'
import { countSeats, findSeat, listSeatsOf } from '../../storage/accounts/accounts.js'
import { accountOf } from '../http/auth.js'
import { renderer } from '../http/render.js'
import { type Routes, routesOf } from '../http/routes.js'
import { integer, nullable, optional, string } from '../http/schemas.js'

const route = routesOf('Seats', { access: 'account' })

/** Seats as their account sees them; operators create them under /admin/seats. */

const SeatWire = Type.Object(
  {
    seat_id: string('Id to send with, as seat_id'),
    email: string("The user's e-mail address"),
    first_name: nullable('string', 'First name'),
    last_name: nullable('string', 'Last name'),
    forwarding_number: nullable('string', 'Number that rings for calls to lines assigned to this seat'),
    account: string('Name of the account'),
    created_at: string('When it was created'),
  },
  { title: 'Seat' },
)

const email = optional(string('Only seats with this e-mail address'))
const MAX_LIMIT = 1000
const MAX_OFFSET = 2 ** 31

const seatWire = renderer<Seat & { of: Account }>()(SeatWire, {
  seat_id: ({ id }) => id,
  account: ({ of }) => of.name,
})

export function registerSeats(app: Routes, ctx: Ctx): void {
  app.get(
    '/api/v2/seats',
    route({
      operationId: 'listSeats',
      summary: 'List seats',
      description: 'Oldest first.',
      querystring: Type.Object({
        email,
        limit: optional(integer('Rows to return; at most 1000', { minimum: 1, default: 100 })),
        offset: optional(integer('Rows to skip', { minimum: 0, default: 0 })),
      }),
      response: { 200: Type.Array(SeatWire) },
    }),
    async (request) => {
      const account = accountOf(request)
      const { limit = 100, offset = 0 } = request.query
      const page = { limit: Math.min(limit, MAX_LIMIT), offset: Math.min(offset, MAX_OFFSET) }
      const seats = await listSeatsOf(ctx.db, account.id, request.query.email, page)
      return seats.map((seat) => seatWire({ ...seat, of: account }))
    },
  )
  app.get(
    '/api/v2/seats/count',
    route({
      operationId: 'countSeats',
      summary: 'Count seats',
      querystring: Type.Object({ email }),
      response: { 200: Type.Object({ count: integer('Number of seats') }) },
    }),
    async (request) => ({ count: await countSeats(ctx.db, accountOf(request).id, request.query.email) }),
  )
  app.get(
    '/api/v2/seats/:seat_id',
    route({
      operationId: 'getSeat',
      summary: 'Retrieve a seat',
      params: Type.Object({ seat_id: string('Seat id, or its subject at an outside identity provider') }),
      response: { 200: Type.Object({ status: string('OK'), seat: SeatWire }) },
    }),
    async (request) => {
      const account = accountOf(request)
      const seat = await findSeat(ctx.db, account.id, request.params.seat_id)
      if (!seat) throw new AppError('not_found', 'There is no such seat')
      return { status: 'OK', seat: seatWire({ ...seat, of: account }) }
    },
  )
}
