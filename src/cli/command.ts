import {
  type Args,
  fieldsOf,
  flag,
  type Option,
  type OptionTable,
  onePositional,
  optionsOf,
  UsageError,
} from './args.js'
import { type Call, DEFAULT_URL, onceOnly, withAccount, withAdmin } from './client.js'
import { confirm, YES } from './confirm.js'
import type { Io } from './io.js'
import { printRecord, printTable } from './output.js'

export type Fields = Record<string, unknown>

/** A command of the command line. Its help, its page in docs/cli.md and its parsing follow from this. */
export interface Command {
  name: string
  summary: string
  positional?: string
  options: Record<string, Option>
  examples: readonly string[]
  /** The command that the arguments select, such as one with the options of a driver. `argv` follows the name. */
  more?(argv: readonly string[], io: Io): Promise<Command>
  /** Every form that `more` can return on this machine, for the documentation. */
  variants?(): Promise<Command[]>
  run(args: Args): Promise<void>
}

interface Description extends Pick<Command, 'name' | 'summary' | 'positional' | 'more' | 'variants'> {
  options?: OptionTable
  /** Arguments after the name, or a whole command line if it calls trunkline itself. */
  examples: readonly string[]
  /** Whose key the command uses. Without it, the command needs no server. A request tells it by its path. */
  as?: 'account' | 'admin'
}

/** A command that is one request to the API. */
export interface RequestDescription extends Omit<Description, 'as'> {
  /**
   * Method and path. `:id` stands for the positional, other names with a colon for options. The remaining options
   * go into the query of a GET and into the body of everything else.
   */
  request: string
  /** The body, if it is not the remaining options. */
  body?(args: Args, call: Call): Fields | Promise<Fields>
  /** Columns of a table, separated by spaces, for an answer that is a list. */
  columns?: string
  /** A row of the table, if it is not the item of the list. */
  row?(item: Fields): Fields
  /** The part of the answer that is printed, if it is not all of it. */
  record?(answer: Fields, args: Args): Fields
  /** For a removal, what it takes away, in words: the command asks before it does that. */
  loss?(args: Args, call: Call): string | Promise<string>
}

interface WorkDescription extends Description {
  run(args: Args, call: Call): Promise<void> | void
}

const ACCOUNT_OPTIONS = optionsOf({
  url: `server (TRUNKLINE_URL; default that of the profile, or ${DEFAULT_URL})`,
  profile: 'server and keys that "trunkline login" has stored under this name (TRUNKLINE_PROFILE)',
})
export const SERVER_OPTIONS = {
  account: ACCOUNT_OPTIONS,
  admin: optionsOf({
    ...ACCOUNT_OPTIONS,
    offline: flag('work on the database directly, while no server is running'),
    data: 'with --offline: folder of the SQLite database (TRUNKLINE_DATA; default ./.trunkline)',
    'database-url': 'with --offline: PostgreSQL instead (DATABASE_URL)',
  }),
}

export function command(given: RequestDescription | WorkDescription): Command {
  const { name, positional, options = {}, examples } = given
  const as = 'request' in given ? (given.request.includes(' /admin/') ? 'admin' : 'account') : given.as
  const connect = as && { account: withAccount, admin: withAdmin }[as]
  const asks = 'loss' in given && given.loss !== undefined
  const work = 'request' in given ? (args: Args, call: Call) => request(given, args, call) : given.run
  return {
    ...given,
    options: { ...optionsOf(options), ...(asks && optionsOf(YES)), ...(as && SERVER_OPTIONS[as]) },
    examples: examples.map((one) =>
      one.includes('trunkline ') ? one : `trunkline ${name}${one && ` ${one}`}`,
    ),
    async run(args) {
      if (!positional && args.positionals.length > 0)
        throw new UsageError(`This command takes no arguments besides options, not "${args.positionals[0]}"`)
      await (connect ? connect(args, async (call) => work(args, call)) : work(args, noServer))
    },
  }
}

function noServer(): never {
  throw new Error('This command has no server')
}

async function request(given: RequestDescription, args: Args, call: Call): Promise<void> {
  const { positional, options = {}, columns, row, record } = given
  const left = { ...options }
  const [method, path] = given.request
    .replace(/:(\w+)/g, (_, name) => {
      delete left[name]
      const value = name === 'id' ? onePositional(args, positional!) : args.values[name]
      return encodeURIComponent(String(value))
    })
    .split(' ') as [Parameters<Call>[0], string]
  if (given.loss) await confirm(args, await given.loss(args, call))
  const fields = (await given.body?.(args, call)) ?? fieldsOf(args, left)
  const query = new URLSearchParams(fields as Record<string, string>).toString()
  const answer =
    method === 'GET'
      ? await call('GET', query ? `${path}?${query}` : path)
      : await call(
          method,
          path,
          method === 'DELETE' && !given.body ? undefined : fields,
          path.startsWith('/admin/') ? {} : onceOnly(),
        )
  if (columns === undefined) return printRecord(args, (record?.(answer as Fields, args) ?? answer) as Fields)
  const items = (Array.isArray(answer) ? answer : (answer as { data: Fields[] }).data) as Fields[]
  printTable(args, row && !args.json ? items.map(row) : items, columns.split(' '))
}

/** All commands with all their options, for the documentation. */
export async function everyCommand(commands: readonly Command[]): Promise<Command[]> {
  return (await Promise.all(commands.map(async (one) => (await one.variants?.()) ?? [one]))).flat()
}
