import { randomUUID } from 'node:crypto'
import { ACCOUNT_OPTIONS, withAccount } from '../client.js'
import { type Command, count, noPositionals, onePositional, text } from '../command.js'
import { printRecord, printTable } from '../output.js'

/** The contacts of an account, its one-time codes and its tokens: each command is one call with a key of it. */

type Fields = Record<string, unknown>

const CONTACTS = '/api/v2/contacts'

const list: Command = {
  name: 'contacts list',
  summary: 'List contacts, newest first',
  options: {
    limit: { type: 'string', help: 'how many at most (default 100, up to 1000)' },
    ...ACCOUNT_OPTIONS,
  },
  examples: ['trunkline contacts list', 'trunkline contacts list --limit 10 --json'],
  async run(args) {
    noPositionals(args)
    const limit = count(args, 'limit') ?? 100
    await withAccount(args, async (call) => {
      const contacts = (await call('GET', `${CONTACTS}?limit=${limit}`)) as Fields[]
      printTable(args, contacts, ['phone', 'first_name', 'last_name', 'opt_out', 'created_at'])
    })
  },
}

const add: Command = {
  name: 'contacts add',
  summary: 'Add a contact, or change the one with this number',
  positional: 'number',
  options: {
    'first-name': { type: 'string', help: 'first name' },
    'last-name': { type: 'string', help: 'last name' },
    ...ACCOUNT_OPTIONS,
  },
  examples: ['trunkline contacts add +12025550101 --first-name Ada --last-name Lovelace'],
  async run(args) {
    const body = {
      number: onePositional(args, 'number'),
      first_name: text(args, 'first-name'),
      last_name: text(args, 'last-name'),
      update_if_exists: true,
    }
    await withAccount(args, async (call) => {
      const answer = (await call('POST', CONTACTS, body, onceOnly())) as Fields
      printRecord(args, (answer.contact ?? answer) as Fields)
    })
  },
}

const remove: Command = {
  name: 'contacts remove',
  summary: 'Remove a contact',
  positional: 'number',
  options: { ...ACCOUNT_OPTIONS },
  examples: ['trunkline contacts remove +12025550101'],
  async run(args) {
    const number = onePositional(args, 'number')
    await withAccount(args, async (call) => {
      await call('DELETE', `${CONTACTS}/${encodeURIComponent(number)}`)
      printRecord(args, { number, removed: true })
    })
  },
}

const totpCode: Command = {
  name: 'totp code',
  summary: 'Show the current one-time code of a stored secret',
  positional: 'secret id',
  options: { ...ACCOUNT_OPTIONS },
  examples: ['trunkline totp code <id>', 'trunkline totp code <id> --json'],
  async run(args) {
    const id = onePositional(args, 'secret')
    await withAccount(args, async (call) => {
      const answer = (await call('GET', `/api/v2/totp/code/${encodeURIComponent(id)}`)) as Fields
      printRecord(args, { code: answer.code, expires_in: answer.expires_in })
    })
  },
}

const tokenCreate: Command = {
  name: 'token create',
  summary: 'Make a temporary token; it is shown once',
  options: {
    seconds: { type: 'string', help: 'how long it works' },
    lines: { type: 'string', help: 'confined to these lines, separated by commas' },
    ...ACCOUNT_OPTIONS,
  },
  examples: ['trunkline token create --seconds 600', 'trunkline token create --lines +12025550100 --json'],
  async run(args) {
    noPositionals(args)
    const body = {
      expires_in_seconds: count(args, 'seconds'),
      phone_numbers: text(args, 'lines')?.split(','),
    }
    await withAccount(args, async (call) =>
      printRecord(args, (await call('POST', '/v3/auth/tokens', body, onceOnly())) as Fields),
    )
  },
}

function onceOnly(): Record<string, string> {
  return { 'idempotency-key': `cli-${randomUUID()}` }
}

export const CONTACT_COMMANDS: readonly Command[] = [list, add, remove, totpCode, tokenCreate]
