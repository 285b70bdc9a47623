import { type Static, Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import { AppError } from '../../core/errors.js'
import type { Line } from '../../core/lines/line.js'
import { toE164FromUS } from '../../core/phone-number.js'
import { SHARED, type VerifiedContact } from '../../core/verify/verified-contact.js'
import type { Ctx } from '../../services/ctx.js'
import type { Actor } from '../../services/messages/outbound.js'
import { registerContact, sharedLineOf } from '../../services/verify/verified-contacts.js'
import { findVerifiedContact, listVerifiedContacts } from '../../storage/verify/verified-contacts.js'
import { actorOf } from '../http/auth.js'
import { answerOnce } from '../http/once.js'
import { type Routes, routesOf } from '../http/routes.js'
import { boolean, integer, string } from '../http/schemas.js'

const route = routesOf('Verified contacts', { access: 'account', confined: 'to its lines' })

const MAX_LIST = 10_000

const VerifiedWire = Type.Object(
  {
    phone_number: string('Phone number, E.164'),
    verified: boolean('Whether the contact has messaged the shared line'),
    verification_status: Type.Union([Type.Literal('pending'), Type.Literal('verified')], {
      description: 'pending until the contact has messaged the shared line, then verified',
    }),
    created_at: string('When it was created'),
    updated_at: string('When it last changed'),
  },
  { title: 'VerifiedContact' },
)
const SharedLine = Type.Union(
  [
    Type.Object(
      {
        phone_number: string('The line that the contact must message, E.164'),
        type: Type.Literal('shared', { description: 'Always shared' }),
      },
      { title: 'SharedLine' },
    ),
    Type.Null(),
  ],
  { description: 'The shared line of the account; null when it has none' },
)

const NEW_ALIASES = { phone_number: ['number', 'phoneNumber'] } as const
const ROUTE_ALIASES = { recipient: ['number', 'phone_number'] } as const

export function registerVerifiedContacts(app: Routes, ctx: Ctx): void {
  app.get(
    '/v3/verified-contacts',
    route({
      operationId: 'listVerifiedContacts',
      summary: 'List the contacts of the shared line',
      description: 'Newest first, at most 10,000.',
      response: {
        200: Type.Object({ data: Type.Object({ contacts: Type.Array(VerifiedWire), line: SharedLine }) }),
      },
    }),
    async (request) => {
      const { line, contacts } = await list(ctx, actorOf(request))
      return { data: { contacts: contacts.map(verifiedWire), line: lineWire(line) } }
    },
  )

  app.post(
    '/v3/verified-contacts',
    route({
      operationId: 'createVerifiedContact',
      summary: 'Register a contact on the shared line',
      description:
        'Creates a pending contact, or returns the existing one. The contact is verified when it sends any message to the shared line. When several accounts share the line, the account that last registered or messaged the contact receives that message.',
      aliases: NEW_ALIASES,
      example: { phone_number: '+12025550101' },
      body: Type.Object({
        phone_number: string('E.164, or a US number in national format', {
          examples: ['+12025550101', '(202) 555-0101'],
        }),
      }),
      response: {
        200: Type.Object({
          data: Type.Object({
            contact: VerifiedWire,
            line: SharedLine,
            verification_instructions: Type.Union([Type.String(), Type.Null()], {
              description: 'What the contact has to do; null when it is verified',
            }),
          }),
        }),
      },
    }),
    async (request, reply) => {
      const actor = actorOf(request)
      const number = localPhone('phone_number', request.body.phone_number)
      const line = await sharedLineOf(ctx, actor)
      return answerOnce(ctx, reply, 'anew', async (sql) => {
        const contact = await registerContact(ctx, sql, actor, line, number)
        return {
          status: 200,
          body: {
            data: {
              contact: verifiedWire(contact),
              line: lineWire(line),
              verification_instructions: instructions(contact, line),
            },
          },
        }
      })
    },
  )

  app.get(
    '/v3/verified-contacts/:phone_number',
    route({
      operationId: 'getVerifiedContact',
      summary: 'Retrieve a contact of the shared line',
      params: Type.Object({ phone_number: string('E.164, or a US number in national format') }),
      response: { 200: Type.Object({ data: Type.Object({ contact: VerifiedWire, line: SharedLine }) }) },
    }),
    async (request) => {
      const actor = actorOf(request)
      const number = localPhone('phone_number', request.params.phone_number)
      const line = await sharedLineOf(ctx, actor)
      const hidden = actor.numbers && !line
      const contact = hidden ? undefined : await findVerifiedContact(ctx.db, actor.account.id, number, SHARED)
      if (!contact) throw new AppError('not_found', `There is no verified contact ${number}`)
      return { data: { contact: verifiedWire(contact), line: lineWire(line) } }
    },
  )

  app.get(
    '/accounts/shared-contacts',
    route({
      operationId: 'listSharedContacts',
      summary: 'List the contacts of the shared line (command line)',
      description: 'Like GET /v3/verified-contacts, in the form that the published command line expects.',
      response: {
        200: Type.Object({
          status: string('OK'),
          sharedNumber: Type.Union([Type.String(), Type.Null()], { description: 'The shared line' }),
          contacts: Type.Array(Route),
        }),
      },
    }),
    async (request) => {
      const { line, contacts } = await list(ctx, actorOf(request))
      return { status: 'OK', sharedNumber: line?.number ?? null, contacts: contacts.map(routeWire) }
    },
  )

  app.post(
    '/accounts/verify-contact-on-shared-account',
    route({
      operationId: 'createSharedContact',
      summary: 'Register a contact on the shared line (command line)',
      description: 'Like POST /v3/verified-contacts, in the form that the published command line expects.',
      aliases: ROUTE_ALIASES,
      example: { recipient: '+12025550101' },
      body: Type.Object({ recipient: string('E.164, or a US number in national format') }),
      response: { 200: Type.Object({ status: string('OK'), route: Route }) },
    }),
    async (request, reply) => {
      const actor = actorOf(request)
      const number = localPhone('recipient', request.body.recipient)
      const line = await sharedLineOf(ctx, actor)
      return answerOnce(ctx, reply, 'anew', async (sql) => {
        const contact = await registerContact(ctx, sql, actor, line, number)
        return { status: 200, body: { status: 'OK', route: routeWire(contact) } }
      })
    },
  )
}

const Route = Type.Object(
  {
    id: integer('Id'),
    number: string('Phone number, E.164'),
    verified: boolean('Whether the contact has messaged the shared line'),
    createdAt: string('When it was created'),
  },
  { title: 'SharedContact' },
)

async function list(ctx: Ctx, actor: Actor): Promise<{ line?: Line; contacts: VerifiedContact[] }> {
  const line = await sharedLineOf(ctx, actor)
  if (!line && actor.numbers) return { contacts: [] }
  const contacts = await listVerifiedContacts(ctx.db, actor.account.id, SHARED, MAX_LIST)
  return { ...(line ? { line } : {}), contacts }
}

function verifiedWire(contact: VerifiedContact): Static<typeof VerifiedWire> {
  return {
    phone_number: contact.number,
    verified: contact.verifiedAt !== null,
    verification_status: contact.verifiedAt === null ? 'pending' : 'verified',
    created_at: formatTime(contact.createdAt),
    updated_at: formatTime(contact.updatedAt),
  }
}

function lineWire(line: Line | undefined): Static<typeof SharedLine> {
  return line ? { phone_number: line.number, type: 'shared' } : null
}

function routeWire(contact: VerifiedContact): Static<typeof Route> {
  return {
    id: contact.id,
    number: contact.number,
    verified: contact.verifiedAt !== null,
    createdAt: formatTime(contact.createdAt),
  }
}

function instructions(contact: VerifiedContact, line: Line | undefined): string | null {
  if (contact.verifiedAt !== null) return null
  return line
    ? `Ask ${contact.number} to send any message, by iMessage or SMS, to ${line.number}.`
    : `This account has no shared line yet. When it has one, ask ${contact.number} to send any message to it.`
}

function localPhone(field: string, text: string): string {
  const number = toE164FromUS(text)
  if (!number) {
    throw new AppError(
      'invalid',
      `${field}: must be a phone number in E.164, like +12025550101, or a US number like (202) 555-0101`,
    )
  }
  return number
}
