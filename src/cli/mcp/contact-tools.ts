import { type Static, Type } from 'typebox'
import { onceOnly } from '../client.js'
import { phoneOf } from './guard.js'
import { bool, id, int, list, object, opt, orNull, phone, str, tool } from './tool.js'

const CONTACTS = '/api/v2/contacts'
const Number_ = phone('The person: a phone number with its country code')
const name = (description: string) => opt(str(description, { maxLength: 200 }))

const ContactOut = object({
  number: str('Phone number, E.164'),
  first_name: str('First name; empty if unknown'),
  last_name: str('Last name; empty if unknown'),
  company_name: str('Company; empty if unknown'),
  tags: list(Type.String(), 'Tags'),
  custom_variables: Type.Record(Type.String(), Type.String(), { description: 'Further facts by label' }),
  opted_out: bool('true: they want no messages; sends to them fail'),
  line: orNull('string', 'The line that writes to them'),
  created_at: str('When the contact was created'),
})

type Contact = Static<typeof ContactOut> & {
  phone: string
  opt_out: boolean
  sendblue_number: string | null
}

function contactOut(contact: Contact): Static<typeof ContactOut> {
  const { first_name, last_name, company_name, tags, custom_variables, created_at } = contact
  return {
    number: contact.phone,
    first_name: first_name ?? '',
    last_name: last_name ?? '',
    company_name: company_name ?? '',
    tags,
    custom_variables,
    opted_out: contact.opt_out,
    line: contact.sendblue_number,
    created_at,
  }
}

export const CONTACT_TOOLS = [
  tool({
    name: 'list_contacts',
    title: 'List contacts',
    description: 'The contacts of the account, newest first, one page at a time.',
    input: object({
      limit: opt(int('How many contacts at most; default 50', 1, 200)),
      offset: opt(int('How many of the newest contacts to skip, for the next page; default 0', 0, 10_000)),
    }),
    output: object({
      contacts: list(ContactOut, 'Newest first'),
      has_more: bool('Whether there are older contacts'),
    }),
    async run({ call }, { limit = 50, offset = 0 }) {
      const found = await call<Contact[]>('GET', `${CONTACTS}?limit=${limit + 1}&offset=${offset}`)
      return { contacts: found.slice(0, limit).map(contactOut), has_more: found.length > limit }
    },
  }),
  tool({
    name: 'get_contact',
    title: 'Get a contact',
    description: 'What is known about one person: name, tags, further facts, and whether they want messages.',
    input: object({ number: Number_ }),
    output: ContactOut,
    async run({ call }, input) {
      const number = encodeURIComponent(phoneOf('number', input.number))
      return contactOut((await call<{ contact: Contact }>('GET', `${CONTACTS}/${number}`)).contact)
    },
  }),
  tool({
    name: 'create_contact',
    title: 'Create a contact',
    description:
      'Adds a person to the contacts, or changes the contact with update_if_exists. It sends nothing, and it does not make the person an allowed recipient.',
    input: object({
      number: Number_,
      first_name: name("The person's first name"),
      last_name: name("The person's last name"),
      company_name: name('Name of their company'),
      tags: opt(
        Type.Array(str('One tag, such as customer', { minLength: 1, maxLength: 200 }), {
          maxItems: 100,
          description: 'Words to sort the contact by',
        }),
      ),
      custom_variables: opt(
        Type.Record(Type.String(), str('The fact behind a label', { maxLength: 5000 }), {
          description: 'Further facts by label, such as {"city": "Berlin"}',
        }),
      ),
      update_if_exists: opt(bool('Change the contact if it exists; without it, that is refused')),
    }),
    output: ContactOut,
    isWriting: true,
    async run({ call }, input) {
      const body = { ...input, number: phoneOf('number', input.number) }
      return contactOut((await call<{ contact: Contact }>('POST', CONTACTS, body, onceOnly())).contact)
    },
  }),
  tool({
    name: 'lookup',
    title: 'Look up a number',
    description:
      'Whether a number (or an e-mail address) is on iMessage. Sends nothing to them. SMS means that it is not, and does not prove that the number exists.',
    input: object({ number: phone('Phone number with its country code, or an e-mail address') }),
    output: object({ number: str('The number or address'), service: str('iMessage or SMS') }),
    isOpenWorld: true,
    async run({ call }, input) {
      const asked = input.number.includes('@') ? input.number : phoneOf('number', input.number)
      const path = `/api/evaluate-service?number=${encodeURIComponent(asked)}`
      const { number, service } = await call<{ number: string; service: string }>('GET', path)
      return { number, service }
    },
  }),
  tool({
    name: 'why',
    title: 'Explain a message',
    description:
      'What happened to one message, where it stands, why, and what to do about it. Use it when a message is not DELIVERED.',
    input: object({ handle: id('The handle of the message, from send_message or read_conversation') }),
    output: object({
      handle: str('The message'),
      verdict: str('Where the message stands, in a word, like delivered, queued or opted_out'),
      summary: str('The verdict in a few sentences'),
      next_step: str('What to do about it'),
      steps: list(
        object({ at: str('When'), what: str('Kind of the step'), detail: str('What happened') }),
        'What happened, oldest first',
      ),
    }),
    async run({ call }, { handle }) {
      const path = `/v3/messages/${encodeURIComponent(handle)}/why`
      return (await call<{ data: never }>('GET', path)).data
    },
  }),
]
