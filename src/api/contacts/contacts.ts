import { Type } from 'typebox'
import { firstIdAt } from '../../base/ids.js'
import type { ContactOrder } from '../../core/contacts/contact.js'
import {
  changeContact,
  findVisible,
  noContact,
  removeContacts,
  scopeFor,
} from '../../services/contacts/contacts.js'
import type { Ctx } from '../../services/ctx.js'
import { countAllContacts } from '../../storage/contacts/contacts.js'
import { type ContactPage, listContactIds, readContacts } from '../../storage/contacts/list.js'
import { actorOf } from '../http/auth.js'
import { requireTime } from '../http/fields.js'
import { sendList } from '../http/render.js'
import type { Routes } from '../http/routes.js'
import { boolean, integer, oneOf, optional, string } from '../http/schemas.js'
import {
  CONTACT_ALIASES,
  ContactWire,
  contactFields,
  contactPhone,
  contactRoute,
  contactWires,
  fieldsOf,
  OneContact,
  Status,
} from './wire.js'

const MAX_LIMIT = 1000
const MAX_OFFSET = 10_000

export const ORDERS: Record<string, ContactOrder> = {
  created_at: 'created',
  createdAt: 'created',
  first_name: 'firstName',
  firstName: 'firstName',
  last_name: 'lastName',
  lastName: 'lastName',
  phone: 'phone',
}

export const ListQuery = Type.Object({
  cid: optional(string('Only the contact with this contact_id')),
  phone_number: optional(string('Only the contact with this number, E.164')),
  created_at_gte: optional(string('Created at or after, ISO 8601')),
  limit: optional(integer('Rows to return; at most 1000', { minimum: 1, default: 100 })),
  offset: optional(integer('Rows to skip; at most 10000', { minimum: 0, default: 0 })),
  order_by: optional(
    oneOf(Object.keys(ORDERS), 'Order; default created_at. Names sort by code point, capitals first'),
  ),
  order_direction: optional(oneOf(['asc', 'desc'], 'Direction; default desc')),
})

const Contacts = Type.Array(ContactWire)
const PhoneParams = Type.Object({ phone_number: string('Phone number, E.164') })
const UPDATE_ALIASES = { ...CONTACT_ALIASES, opt_out: ['optOut'] } as const

export function registerContacts(app: Routes, ctx: Ctx): void {
  app.get(
    '/api/v2/contacts',
    contactRoute({
      operationId: 'listContacts',
      summary: 'List contacts',
      description: 'Answers with an array, without an envelope.',
      querystring: ListQuery,
      response: { 200: Contacts },
    }),
    async (request, reply) => {
      const { query } = request
      const actor = actorOf(request)
      const sql = ctx.db.aside(actor.account.id)
      const pieces = await listContactIds(
        sql,
        {
          ...scopeFor(actor),
          ...(query.cid === undefined ? {} : { id: query.cid.toLowerCase() }),
          ...(query.phone_number === undefined
            ? {}
            : { phone: contactPhone('phone_number', query.phone_number) }),
          ...(query.created_at_gte === undefined ? {} : { created: createdFrom(query.created_at_gte) }),
        },
        pageOf(query),
      )
      return sendList(reply, {
        owner: actor.account.id,
        pieces,
        rows: Contacts,
        read: async (ids) =>
          contactWires(ctx, actor.account.id, await readContacts(sql, actor.account.id, ids)),
      })
    },
  )

  app.get(
    '/api/v2/contacts/count',
    contactRoute({
      operationId: 'countContacts',
      summary: 'Count contacts',
      response: { 200: Type.Object({ count: integer('Number of contacts') }) },
    }),
    async (request) => ({ count: await countAllContacts(ctx.db, scopeFor(actorOf(request))) }),
  )

  app.get(
    '/api/v2/contacts/:phone_number',
    contactRoute({
      operationId: 'getContact',
      summary: 'Retrieve a contact',
      params: PhoneParams,
      response: { 200: OneContact },
    }),
    async (request) => {
      const phone = contactPhone('phone_number', request.params.phone_number)
      const contact = await findVisible(ctx.db, actorOf(request), phone)
      const [wire] = await contactWires(ctx, contact.accountId, [contact])
      return { status: 'OK', contact: wire! }
    },
  )

  app.put(
    '/api/v2/contacts/:phone_number',
    contactRoute({
      operationId: 'updateContact',
      summary: 'Update a contact',
      description: 'Given fields replace the old ones; custom variables are merged.',
      params: PhoneParams,
      aliases: UPDATE_ALIASES,
      example: { first_name: 'Augusta', company_name: 'Analytical Engines' },
      body: Type.Object({
        ...contactFields,
        opt_out: optional(boolean('Opt the contact out, or in again, as the words STOP and START do')),
      }),
      response: { 200: OneContact },
    }),
    async (request) => {
      const { body } = request
      const phone = contactPhone('phone_number', request.params.phone_number)
      const contact = await changeContact(ctx, actorOf(request), phone, fieldsOf(body), body.opt_out)
      const [wire] = await contactWires(ctx, contact.accountId, [contact])
      return { status: 'OK', contact: wire! }
    },
  )

  app.delete(
    '/api/v2/contacts/:phone_number',
    contactRoute({
      operationId: 'deleteContact',
      summary: 'Delete a contact',
      params: PhoneParams,
      response: { 200: Status },
    }),
    async (request) => {
      const phone = contactPhone('phone_number', request.params.phone_number)
      const amount = await removeContacts(ctx, actorOf(request), { phones: [phone], ids: [] })
      if (amount === 0) throw noContact(phone)
      return { status: 'OK' }
    },
  )
}

/** An order of the first version that is not stored counts as the order of creation. */
export function pageOf(query: {
  limit?: number
  offset?: number
  order_by?: string
  order_direction?: string
}): ContactPage {
  return {
    order: ORDERS[query.order_by ?? ''] ?? 'created',
    descending: query.order_direction !== 'asc',
    limit: Math.min(query.limit ?? 100, MAX_LIMIT),
    offset: Math.min(query.offset ?? 0, MAX_OFFSET),
  }
}

function createdFrom(text: string): { from: number; firstId: string } {
  const from = requireTime('created_at_gte', text)
  return { from, firstId: firstIdAt(from) }
}
