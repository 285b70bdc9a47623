import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import type { Contact } from '../../core/contacts/contact.js'
import { AppError } from '../../core/errors.js'
import { ownerOf, putContacts } from '../../services/contacts/contacts.js'
import type { Ctx } from '../../services/ctx.js'
import { findContacts } from '../../storage/contacts/contacts.js'
import type { Sql } from '../../storage/engine/db.js'
import { actorOf } from '../http/auth.js'
import { answerOnce } from '../http/once.js'
import type { Routes } from '../http/routes.js'
import { boolean, optional, string } from '../http/schemas.js'
import {
  CONTACT_ALIASES,
  ContactWire,
  contactFields,
  contactPhone,
  contactRoute,
  contactWires,
  fieldsOf,
  NUMBER_ALIASES,
  OneContact,
} from './wire.js'

const NewContact = Type.Object(
  {
    number: string('Phone number, E.164', { examples: ['+12025550101'] }),
    ...contactFields,
    update_if_exists: optional(boolean('Update the contact if the number exists')),
  },
  { title: 'NewContact' },
)

const ALIASES = { ...NUMBER_ALIASES, ...CONTACT_ALIASES, update_if_exists: ['updateIfExists'] } as const

/** The steps that every path shares which creates a contact. */
export const CREATE_ROUTE = {
  description:
    'An existing number answers 409, unless update_if_exists is true: then given fields replace the old ones, and custom variables are merged.',
  example: { number: '+12025550143', first_name: 'Grace', last_name: 'Hopper', tags: ['early'] },
  errors: { 409: 'There is a contact with this number, and update_if_exists is not true.' },
  body: NewContact,
  aliases: ALIASES,
  beforeValidation: requireNumber,
} as const

export async function createContact(
  ctx: Ctx,
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
): Promise<ContactWire> {
  const body = request.body as Static<typeof NewContact>
  const phone = contactPhone('number', body.number)
  const owner = await ownerOf(ctx, actorOf(request))
  const input = { at: '', phone, fields: fieldsOf(body) }
  const update = body.update_if_exists ?? false
  const effect = async (sql: Sql) => {
    const [contact] = await putContacts(ctx, sql, owner, [input], update)
    return { status, body: contact! }
  }
  const isThere = async (sql: Sql, stored: Contact) => {
    const current = (await findContacts(sql, owner.account.id, 'phone', [phone])).get(phone)
    return current?.id === stored.id && current.updatedAt === stored.updatedAt
  }
  const contact = await answerOnce(ctx, reply, update ? 'anew' : isThere, effect)
  return (await contactWires(ctx, owner.account.id, [contact]))[0]!
}

/** Creating one contact, under the current path and an older one. */
export function registerContactCreate(app: Routes, ctx: Ctx): void {
  app.post(
    '/api/v2/contacts',
    contactRoute({
      ...CREATE_ROUTE,
      operationId: 'createContact',
      summary: 'Create a contact',
      response: { 200: OneContact },
    }),
    async (request, reply) => ({ status: 'OK', contact: await createContact(ctx, request, reply, 200) }),
  )
  app.post(
    '/api/contacts',
    contactRoute({
      ...CREATE_ROUTE,
      operationId: 'createContactAtOlderPath',
      summary: 'Create a contact (older path)',
      description: `${CREATE_ROUTE.description} POST /api/v2/contacts does the same.`,
      deprecated: true,
      response: {
        201: Type.Object({
          status: string('OK'),
          contact: Type.Object({
            ...ContactWire.properties,
            id: string('contact_id as older clients read it'),
            number: string('phone as older clients read it'),
          }),
        }),
      },
    }),
    async (request, reply) => {
      const contact = await createContact(ctx, request, reply, 201)
      return { status: 'OK', contact: { ...contact, id: contact.contact_id, number: contact.phone } }
    },
  )
}

/** Clients look for this error text, so the check runs before the one of the schema. */
function requireNumber(request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void {
  const number = (request.body as { number?: unknown } | null)?.number
  const missing = number === undefined || number === ''
  done(missing ? new AppError('invalid', 'Missing fields: number is required') : undefined)
}
