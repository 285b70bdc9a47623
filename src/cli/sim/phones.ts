import { toE164 } from '../../core/phone-number.js'
import { ACCOUNT_OPTIONS, withAccount } from '../client.js'
import { paintFor } from '../colour.js'
import { type Args, type Command, text, UsageError } from '../command.js'
import { printRecord, printTable } from '../output.js'
import { switchesIn, takeInHand } from './phone-hand.js'
import { threadLines } from './phone-view.js'

/** The virtual phones of the simulated world, at a terminal. */

const PHONES = '/sim/phones'
const line = { type: 'string', help: 'the line to write to; default the last one, or the first' } as const

const phones: Command = {
  name: 'phones',
  summary: 'List virtual phones; with a number, take one in hand: read and type on it',
  positional: 'number',
  options: { line, ...ACCOUNT_OPTIONS },
  examples: [
    'trunkline phones',
    'trunkline phones +12025550101',
    "printf 'Hello\\n/react love\\n' | trunkline phones +12025550101",
  ],
  run: (args) =>
    withAccount(args, async (call) => {
      if (args.positionals.length === 0) {
        const { data } = (await call('GET', PHONES)) as { data: Record<string, unknown>[] }
        return printTable(
          data,
          ['number', 'name', 'imessage', 'rcs', 'power', 'refuses', 'auto_reply'],
          args.json,
        )
      }
      const hand = takeInHand(call, numberOf(args), text(args, 'line'))
      const { fullScreen, lineByLine } = await import('./phone-screen.js')
      const isAtTerminal = process.stdin.isTTY && process.stdout.isTTY && !args.json
      return isAtTerminal ? fullScreen(hand) : lineByLine(hand, args.json)
    }),
}

const show: Command = {
  name: 'phones show',
  summary: 'Print what a virtual phone shows, as bubbles',
  positional: 'number',
  options: { ...ACCOUNT_OPTIONS },
  examples: ['trunkline phones show +12025550101', 'trunkline phones show +12025550101 --json'],
  run: (args) =>
    withAccount(args, async (call) => {
      const number = numberOf(args)
      const phone = (await call('GET', at(number))) as Record<string, unknown>
      const messages = await takeInHand(call, number, undefined).messages()
      if (args.json) return printRecord({ ...phone, messages }, true)
      const columns = Math.min(process.stdout.columns ?? 80, 100)
      const lines = threadLines(messages, columns, paintFor(process.stdout))
      process.stdout.write(`${lines.length === 0 ? '(nothing yet)' : lines.join('\n').trimEnd()}\n`)
    }),
}

const say: Command = {
  name: 'phones text',
  summary: 'Text a line from a virtual phone',
  positional: 'number text...',
  options: {
    line,
    media: { type: 'string', help: 'URL of a file to send; the text may then be left out' },
    ...ACCOUNT_OPTIONS,
  },
  examples: ['trunkline phones text +12025550101 "Is it ready?"'],
  run: (args) =>
    withAccount(args, async (call) => {
      const [, ...words] = args.positionals
      const number = numberOf({ ...args, positionals: args.positionals.slice(0, 1) })
      const media = text(args, 'media')
      if (words.length === 0 && media === undefined) throw new UsageError('Say what to write')
      const to = text(args, 'line') ?? ((await call('GET', '/api/lines')) as { numbers: string[] }).numbers[0]
      const body = { to, content: words.join(' '), media_url: media }
      printRecord((await call('POST', `${at(number)}/messages`, body)) as Record<string, unknown>, args.json)
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
      const number = numberOf({ ...args, positionals: args.positionals.slice(0, 1) })
      const body = { number, ...switchesIn(args.positionals.slice(1)) }
      printRecord((await call('POST', PHONES, body)) as Record<string, unknown>, args.json)
    }),
}

function at(number: string): string {
  return `${PHONES}/${encodeURIComponent(number)}`
}

function numberOf({ positionals }: Args): string {
  const number = positionals.length === 1 ? toE164(positionals[0]!) : undefined
  if (number === undefined) throw new UsageError('Name one phone by its number, like +12025550101')
  return number
}

export const PHONE_COMMANDS: readonly Command[] = [phones, show, say, set]
