import { type Static, Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import {
  type Contact,
  type ContactFields,
  type ContactState,
  MAX_LABELS,
} from '../../core/contacts/contact.js'
import { AppError } from '../../core/errors.js'
import { toE164 } from '../../core/phone-number.js'
import type { Ctx } from '../../services/ctx.js'
import { findContactStates } from '../../storage/contacts/contacts.js'
import { requirePhone } from '../http/fields.js'
import { routesOf } from '../http/routes.js'
import { boolean, nullable, optional, string, strings } from '../http/schemas.js'

const MAX_NAME = 200
const MAX_TAGS = 100

const text = (description: string) => optional(string(description, { maxLength: MAX_NAME }))

const Variables = (description: string) =>
  Type.Unsafe<Record<string, string>>({
    type: 'object',
    maxProperties: MAX_LABELS,
    propertyNames: { minLength: 1, maxLength: 100 },
    additionalProperties: { type: 'string', maxLength: 5000 },
    description,
  })

/** The fields of a contact that callers can set. An empty text clears the field. */
export const contactFields = {
  first_name: text('First name'),
  last_name: text('Last name'),
  company_name: text("Company name; default for a new contact: the account's name"),
  assigned_to_email: optional(
    string('E-mail of the assigned user; it need not belong to a seat', {
      maxLength: 254,
      pattern: '^([^\\s@]+@[^\\s@]+)?$',
    }),
  ),
  sendblue_number: optional(string('The line that messages the contact, E.164; a line of the account')),
  tags: optional(
    Type.Array(Type.String({ minLength: 1, maxLength: MAX_NAME }), {
      maxItems: MAX_TAGS,
      description: 'Tags; they replace the earlier ones',
    }),
  ),
  custom_variables: optional(
    Variables(
      `Values by label; merged with the earlier ones, at most ${MAX_LABELS} in all. Labels need not exist before`,
    ),
  ),
}

/** Older names of the same fields. */
export const CONTACT_ALIASES = {
  first_name: ['firstName'],
  last_name: ['lastName'],
  company_name: ['companyName'],
  assigned_to_email: ['assignedToEmail'],
  sendblue_number: ['sendblueNumber'],
  custom_variables: ['customVariables'],
} as const

export const NUMBER_ALIASES = { number: ['phone_number', 'phoneNumber', 'phone'] } as const

const wired = {
  contact_id: string('Permanent id of the contact'),
  phone: string('Phone number, E.164'),
  first_name: string('First name'),
  last_name: string('Last name'),
  company_name: string('Company name'),
  assigned_to_email: nullable('string', 'E-mail of the assigned user'),
  sendblue_number: nullable('string', 'The line that messages the contact'),
  custom_variables: Variables('Values by label'),
  tags: strings('Tags'),
  verified: boolean('Whether the contact has replied to a verification message'),
  opt_out: boolean('Whether the contact has opted out of messages from this account'),
  created_at: string('When it was created'),
  updated_at: string('When it last changed'),
}

const copies = {
  firstName: string('first_name as older clients read it'),
  lastName: string('last_name as older clients read it'),
  companyName: string('company_name as older clients read it'),
  assignedToEmail: nullable('string', 'assigned_to_email as older clients read it'),
  sendblueNumber: nullable('string', 'sendblue_number as older clients read it'),
  customVariables: Variables('custom_variables as older clients read it'),
  optOut: boolean('opt_out as older clients read it'),
  createdAt: string('created_at as older clients read it'),
  updatedAt: string('updated_at as older clients read it'),
}

export const ContactWire = Type.Object({ ...wired, ...copies }, { title: 'Contact' })
export type ContactWire = Static<typeof ContactWire>

export const OneContact = Type.Object(
  { status: string('OK'), contact: ContactWire },
  { title: 'ContactAnswer' },
)
export const Status = Type.Object({ status: string('OK') }, { title: 'StatusAnswer' })

/** Confined tokens see the contacts of their lines. */
export const contactRoute = routesOf('Contacts', { access: 'account', confined: 'to its lines' })

export function contactWire(contact: Contact, state: ContactState): ContactWire {
  const createdAt = formatTime(contact.createdAt)
  const updatedAt = formatTime(contact.updatedAt)
  return {
    contact_id: contact.id,
    phone: contact.phone,
    first_name: contact.firstName,
    last_name: contact.lastName,
    company_name: contact.companyName,
    assigned_to_email: contact.assignedToEmail,
    sendblue_number: contact.lineNumber,
    custom_variables: contact.variables,
    tags: contact.tags as string[],
    verified: state.verified,
    opt_out: state.optedOut,
    created_at: createdAt,
    updated_at: updatedAt,
    firstName: contact.firstName,
    lastName: contact.lastName,
    companyName: contact.companyName,
    assignedToEmail: contact.assignedToEmail,
    sendblueNumber: contact.lineNumber,
    customVariables: contact.variables,
    optOut: state.optedOut,
    createdAt,
    updatedAt,
  }
}

/** Contacts of one account, with the verification and opt-out of their numbers. */
export async function contactWires(
  ctx: Ctx,
  accountId: string,
  contacts: readonly Contact[],
): Promise<ContactWire[]> {
  if (contacts.length === 0) return []
  const stateOf = await findContactStates(
    ctx.db,
    ctx.marks,
    accountId,
    contacts.map((contact) => contact.phone),
  )
  return contacts.map((contact) => contactWire(contact, stateOf(contact.phone)))
}

interface FieldsBody {
  first_name?: string
  last_name?: string
  company_name?: string
  assigned_to_email?: string
  sendblue_number?: string
  tags?: string[]
  custom_variables?: Record<string, string>
}

/** The given fields only. */
export function fieldsOf(body: FieldsBody, at = ''): ContactFields {
  const fields: ContactFields = {}
  if (body.first_name !== undefined) fields.firstName = body.first_name
  if (body.last_name !== undefined) fields.lastName = body.last_name
  if (body.company_name !== undefined) fields.companyName = body.company_name
  if (body.assigned_to_email !== undefined) fields.assignedToEmail = body.assigned_to_email || null
  if (body.sendblue_number !== undefined) {
    fields.lineNumber = body.sendblue_number
      ? requirePhone(`${at}sendblue_number`, body.sendblue_number)
      : null
  }
  if (body.tags !== undefined) fields.tags = body.tags
  if (body.custom_variables !== undefined) fields.variables = body.custom_variables
  return fields
}

/** Clients look for the words "Invalid phone number". */
export function contactPhone(field: string, given: string): string {
  const phone = toE164(given)
  if (!phone)
    throw new AppError('invalid', `${field}: Invalid phone number; it must be in E.164, like +12025550101`)
  return phone
}
