import { settingOptions, settings } from '../admin/set.js'
import { ApiError, type Call, CLIENT_OPTIONS, withClient } from '../client.js'
import { type Args, type Command, needed, noPositionals, onePositional, UsageError } from '../command.js'
import type { Io } from '../io.js'
import { note, printLine, printRecord, printTable } from '../output.js'
import {
  builtInDrivers,
  type DriverInfo,
  exampleOf,
  givenSettings,
  knownDrivers,
  looseArgs,
  optionsOf,
} from './drivers.js'
import { ask, isTerminal } from './secrets.js'
import { lineSet } from './set.js'

type Fields = Record<string, unknown>

interface Tested {
  ok: boolean
  findings: { ok: boolean; what: string; advice: string | null }[]
}

const { config: _, ...GENERAL } = settingOptions()
const NUMBER = { type: 'string', help: 'the number of the line, E.164 (needed)' } as const

function addTo(driver: DriverInfo): Command {
  return {
    name: `line add ${driver.kind}`,
    summary: `Add a line: ${driver.title}`,
    options: {
      account: { type: 'string', help: 'owner, or first member of a shared line (needed)' },
      number: NUMBER,
      shared: { type: 'boolean', help: 'several accounts may use it' },
      'no-test': { type: 'boolean', help: 'add it without trying the settings out first' },
      ...optionsOf(driver, 'add'),
      ...GENERAL,
      ...CLIENT_OPTIONS,
    },
    examples: [`trunkline line add ${driver.kind} --account <id> --number +12025550110 ${exampleOf(driver)}`],
    async run(args) {
      noPositionals(args)
      const line = {
        account_id: needed(args, 'account'),
        number: needed(args, 'number'),
        kind: args.values.shared ? 'shared' : 'dedicated',
        driver: driver.kind,
        ...settings(args),
        config: withoutNull(await givenSettings(driver, args, 'add')),
      }
      await withClient(args, async (send) => {
        if (args.values['no-test'] !== true) await tryFirst(args, send, line)
        printRecord(args, (await send('POST', '/admin/lines', line)) as Fields)
      })
    },
  }
}

async function tryFirst(args: Args, send: Call, { driver, number, config }: Fields): Promise<void> {
  const tested = (await send('POST', '/admin/lines/test', { driver, number, config })) as Tested
  for (const words of wordsOf(tested)) note(args, words)
  if (tested.ok) return
  if (isTerminal(args)) {
    if (/^y(es)?$/i.test((await ask(args, 'Add the line all the same? [y/N] ')).trim())) return
    throw new ApiError('The line was not added.')
  }
  throw new ApiError('The test failed, and the line was not added. --no-test adds it without one.')
}

function testOf(driver: DriverInfo): Command {
  return {
    name: `line test ${driver.kind}`,
    summary: `Try settings out before there is a line: ${driver.title}`,
    options: { number: NUMBER, ...optionsOf(driver, 'add'), ...CLIENT_OPTIONS },
    examples: [`trunkline line test ${driver.kind} --number +12025550110 ${exampleOf(driver)}`],
    async run(args) {
      noPositionals(args)
      const number = needed(args, 'number')
      const config = withoutNull(await givenSettings(driver, args, 'add'))
      await withClient(args, (send) =>
        tell(args, send('POST', '/admin/lines/test', { driver: driver.kind, number, config })),
      )
    },
  }
}

const lineTest: Command = {
  name: 'line test',
  summary: 'Try out whether a line reaches its carrier, and say what is wrong',
  positional: 'id or number',
  options: { ...CLIENT_OPTIONS },
  examples: ['trunkline line test 4fT0aQ81Zk', 'trunkline line test +12025550110 --json'],
  variants: async () => [lineTest, ...(await builtInDrivers()).map(testOf)],
  async more([name = '', ...rest], io) {
    const isBuiltIn = (await builtInDrivers()).some(({ kind }) => kind === name)
    // An id of a line may look like the kind of a driver; only settings come with a number.
    return isBuiltIn || rest.includes('--number') ? testOf(await driverOf(name, rest, io)) : lineTest
  },
  async run(args) {
    const named = onePositional(args, 'line, by its id or number')
    await withClient(args, async (send) => {
      const id = named.startsWith('+') ? await idOf(send, named) : named
      await tell(args, send('POST', `/admin/lines/${encodeURIComponent(id)}/test`, {}))
    })
  },
}

/** The live line of a number; without one, that of a test world. */
async function idOf(send: Call, number: string): Promise<string> {
  const { data } = (await send('GET', '/admin/lines')) as { data: Fields[] }
  const lines = data.filter((line) => line.number === number)
  const line = lines.find(({ world }) => world === 'live') ?? lines[0]
  if (!line) throw new ApiError(`There is no line ${number}`)
  return line.id as string
}

async function tell(args: Args, asked: Promise<unknown>): Promise<void> {
  const tested = (await asked) as Tested
  if (args.json) printRecord(args, { ...tested })
  else for (const words of wordsOf(tested)) printLine(args, {}, words)
  if (!tested.ok) throw new ApiError('The test failed.')
}

function wordsOf({ findings }: Tested): string[] {
  return findings.flatMap(({ ok, what, advice }) => [
    `${ok ? '✓' : '✗'} ${what}`,
    ...(advice === null ? [] : [`  ${advice}`]),
  ])
}

const lineAdd: Command = {
  name: 'line add',
  summary: 'Add a line at a carrier; alone, it lists the carriers',
  positional: 'driver',
  options: { ...CLIENT_OPTIONS },
  examples: ['trunkline line add', 'trunkline line add --json'],
  variants: async () => [lineAdd, ...(await builtInDrivers()).map(addTo)],
  more: async ([kind = '-', ...rest], io) =>
    kind.startsWith('-') ? lineAdd : addTo(await driverOf(kind, rest, io)),
  async run(args) {
    const rows = (await knownDrivers(args)).map(({ kind, title }) => ({ driver: kind, title }))
    printTable(args, rows, ['driver', 'title'])
    if (!args.json) note(args, 'trunkline line add <driver> --help shows what each needs to know.')
  },
}

/** A built-in driver, or one that only the server has. */
async function driverOf(kind: string, argv: readonly string[], io: Io): Promise<DriverInfo> {
  const isIt = (driver: DriverInfo) => driver.kind === kind
  const builtIn = (await builtInDrivers()).find(isIt)
  if (builtIn) return builtIn
  const drivers = await knownDrivers(looseArgs(argv, io))
  const known = drivers.map((driver) => driver.kind).join(', ')
  const found = drivers.find(isIt)
  if (!found) throw new UsageError(`There is no driver "${kind}"; there are ${known}`)
  return found
}

function withoutNull(given: Fields): Fields {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null))
}

export const LINE_COMMANDS: readonly Command[] = [lineAdd, lineTest, lineSet]
