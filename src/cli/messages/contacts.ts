import { commaList, inField, onePositional, whole } from '../args.js'
import { type Command, command, type Fields } from '../command.js'

/** The contacts of an account, its one-time codes and its tokens. */
export const CONTACT_COMMANDS: readonly Command[] = [
  command({
    name: 'contacts list',
    summary: 'List contacts, newest first',
    options: { limit: { ...whole('how many at most (default 100, up to 1000)', 1), default: '100' } },
    examples: ['', '--limit 10 --json'],
    request: 'GET /api/v2/contacts',
    columns: 'phone first_name last_name opt_out created_at',
  }),
  command({
    name: 'contacts add',
    summary: 'Add a contact, or change the contact with this number',
    positional: 'number',
    options: { 'first-name': 'first name', 'last-name': 'last name' },
    examples: ['+12025550101 --first-name Ada --last-name Lovelace'],
    request: 'POST /api/v2/contacts',
    body: (args) => ({
      number: onePositional(args, 'number'),
      first_name: args.values['first-name'],
      last_name: args.values['last-name'],
      update_if_exists: true,
    }),
    record: (answer) => (answer.contact ?? answer) as Fields,
  }),
  command({
    name: 'contacts remove',
    summary: 'Remove a contact',
    positional: 'number',
    examples: ['+12025550101'],
    request: 'DELETE /api/v2/contacts/:id',
    loss: async (args, call) => {
      const number = onePositional(args, 'number')
      await call('GET', `/api/v2/contacts/${encodeURIComponent(number)}`)
      return `This removes the contact ${number} with its names, tags and variables. Messages stay.`
    },
    record: (_answer, { positionals }) => ({ number: positionals[0], removed: true }),
  }),
  command({
    name: 'totp code',
    summary: 'Show the current one-time code of a stored secret',
    positional: 'secret id',
    examples: ['<id>', '<id> --json'],
    request: 'GET /api/v2/totp/code/:id',
    record: ({ code, expires_in }) => ({ code, expires_in }),
  }),
  command({
    name: 'token create',
    summary: 'Create a temporary token; it is shown once',
    options: {
      seconds: inField('expires_in_seconds', whole('how long it is valid', 1)),
      lines: inField('phone_numbers', commaList('only these lines, separated by commas')),
    },
    examples: ['--seconds 600', '--lines +12025550100 --json'],
    request: 'POST /v3/auth/tokens',
  }),
]
