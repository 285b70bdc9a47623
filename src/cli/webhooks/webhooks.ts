import { readFileSync } from 'node:fs'
import { text as textOf } from 'node:stream/consumers'
import { WEBHOOK_TYPES } from '../../core/webhooks/types.js'
import { ACCOUNT_OPTIONS, ApiError, type Call, withAccount } from '../client.js'
import { type Args, type Command, noPositionals, text, UsageError } from '../command.js'
import { printRecord, printTable } from '../output.js'

/** The webhooks of an account: each command is one call with a key of that account. */

const PATH = '/api/account/webhooks'
const COLUMNS = ['type', 'url', 'secret', 'lines', 'retries']
const type = { type: 'string', help: `${WEBHOOK_TYPES.join(', ')}` } as const

type Entry = string | { url: string; secret?: string; sendblue_numbers?: string[]; retry_schedule?: string }
type Webhooks = Record<string, unknown>

const list: Command = {
  name: 'webhooks list',
  summary: "List the account's webhooks; with --json as they were given, secrets included",
  options: { type: { ...type, help: `only one of ${type.help}` }, ...ACCOUNT_OPTIONS },
  examples: [
    'trunkline webhooks list',
    'trunkline webhooks list --type receive',
    'trunkline webhooks list --json',
  ],
  run: (args) =>
    withAccount(args, async (call) => {
      noPositionals(args)
      const { webhooks } = (await call('GET', PATH)) as { webhooks: Webhooks }
      print(webhooks, args)
    }),
}

const add: Command = {
  name: 'webhooks add',
  summary: 'Add webhooks to the list of a type',
  positional: 'url...',
  options: {
    type: { ...type, help: `${type.help}; default receive` },
    lines: { type: 'string', help: 'only what happens on these lines, separated by commas' },
    retries: { type: 'string', help: 'standard (within minutes; default) or extended (about three days)' },
    'secret-file': { type: 'string', help: 'file with their secret, - for the standard input' },
    ...ACCOUNT_OPTIONS,
  },
  examples: [
    'trunkline webhooks add https://example.com/inbound',
    'trunkline webhooks add https://example.com/status --type outbound --retries extended',
    'openssl rand -hex 32 | trunkline webhooks add https://example.com/inbound --secret-file -',
  ],
  run: (args) =>
    withAccount(args, async (call) => {
      const settings = {
        ...(text(args, 'lines') === undefined ? {} : { sendblue_numbers: text(args, 'lines')!.split(',') }),
        ...(text(args, 'retries') === undefined ? {} : { retry_schedule: text(args, 'retries') }),
        ...(text(args, 'secret-file') === undefined
          ? {}
          : { secret: await readSecret(args, text(args, 'secret-file')!) }),
      }
      const plain = Object.keys(settings).length === 0
      const webhooks = urlsOf(args).map((url) => (plain ? url : { url, ...settings }))
      const answer = (await change(call, 'POST', args, webhooks)) as { webhooks: Webhooks }
      print(answer.webhooks, args)
    }),
}

const remove: Command = {
  name: 'webhooks remove',
  summary: 'Remove webhooks from the list of a type',
  positional: 'url...',
  options: { type: { ...type, help: `${type.help}; default receive` }, ...ACCOUNT_OPTIONS },
  examples: [
    'trunkline webhooks remove https://example.com/inbound',
    'trunkline webhooks remove https://example.com/status --type outbound',
  ],
  run: (args) =>
    withAccount(args, async (call) => {
      const { message } = (await change(call, 'DELETE', args, urlsOf(args))) as { message: string }
      printRecord(args, { message })
    }),
}

function change(call: Call, method: 'POST' | 'DELETE', args: Args, webhooks: Entry[] | string[]) {
  return call(method, PATH, { webhooks, type: text(args, 'type') })
}

function urlsOf({ positionals }: Args): string[] {
  if (positionals.length === 0) throw new UsageError('Name at least one URL')
  return positionals
}

/** From a file: what is in the command line stays in the shell's history and is seen by everyone on the machine. */
export async function readSecret({ io }: Args, file: string): Promise<string> {
  try {
    return (file === '-' ? await textOf(io.stdin) : readFileSync(file, 'utf8')).trim()
  } catch {
    throw new ApiError(`The file ${file} cannot be read`)
  }
}

/** People see whether there is a secret, programs what it is. */
function print(webhooks: Webhooks, args: Args): void {
  const only = text(args, 'type')
  if (args.json) return void printRecord(args, only ? { [only]: webhooks[only] ?? [] } : webhooks)
  const common = (webhooks.globalSecret ?? webhooks.secret) ? 'global' : '-'
  const rows = WEBHOOK_TYPES.filter((one) => !only || one === only).flatMap((one) =>
    ((webhooks[one] ?? []) as Entry[]).map((entry) => {
      const { url, secret, sendblue_numbers, retry_schedule } =
        typeof entry === 'string' ? ({ url: entry } as Exclude<Entry, string>) : entry
      return {
        type: one,
        url,
        secret: secret ? 'own' : common,
        lines: sendblue_numbers?.join(',') ?? 'all',
        retries: retry_schedule ?? 'standard',
      }
    }),
  )
  printTable(args, rows, COLUMNS)
}

export const WEBHOOK_COMMANDS: readonly Command[] = [list, add, remove]
