import { type Args, flag, onePositional, UsageError } from '../args.js'
import { ApiError, type Call } from '../client.js'
import { type Command, command, type Fields } from '../command.js'
import type { Io } from '../io.js'
import { note, printLine, printRecord, printTable } from '../output.js'
import {
  builtInDrivers,
  type DriverInfo,
  driverOptions,
  exampleOf,
  givenSettings,
  knownDrivers,
  looseArgs,
  withoutNull,
} from './drivers.js'
import { offerKeys } from './keys-first.js'
import { LINE_OPTIONS, NEW_LINE, newLine } from './options.js'
import { PAIRING_COMMANDS } from './phones.js'
import { POOL_COMMANDS } from './pools.js'
import { agrees, isTerminal } from './secrets.js'
import { lineSet } from './set.js'

/** The outcome of a test of a line. */
interface LineTest {
  ok: boolean
  findings: { ok: boolean; what: string; advice: string | null }[]
}

const { config: _, ...SETTINGS } = LINE_OPTIONS

const lineAddTo = (driver: DriverInfo): Command =>
  command({
    name: `line add ${driver.kind}`,
    summary: `Add a line: ${driver.title}`,
    as: 'admin',
    options: {
      ...NEW_LINE,
      'no-test': flag('add the line without testing its settings first'),
      ...driverOptions(driver, 'add'),
      ...SETTINGS,
    },
    examples: [`--account <id> --number +12025550110 ${exampleOf(driver)}`],
    async run(args, call) {
      const config = withoutNull(await givenSettings(driver, args, 'add'))
      const line: Fields = { ...newLine(args), driver: driver.kind, config }
      if (args.values['no-test'] !== true) await testFirst(args, call, line)
      await offerKeys(args, call, line)
      const added = await call<Fields>('POST', '/admin/lines', line)
      printRecord(args, added)
      if (driver.kind === 'phone') note(args, `Next: trunkline line pair ${added.number}`)
    },
  })

async function testFirst(args: Args, call: Call, { driver, number, config }: Fields): Promise<void> {
  const test = await call<LineTest>('POST', '/admin/lines/test', { driver, number, config })
  for (const words of wordsOf(test)) note(args, words)
  if (test.ok) return
  if (!isTerminal(args))
    throw new ApiError('The test failed and the line was not added. --no-test adds it without a test.')
  if (!(await agrees(args, 'Add the line anyway?', false))) throw new ApiError('The line was not added.')
}

const lineTestOf = (driver: DriverInfo): Command =>
  command({
    name: `line test ${driver.kind}`,
    summary: `Test settings before there is a line: ${driver.title}`,
    as: 'admin',
    options: { number: NEW_LINE.number!, ...driverOptions(driver, 'add') },
    examples: [`--number +12025550110 ${exampleOf(driver)}`],
    async run(args, call) {
      const config = withoutNull(await givenSettings(driver, args, 'add'))
      const body = { driver: driver.kind, number: args.values.number, config }
      printTest(args, await call<LineTest>('POST', '/admin/lines/test', body))
    },
  })

const lineTest = command({
  name: 'line test',
  summary: 'Test whether a line reaches its carrier, and show what is wrong',
  positional: 'id or number',
  as: 'admin',
  examples: ['4fT0aQ81Zk', '+12025550110 --json'],
  variants: async () => [lineTest, ...(await builtInDrivers()).map(lineTestOf)],
  async more([name = '', ...rest], io) {
    const isBuiltIn = (await builtInDrivers()).some(({ kind }) => kind === name)
    // An id of a line may look like the kind of a driver; only settings come with a number.
    return isBuiltIn || rest.includes('--number') ? lineTestOf(await driverOf(name, rest, io)) : lineTest
  },
  async run(args, call) {
    const named = onePositional(args, 'line, by its id or number')
    const id = named.startsWith('+') ? await idOf(call, named) : named
    printTest(args, await call<LineTest>('POST', `/admin/lines/${encodeURIComponent(id)}/test`, {}))
  },
})

/** The live line of a number; if there is none, the line of a test world. */
async function idOf(call: Call, number: string): Promise<string> {
  const { data } = await call<{ data: Fields[] }>('GET', '/admin/lines')
  const lines = data.filter((line) => line.number === number)
  const line = lines.find(({ world }) => world === 'live') ?? lines[0]
  if (!line) throw new ApiError(`There is no line ${number}`)
  return line.id as string
}

function printTest(args: Args, test: LineTest): void {
  if (args.json) printRecord(args, { ...test })
  else for (const words of wordsOf(test)) printLine(args, {}, words)
  if (!test.ok) throw new ApiError('The test failed.')
}

function wordsOf({ findings }: LineTest): string[] {
  return findings.flatMap(({ ok, what, advice }) => [
    `${ok ? '✓' : '✗'} ${what}`,
    ...(advice === null ? [] : [`  ${advice}`]),
  ])
}

const lineAdd = command({
  name: 'line add',
  summary: 'Add a line at a carrier; without a driver, list the drivers',
  positional: 'driver',
  as: 'admin',
  examples: ['', '--json'],
  variants: async () => [lineAdd, ...(await builtInDrivers()).map(lineAddTo)],
  more: async ([kind = '-', ...rest], io) =>
    kind.startsWith('-') ? lineAdd : lineAddTo(await driverOf(kind, rest, io)),
  async run(args) {
    const rows = (await knownDrivers(args)).map(({ kind, title }) => ({ driver: kind, title }))
    printTable(args, rows, ['driver', 'title'])
    if (!args.json) note(args, 'trunkline line add <driver> --help shows the settings of a driver.')
  },
})

/** A built-in driver, or one that only the server has. */
async function driverOf(kind: string, argv: readonly string[], io: Io): Promise<DriverInfo> {
  const isNamed = (driver: DriverInfo) => driver.kind === kind
  const builtIn = (await builtInDrivers()).find(isNamed)
  if (builtIn) return builtIn
  const drivers = await knownDrivers(looseArgs(argv, io))
  const named = drivers.find(isNamed)
  if (named) return named
  throw new UsageError(`There is no driver "${kind}". Use ${drivers.map((one) => one.kind).join(', ')}`)
}

export const LINE_COMMANDS: readonly Command[] = [
  lineAdd,
  lineTest,
  lineSet,
  ...PAIRING_COMMANDS,
  ...POOL_COMMANDS,
]
