import type { FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import { type Static, Type } from 'typebox'
import { nextTurn } from '../../base/turns.js'
import type { Contact } from '../../core/contacts/contact.js'
import { type ContactInput, ownerOf, removeContacts } from '../../services/contacts/contacts.js'
import { importContacts } from '../../services/contacts/import.js'
import type { Ctx } from '../../services/ctx.js'
import { findContactStates, findContacts } from '../../storage/contacts/contacts.js'
import { type Aliases, olderNames } from '../http/aliases.js'
import { actorOf } from '../http/auth.js'
import { identityOf } from '../http/identity.js'
import { type Routes, routesOf } from '../http/routes.js'
import { integer, string } from '../http/schemas.js'
import {
  CONTACT_ALIASES,
  ContactWire,
  contactFields,
  contactPhone,
  contactRoute,
  contactWire,
  fieldsOf,
} from './wire.js'

const BODY_LIMIT = 8 << 20
const MAX_ROWS = 10_000
const UUID = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i

const Row = Type.Object(
  {
    phone: string('Phone number, E.164', { examples: ['+12025550101'] }),
    ...contactFields,
  },
  { title: 'BulkContact' },
)
const ROW_ALIASES = { phone: ['number', 'phone_number', 'phoneNumber'], ...CONTACT_ALIASES } as const
const DELETE_ALIASES = { contact_ids: ['contactIds'] } as const

const Answer = Type.Object({ status: string('OK'), contacts: Type.Array(ContactWire) })
type Answer = Static<typeof Answer>

const ContactList: Record<string, unknown> = { ...Type.Array(ContactWire) }
const PART = 100

/**
 * Serialises the answer a hundred contacts at a time, with the work of other accounts in between. One text of megabytes
 * consists of a million small strings that stay alive until it is complete, and the garbage collector spent more time on
 * them than all other work took.
 */
async function inParts(
  reply: FastifyReply,
  accountId: string,
  contacts: readonly Contact[],
  wire: (contact: Contact) => Static<typeof ContactWire>,
): Promise<Buffer> {
  const serialize = reply.compileSerializationSchema(ContactList) as (list: unknown) => string
  const parts = [Buffer.from('{"status":"OK","contacts":[')]
  for (let from = 0; from < contacts.length; from += PART) {
    if (from > 0) await nextTurn(accountId)
    const list = serialize(contacts.slice(from, from + PART).map(wire))
    parts.push(Buffer.from(`${from === 0 ? '' : ','}${list.slice(1, -1)}`))
  }
  return Buffer.concat([...parts, Buffer.from(']}')])
}

const rowsRoute = routesOf('Contacts', {
  access: 'account',
  confined: 'to its lines',
  swaggerTransform: documentRows,
})

export function registerContactBulk(app: Routes, ctx: Ctx): void {
  app.post(
    '/api/v2/contacts/bulk',
    {
      ...rowsRoute({
        operationId: 'createContacts',
        errors: { 409: 'A number is there twice, or is a contact already.' },
        summary: 'Create many contacts',
        description:
          'All rows are checked before the first is stored: an invalid row, which the error names, or too little room for all stores none. More than 200 contacts are stored in parts, so that others need not wait: should the server stop in between, send the request again. An existing number is updated, as with update_if_exists. Of two rows with the same number, the later one wins field by field; the answer has each contact once. At most 10,000 rows and 8 MiB.',
        example: {
          contacts: [
            { phone: '+12025550143', first_name: 'Grace' },
            { phone: '+12025550144', first_name: 'Alan' },
          ],
        },
        body: Type.Object({ contacts: Type.Array(Row, { maxItems: MAX_ROWS }) }),
        response: { 200: Answer },
        beforeValidation: withRowAliases,
      }),
      bodyLimit: BODY_LIMIT,
    },
    async (request, reply) => {
      const inputs = request.body.contacts.map((row, i): ContactInput => {
        const at = `contacts.${i}.`
        return { at, phone: contactPhone(`${at}phone`, row.phone), fields: fieldsOf(row, at) }
      })
      const owner = await ownerOf(ctx, actorOf(request))
      const phones = [...new Set(inputs.map((input) => input.phone))]
      const stateOf = await findContactStates(ctx.db, ctx.marks, owner.account.id, phones)
      const wire = (contact: Contact) => contactWire(contact, stateOf(contact.phone))
      let contacts = await importContacts(ctx, identityOf(request), owner, inputs)
      if (!contacts) {
        const found = await findContacts(ctx.db, owner.account.id, 'phone', phones)
        contacts = phones.flatMap((phone) => found.get(phone) ?? [])
        reply.header('x-idempotent-replay', 'true')
      }
      // Fastify sends bytes unchanged and would serialise an object again.
      reply.type('application/json; charset=utf-8')
      return (await inParts(reply, owner.account.id, contacts, wire)) as unknown as Answer
    },
  )

  app.delete(
    '/api/v2/contacts',
    contactRoute({
      operationId: 'deleteContacts',
      summary: 'Delete many contacts',
      description: 'Unknown numbers and ids are ignored.',
      aliases: DELETE_ALIASES,
      example: { contact_ids: ['+12025550143', '+12025550144'] },
      body: Type.Object({
        contact_ids: Type.Array(Type.String({ maxLength: 64 }), {
          maxItems: MAX_ROWS,
          description: 'Phone numbers in E.164, or values of contact_id',
        }),
      }),
      response: { 200: Type.Object({ status: string('OK'), amount: integer('Number of contacts deleted') }) },
    }),
    async (request) => {
      const phones: string[] = []
      const ids: string[] = []
      for (const [i, value] of request.body.contact_ids.entries()) {
        if (UUID.test(value)) ids.push(value.toLowerCase())
        else phones.push(contactPhone(`contact_ids.${i}`, value))
      }
      return { status: 'OK', amount: await removeContacts(ctx, actorOf(request), { phones, ids }) }
    },
  )
}

function documentRows({ schema, url }: { schema: FastifySchema; url: string }) {
  const body = schema.body as { properties: { contacts: object } }
  const contacts = { ...body.properties.contacts, items: olderNames(Row, ROW_ALIASES) }
  return { url, schema: { ...schema, body: { ...body, properties: { contacts } } } }
}

/** Replaces older field names in each row. */
function withRowAliases(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  const rows = (request.body as { contacts?: unknown } | null)?.contacts
  if (Array.isArray(rows)) for (const row of rows) rename(row)
  done()
}

const CURRENT = new Map(
  Object.entries(ROW_ALIASES as Aliases).flatMap(([name, older]) => older.map((alias) => [alias, name])),
)

function rename(row: unknown): void {
  if (typeof row !== 'object' || row === null) return
  const fields = row as Record<string, unknown>
  for (const key in fields) {
    const name = CURRENT.get(key)
    if (name !== undefined && (fields[name] ?? null) === null) fields[name] = fields[key]
  }
  for (const key in fields) if (fields[key] === null) delete fields[key]
}
