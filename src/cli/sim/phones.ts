import { toE164 } from '../../core/phone-number.js'
import { ACCOUNT_OPTIONS, withAccount } from '../client.js'
import { type Args, type Command, noPositionals, text, UsageError } from '../command.js'
import { printRecord, printTable } from '../output.js'

type Fields = Record<string, unknown>

const PHONES = '/sim/phones'
const SWITCHES = ['imessage', 'rcs', 'power', 'read_receipts', 'refuses']
const TEXTS = ['name', 'email', 'auto_reply']

const list: Command = {
  name: 'phones',
  summary: 'List virtual phones',
  options: { ...ACCOUNT_OPTIONS },
  examples: ['trunkline phones'],
  run: (args) =>
    withAccount(args, async (call) => {
      noPositionals(args)
      const { data } = (await call('GET', PHONES)) as { data: Fields[] }
      const columns = ['number', 'name', 'imessage', 'rcs', 'power', 'refuses', 'auto_reply']
      printTable(args, data, columns)
    }),
}

const show: Command = {
  name: 'phones show',
  summary: 'List the newest messages of a virtual phone',
  positional: 'number',
  options: { ...ACCOUNT_OPTIONS },
  examples: ['trunkline phones show +12025550101', 'trunkline phones show +12025550101 --json'],
  run: (args) =>
    withAccount(args, async (call) => {
      const phone = phonePath(numberIn(args.positionals))
      const details = (await call('GET', phone)) as Fields
      const inbox = (await call('GET', `${phone}/inbox?newest=true&limit=200`)) as { data: Fields[] }
      if (args.json) return printRecord(args, { ...details, messages: inbox.data })
      const columns = ['created_at', 'from', 'service', 'read_at', 'content', 'media_urls']
      printTable(args, inbox.data, columns)
    }),
}

const say: Command = {
  name: 'phones text',
  summary: 'Text a line from a virtual phone',
  positional: 'number text...',
  options: {
    line: { type: 'string', help: "the line to write to; default the account's first" },
    media: { type: 'string', help: 'URL of a file to send; the text may then be left out' },
    ...ACCOUNT_OPTIONS,
  },
  examples: ['trunkline phones text +12025550101 "Is it ready?"'],
  run: (args) =>
    withAccount(args, async (call) => {
      const [given = '', ...words] = args.positionals
      const phone = phonePath(numberIn([given]))
      const media = text(args, 'media')
      if (words.length === 0 && media === undefined) throw new UsageError('Say what to write')
      const to = text(args, 'line') ?? ((await call('GET', '/api/lines')) as { numbers: string[] }).numbers[0]
      const body = { to, content: words.join(' '), media_url: media }
      printRecord(args, (await call('POST', `${phone}/messages`, body)) as Fields)
    }),
}

const set: Command = {
  name: 'phones set',
  summary: 'Switch the abilities of a virtual phone; a number that is new makes one',
  positional: 'number name=value...',
  options: { ...ACCOUNT_OPTIONS },
  examples: [
    'trunkline phones set +12025550101 imessage=off',
    'trunkline phones set +12025550101 power=off read_receipts=off',
    'trunkline phones set +12025550106 name=Fay auto_reply="On my way"',
  ],
  run: (args) =>
    withAccount(args, async (call) => {
      const [given = '', ...words] = args.positionals
      const number = numberIn([given])
      if (words.length === 0) throw new UsageError('Say what to change, like imessage=off')
      const body = { number, ...Object.fromEntries(words.map(changeIn)) }
      printRecord(args, (await call('POST', PHONES, body)) as Fields)
    }),
}

/** Parses one word like `imessage=off` or `name=Ada`; `none` clears a text other than the name. */
function changeIn(word: string): [name: string, value: unknown] {
  const [, name = '', value = ''] = /^([a-z_]+)=(.*)$/s.exec(word) ?? []
  if (SWITCHES.includes(name) && /^(on|off)$/.test(value)) return [name, value === 'on']
  if (TEXTS.includes(name)) return [name, value === 'none' && name !== 'name' ? null : value]
  const names = [...SWITCHES.map((one) => `${one}=on|off`), ...TEXTS.map((one) => `${one}=...`)]
  throw new UsageError(`"${word}" is none of ${names.join(', ')}`)
}

function phonePath(number: string): string {
  return `${PHONES}/${encodeURIComponent(number)}`
}

function numberIn(positionals: Args['positionals']): string {
  const number = positionals.length === 1 ? toE164(positionals[0]!) : undefined
  if (number === undefined) throw new UsageError('Name one phone by its number, like +12025550101')
  return number
}

export const PHONE_COMMANDS: readonly Command[] = [list, show, say, set]
