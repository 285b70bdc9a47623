import { toE164 } from '../../core/phone-number.js'
import { text, UsageError } from '../args.js'
import { type Command, command, type Fields } from '../command.js'
import { printRecord, printTable } from '../output.js'

const PHONES = '/sim/phones'
const SWITCHES = ['imessage', 'rcs', 'power', 'read_receipts', 'refuses']
const TEXTS = ['name', 'email', 'auto_reply']

export const PHONE_COMMANDS: readonly Command[] = [
  command({
    name: 'phones',
    summary: 'List virtual phones',
    examples: [''],
    request: `GET ${PHONES}`,
    columns: 'number name imessage rcs power refuses auto_reply',
  }),
  command({
    name: 'phones show',
    summary: 'List the newest messages of a virtual phone',
    positional: 'number',
    as: 'account',
    examples: ['+12025550101', '+12025550101 --json'],
    async run(args, call) {
      const phone = phonePath(numberIn(args.positionals))
      const details = await call<Fields>('GET', phone)
      const inbox = await call<{ data: Fields[] }>('GET', `${phone}/inbox?newest=true&limit=200`)
      if (args.json) return printRecord(args, { ...details, messages: inbox.data })
      printTable(args, inbox.data, ['created_at', 'from', 'service', 'read_at', 'content', 'media_urls'])
    },
  }),
  command({
    name: 'phones text',
    summary: 'Text a line from a virtual phone',
    positional: 'number text...',
    as: 'account',
    options: {
      line: "the line to write to; default the account's first line",
      media: 'URL of a file to send; the text is then optional',
    },
    examples: ['+12025550101 "Is it ready?"'],
    async run(args, call) {
      const [given = '', ...words] = args.positionals
      const phone = phonePath(numberIn([given]))
      const media = text(args, 'media')
      if (words.length === 0 && media === undefined) throw new UsageError('Give a text, or --media')
      const to = text(args, 'line') ?? (await call<{ numbers: string[] }>('GET', '/api/lines')).numbers[0]
      const body = { to, content: words.join(' '), media_url: media }
      printRecord(args, await call<Fields>('POST', `${phone}/messages`, body))
    },
  }),
  command({
    name: 'phones set',
    summary: 'Change the abilities of a virtual phone; a new number creates one',
    positional: 'number name=value...',
    examples: [
      '+12025550101 imessage=off',
      '+12025550101 power=off read_receipts=off',
      '+12025550106 name=Fay auto_reply="On my way"',
    ],
    request: `POST ${PHONES}`,
    body({ positionals: [given = '', ...words] }) {
      const number = numberIn([given])
      if (words.length === 0) throw new UsageError('Give at least one change, like imessage=off')
      return { number, ...Object.fromEntries(words.map(changeIn)) }
    },
  }),
]

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

function numberIn(positionals: readonly string[]): string {
  const number = positionals.length === 1 ? toE164(positionals[0]!) : undefined
  if (number === undefined) throw new UsageError('Give the number of one phone, like +12025550101')
  return number
}
