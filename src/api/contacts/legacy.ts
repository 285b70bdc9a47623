import { type Static, Type } from 'typebox'
import type { Account } from '../../core/accounts/account.js'
import { displayPhone, toE164 } from '../../core/phone-number.js'
import { findVisible, scopeFor } from '../../services/contacts/contacts.js'
import type { Ctx } from '../../services/ctx.js'
import { listContactIds, readContacts } from '../../storage/contacts/list.js'
import { accountOf, actorOf } from '../http/auth.js'
import { sendList } from '../http/render.js'
import type { Routes } from '../http/routes.js'
import { oneOf, optional, string } from '../http/schemas.js'
import { ListQuery, ORDERS, pageOf } from './contacts.js'
import { CREATE_ROUTE, createContact } from './create.js'
import { ContactWire, contactRoute, contactWires } from './wire.js'

const { limit, offset, order_direction } = ListQuery.properties

const LegacyQuery = Type.Object({
  limit,
  offset,
  order_by: optional(
    oneOf([...Object.keys(ORDERS), 'last_date'], 'Order; last_date is the order of creation'),
  ),
  order_direction,
})

const LegacyContact = Type.Object(
  {
    ...ContactWire.properties,
    account_email: string('Account identifier'),
    cid: string('contact_id as older clients read it'),
    displayPhone: string('The number with spaces'),
  },
  { title: 'ContactV1' },
)
const LegacyContacts = Type.Array(LegacyContact)

function legacyWire(contact: ContactWire, account: Account): Static<typeof LegacyContact> {
  return {
    ...contact,
    account_email: account.email,
    cid: contact.contact_id,
    displayPhone: displayPhone(contact.phone),
  }
}

/** The contact paths of the first version, with its camelCase names beside the current ones. */
export function registerLegacyContacts(app: Routes, ctx: Ctx): void {
  app.get(
    '/accounts/contacts',
    contactRoute({
      operationId: 'listContactsV1',
      summary: 'List contacts (first version)',
      description: 'Answers with an array. Use GET /api/v2/contacts in new programs.',
      deprecated: true,
      querystring: LegacyQuery,
      response: { 200: LegacyContacts },
    }),
    async (request, reply) => {
      const actor = actorOf(request)
      const { id } = actor.account
      const sql = ctx.db.aside(id)
      return sendList(reply, {
        owner: id,
        pieces: await listContactIds(sql, scopeFor(actor), pageOf(request.query)),
        rows: LegacyContacts,
        async read(ids) {
          const wires = await contactWires(ctx, id, await readContacts(sql, id, ids))
          return wires.map((contact) => legacyWire(contact, actor.account))
        },
      })
    },
  )

  app.post(
    '/accounts/contacts',
    contactRoute({
      ...CREATE_ROUTE,
      operationId: 'createContactV1',
      summary: 'Create a contact (first version)',
      description: `${CREATE_ROUTE.description} Use POST /api/v2/contacts in new programs.`,
      deprecated: true,
      response: {
        200: Type.Object({
          status: string('OK'),
          contact: string('Id of the contact'),
          contactData: LegacyContact,
        }),
      },
    }),
    async (request, reply) => {
      const contact = await createContact(ctx, request, reply, 200)
      const contactData = legacyWire(contact, accountOf(request))
      return { status: 'OK', contact: contact.contact_id, contactData }
    },
  )

  app.get(
    '/accounts/contacts/:contact_id',
    contactRoute({
      operationId: 'getContactV1',
      summary: 'Retrieve a contact (first version)',
      description: 'Use GET /api/v2/contacts/{phone_number} in new programs.',
      deprecated: true,
      params: Type.Object({ contact_id: string('Id of the contact, or its number in E.164') }),
      response: { 200: Type.Object({ status: string('OK'), contact: LegacyContact }) },
    }),
    async (request) => {
      const { contact_id } = request.params
      const phone = toE164(contact_id)
      const contact = phone
        ? await findVisible(ctx.db, actorOf(request), phone)
        : await findVisible(ctx.db, actorOf(request), contact_id.toLowerCase(), 'id')
      const [wire] = await contactWires(ctx, contact.accountId, [contact])
      return { status: 'OK', contact: legacyWire(wire!, accountOf(request)) }
    },
  )
}
