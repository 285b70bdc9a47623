import type { NewEvent } from '../events/event.js'

/** A person that an account writes to. Contacts are found by phone; the id never changes. */
export interface Contact {
  id: string
  accountId: string
  phone: string
  firstName: string
  lastName: string
  companyName: string
  assignedToEmail: string | null
  /** The line that writes to the contact. */
  lineNumber: string | null
  tags: readonly string[]
  /** By human-readable label. */
  variables: Readonly<Record<string, string>>
  /** Whether an inbound message created the contact and the account has not edited it yet. */
  unclaimed: boolean
  createdAt: number
  updatedAt: number
}

/** Custom variables of one contact. */
export const MAX_LABELS = 100

/** Fields that a caller may set. */
export type ContactFields = Partial<
  Pick<
    Contact,
    'firstName' | 'lastName' | 'companyName' | 'assignedToEmail' | 'lineNumber' | 'tags' | 'variables'
  >
>

/** Facts about a contact's number. */
export interface ContactState {
  optedOut: boolean
  verified: boolean
}

const CONTACT_ORDERS = ['created', 'firstName', 'lastName', 'phone'] as const
export type ContactOrder = (typeof CONTACT_ORDERS)[number]

/** Given fields replace the old ones. Variables are merged, so that two callers do not erase each other's values. */
export function changedContact(contact: Contact, fields: ContactFields, now: number): Contact {
  // Field by field: spreading would cost a bulk call of ten thousand a tenth of its time.
  return {
    id: contact.id,
    accountId: contact.accountId,
    phone: contact.phone,
    firstName: fields.firstName ?? contact.firstName,
    lastName: fields.lastName ?? contact.lastName,
    companyName: fields.companyName ?? contact.companyName,
    assignedToEmail: fields.assignedToEmail === undefined ? contact.assignedToEmail : fields.assignedToEmail,
    lineNumber: fields.lineNumber === undefined ? contact.lineNumber : fields.lineNumber,
    tags: fields.tags ? [...new Set(fields.tags)] : contact.tags,
    variables: fields.variables ? { ...contact.variables, ...fields.variables } : contact.variables,
    unclaimed: false,
    createdAt: contact.createdAt,
    updatedAt: now,
  }
}

/** The event's subject is the contact's id, its time the contact's creation. */
export function contactEvent(contact: Contact): NewEvent {
  const { phone, firstName, lastName } = contact
  return {
    accountId: contact.accountId,
    type: 'contact.created',
    subject: contact.id,
    at: contact.createdAt,
    data: { phone, firstName, lastName },
  }
}
