import { randomUUID } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { phoneOf } from './guard.js'
import { object, orNull, Phone, tool } from './tool.js'

const ContactOut = object({
  number: Type.String({ description: 'Phone number, E.164' }),
  first_name: Type.String({ description: 'First name; empty when unknown' }),
  last_name: Type.String({ description: 'Last name; empty when unknown' }),
  company_name: Type.String({ description: 'Company; empty when unknown' }),
  tags: Type.Array(Type.String(), { description: 'Tags' }),
  custom_variables: Type.Record(Type.String(), Type.String(), { description: 'Further facts by label' }),
  opted_out: Type.Boolean({ description: 'true: they want no messages; sends to them fail' }),
  line: orNull('string', 'The line that writes to them'),
  created_at: Type.String({ description: 'When it was made' }),
})

type ContactWire = Record<string, unknown> & {
  phone: string
  opt_out: boolean
  sendblue_number: string | null
}

function contactOut(contact: ContactWire): Static<typeof ContactOut> {
  const { phone, first_name, last_name, company_name, tags, custom_variables, created_at } = contact
  return {
    number: phone,
    first_name: String(first_name ?? ''),
    last_name: String(last_name ?? ''),
    company_name: String(company_name ?? ''),
    tags: tags as string[],
    custom_variables: custom_variables as Record<string, string>,
    opted_out: contact.opt_out,
    line: contact.sendblue_number,
    created_at: String(created_at),
  }
}

const CONTACTS = '/api/v2/contacts'
const name = (description: string) => Type.Optional(Type.String({ maxLength: 200, description }))

const listContacts = tool({
  name: 'list_contacts',
  title: 'List contacts',
  description: 'The contacts of the account, newest first, a page at a time.',
  input: object({
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 200, description: 'How many at most; default 50' }),
    ),
    offset: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 10_000, description: 'How many to skip; default 0' }),
    ),
  }),
  output: object({
    contacts: Type.Array(ContactOut, { description: 'Newest first' }),
    has_more: Type.Boolean({ description: 'Whether there are older ones' }),
  }),
  isReading: true,
  isIdempotent: true,
  async run({ call }, { limit = 50, offset = 0 }) {
    const found = (await call('GET', `${CONTACTS}?limit=${limit + 1}&offset=${offset}`)) as ContactWire[]
    return { contacts: found.slice(0, limit).map(contactOut), has_more: found.length > limit }
  },
})

const getContact = tool({
  name: 'get_contact',
  title: 'Get a contact',
  description: 'What is known about one person: name, tags, further facts, and whether they want messages.',
  input: object({ number: Phone('Phone number with its country code') }),
  output: ContactOut,
  isReading: true,
  isIdempotent: true,
  async run({ call }, input) {
    const number = encodeURIComponent(phoneOf('number', input.number))
    const { contact } = (await call('GET', `${CONTACTS}/${number}`)) as { contact: ContactWire }
    return contactOut(contact)
  },
})

const NewContact = object({
  number: Phone('Phone number with its country code'),
  first_name: name('First name'),
  last_name: name('Last name'),
  company_name: name('Company'),
  tags: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 100, description: 'Tags' }),
  ),
  custom_variables: Type.Optional(
    Type.Record(Type.String(), Type.String({ maxLength: 5000 }), { description: 'Further facts by label' }),
  ),
  update_if_exists: Type.Optional(
    Type.Boolean({ description: 'Change the contact when there is one already; otherwise that is refused' }),
  ),
})

const createContact = tool({
  name: 'create_contact',
  title: 'Create a contact',
  description:
    'Adds somebody to the contacts, or changes them with update_if_exists. It sends nothing, and it does not make them an allowed recipient.',
  input: NewContact,
  output: ContactOut,
  isReading: false,
  isIdempotent: true,
  async run({ call }, input) {
    const body = { ...input, number: phoneOf('number', input.number) }
    const answer = await call('POST', CONTACTS, body, { 'idempotency-key': `mcp-${randomUUID()}` })
    return contactOut((answer as { contact: ContactWire }).contact)
  },
})

const lookup = tool({
  name: 'lookup',
  title: 'Look up a number',
  description:
    'Whether a number (or an e-mail address) is on iMessage. Sends nothing to them. SMS means that it is not, and is no proof that the number exists.',
  input: object({ number: Phone('Phone number with its country code, or an e-mail address') }),
  output: object({
    number: Type.String({ description: 'What was asked about' }),
    service: Type.String({ description: 'iMessage or SMS' }),
  }),
  isReading: true,
  isIdempotent: true,
  async run({ call }, input) {
    const asked = input.number.includes('@') ? input.number : phoneOf('number', input.number)
    const path = `/api/evaluate-service?number=${encodeURIComponent(asked)}`
    const { number, service } = (await call('GET', path)) as { number: string; service: string }
    return { number, service }
  },
})

const why = tool({
  name: 'why',
  title: 'Explain a message',
  description:
    'What became of one message, where it stands and why, and what to do about it. Use it when a message is not DELIVERED.',
  input: object({
    handle: Type.String({ minLength: 1, maxLength: 255, description: 'handle of the message' }),
  }),
  output: object({
    handle: Type.String({ description: 'The message' }),
    verdict: Type.String({ description: 'Where it stands, in a word, like delivered, queued or opted_out' }),
    summary: Type.String({ description: 'The same in a few sentences' }),
    next_step: Type.String({ description: 'What to do about it' }),
    steps: Type.Array(
      object({
        at: Type.String({ description: 'When' }),
        what: Type.String({ description: 'Kind of the step' }),
        detail: Type.String({ description: 'What happened' }),
      }),
      { description: 'What happened, oldest first' },
    ),
  }),
  isReading: true,
  isIdempotent: true,
  async run({ call }, { handle }) {
    const path = `/v3/messages/${encodeURIComponent(handle)}/why`
    const { data } = (await call('GET', path)) as { data: never }
    return data
  },
})

export const CONTACT_TOOLS = [listContacts, getContact, createContact, lookup, why]
