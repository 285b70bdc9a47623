import {
  type Args,
  clearable,
  fieldsOf,
  inField,
  type OptionTable,
  onePositional,
  UsageError,
  yesOrNo,
} from '../args.js'
import type { Call } from '../client.js'
import { type Command, command, type Fields, SERVER_OPTIONS } from '../command.js'
import { printRecord } from '../output.js'
import {
  builtInDrivers,
  type DriverInfo,
  driverOptions,
  givenSettings,
  knownDrivers,
  listDrivers,
  looseArgs,
  optionsOfAll,
  refuseSecrets,
  withoutNull,
} from './drivers.js'
import { LINE_OPTIONS } from './options.js'

/** Options that a line of any driver has. */
const GENERAL: OptionTable = {
  ...LINE_OPTIONS,
  seat: inField('seat_id', clearable('the seat that the line is assigned to; none removes it')),
  blocked: yesOrNo('yes: the line sends nothing and its waiting messages fail; no: it sends again'),
}

/** Whether no driver has this option. */
const isGeneral = (name: string) =>
  name in GENERAL || name in SERVER_OPTIONS.admin || name === 'json' || name === 'help'

const lineSetFor = (drivers: readonly DriverInfo[]): Command =>
  command({
    name: 'line set',
    summary: "Change a line's settings; they apply at once, and no waiting message is lost",
    positional: 'id',
    as: 'admin',
    options: { ...GENERAL, ...optionsOfAll(drivers) },
    examples: [
      '<id> --pace 100 --pace-unit hour',
      '<id> --on-unknown resend',
      '<id> --seat <seat id>',
      '<id> --blocked yes',
      '<id> --consent-replies carrier',
      '<id> --host smsc2.example.com --port 3550 --tls yes',
      '<id> --password-file smsc.password',
    ],
    async run(args, call) {
      const path = `/admin/lines/${encodeURIComponent(onePositional(args, 'line id'))}`
      const changes = fieldsOf(args, GENERAL)
      const own = Object.keys(args.values).filter((name) => !isGeneral(name))
      if (own.length > 0 || changes.config !== undefined)
        changes.config = await changedConfig(call, path, args, own, changes.config as Fields | undefined)
      printRecord(args, await call<Fields>('PATCH', path, changes))
    },
  })

async function carriers(): Promise<DriverInfo[]> {
  return (await builtInDrivers()).filter(({ kind }) => kind !== 'simulator')
}

export const lineSet: Command = {
  ...lineSetFor([]),
  variants: async () => [lineSetFor(await carriers())],
  async more(argv, io) {
    const builtIn = lineSetFor(await carriers())
    const args = looseArgs(argv, io, builtIn.options)
    const isKnown = Object.keys(args.values).every((name) => name in builtIn.options || isGeneral(name))
    return isKnown ? builtIn : lineSetFor(await knownDrivers(args))
  },
}

/** The line's present settings, or those given as JSON, with the settings that are given as options. */
async function changedConfig(
  call: Call,
  path: string,
  args: Args,
  names: readonly string[],
  given: Fields | undefined,
): Promise<Fields> {
  const line = await call<{ driver: string; config: Fields }>('GET', path)
  const driver = (await listDrivers(call)).find(({ kind }) => kind === line.driver)
  const options = driver ? driverOptions(driver, 'set') : {}
  const foreign = names.find((name) => !(name in options))
  if (foreign) throw new UsageError(`--${foreign} is not a setting of the driver ${line.driver}`)
  refuseSecrets(driver, given)
  return withoutNull({
    ...(given ?? line.config),
    ...(driver ? await givenSettings(driver, args, 'set') : {}),
  })
}
