import { readFileSync } from 'node:fs'
import { text as textOf } from 'node:stream/consumers'
import { WEBHOOK_TYPES } from '../../core/webhooks/types.js'
import { type Args, commaList, fieldsOf, inField, text, UsageError, yesOrNo } from '../args.js'
import { ApiError } from '../client.js'
import { type Command, command, type Fields } from '../command.js'
import { printRecord, printTable } from '../output.js'

const PATH = '/api/account/webhooks'
const TYPE = `${WEBHOOK_TYPES.join(', ')}; default receive`

const SETTINGS = {
  lines: inField('sendblue_numbers', commaList('only events of these lines, separated by commas')),
  'legacy-secret-header': inField(
    'legacy_secret_header',
    yesOrNo('no: deliveries carry only the signature, not the secret itself; default yes'),
  ),
  retries: inField('retry_schedule', 'standard (within minutes; default) or extended (about three days)'),
}

type Entry = { url: string; secret?: string; sendblue_numbers?: string[]; retry_schedule?: string }

export const WEBHOOK_COMMANDS: readonly Command[] = [
  command({
    name: 'webhooks list',
    summary: "List the account's webhooks; --json prints them as they were given, with their secrets",
    as: 'account',
    options: { type: `only one of ${WEBHOOK_TYPES.join(', ')}` },
    examples: ['', '--type receive', '--json'],
    async run(args, call) {
      print(args, await call<{ webhooks: Fields }>('GET', PATH))
    },
  }),
  command({
    name: 'webhooks add',
    summary: 'Add webhooks of a type',
    positional: 'url...',
    as: 'account',
    options: {
      type: TYPE,
      ...SETTINGS,
      'secret-file': 'file with their secret, - for standard input',
    },
    examples: [
      'https://example.com/inbound',
      'https://example.com/status --type outbound --retries extended',
      'openssl rand -hex 32 | trunkline webhooks add https://example.com/inbound --secret-file -',
    ],
    async run(args, call) {
      const urls = urlsOf(args)
      const file = text(args, 'secret-file')
      const settings = {
        ...fieldsOf(args, SETTINGS),
        ...(file !== undefined && { secret: await readSecret(args, file) }),
      }
      const isPlain = Object.keys(settings).length === 0
      const webhooks = urls.map((url) => (isPlain ? url : { url, ...settings }))
      const answer = await call('POST', PATH, { webhooks, type: text(args, 'type') })
      print(args, answer as { webhooks: Fields })
    },
  }),
  command({
    name: 'webhooks remove',
    summary: 'Remove webhooks of a type',
    positional: 'url...',
    options: { type: TYPE },
    examples: ['https://example.com/inbound', 'https://example.com/status --type outbound'],
    request: `DELETE ${PATH}`,
    body: (args) => ({ webhooks: urlsOf(args), type: text(args, 'type') }),
    record: ({ message }) => ({ message }),
  }),
]

function urlsOf({ positionals }: Args): string[] {
  if (positionals.length === 0) throw new UsageError('Give at least one URL')
  return positionals
}

/** From a file: the shell's history keeps a command line, and every user of the machine can see it. */
export async function readSecret({ io }: Args, file: string): Promise<string> {
  try {
    return (file === '-' ? await textOf(io.stdin) : readFileSync(file, 'utf8')).trim()
  } catch {
    throw new ApiError(`The file ${file} cannot be read`)
  }
}

/** The table shows whether a webhook has a secret, JSON shows the secret itself. */
function print(args: Args, { webhooks }: { webhooks: Fields }): void {
  const only = text(args, 'type')
  if (args.json) return void printRecord(args, only ? { [only]: webhooks[only] ?? [] } : webhooks)
  const common = (webhooks.globalSecret ?? webhooks.secret) ? 'global' : '-'
  const rows = WEBHOOK_TYPES.filter((type) => !only || type === only).flatMap((type) =>
    ((webhooks[type] ?? []) as (string | Entry)[])
      .map((entry): Entry => (typeof entry === 'string' ? { url: entry } : entry))
      .map(({ url, secret, sendblue_numbers, retry_schedule }) => ({
        type,
        url,
        secret: secret ? 'own' : common,
        lines: sendblue_numbers?.join(',') ?? 'all',
        retries: retry_schedule ?? 'standard',
      })),
  )
  printTable(args, rows, ['type', 'url', 'secret', 'lines', 'retries'])
}
