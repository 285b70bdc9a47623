import { clearable, settingOptions, settings, yesOrNo } from '../admin/set.js'
import { type Call, CLIENT_OPTIONS, withClient } from '../client.js'
import { type Args, type Command, onePositional, UsageError } from '../command.js'
import { printRecord } from '../output.js'
import {
  builtInDrivers,
  givenSettings,
  knownDrivers,
  listDrivers,
  looseArgs,
  optionsOf,
  optionsOfAll,
  refuseSecrets,
} from './drivers.js'

type Fields = Record<string, unknown>

/** Options that every command has. */
const COMMON = ['json', 'help']

/** Options that every line has. */
const GENERAL: Command['options'] = {
  ...settingOptions(),
  seat: { type: 'string', help: 'the seat it is assigned to; none takes it away' },
  blocked: { type: 'string', help: 'yes: it sends nothing and what waits for it fails; no: it may again' },
  ...CLIENT_OPTIONS,
}

export const lineSet: Command = {
  name: 'line set',
  summary: "Change a line's settings; it goes on with them at once, and nothing that waits is lost",
  positional: 'id',
  options: GENERAL,
  variants: async () => [{ ...lineSet, options: await builtInOptions() }],
  async more(argv, io) {
    const options = await builtInOptions()
    const args = looseArgs(argv, io, options)
    const isForeign = Object.keys(args.values).some((name) => !(name in options) && !COMMON.includes(name))
    if (!isForeign) return { ...lineSet, options }
    return { ...lineSet, options: { ...GENERAL, ...optionsOfAll(await knownDrivers(args)) } }
  },
  examples: [
    'trunkline line set <id> --pace 1',
    'trunkline line set <id> --on-unknown resend',
    'trunkline line set <id> --seat <seat id>',
    'trunkline line set <id> --blocked yes',
    'trunkline line set <id> --consent-replies carrier',
    'trunkline line set <id> --host smsc2.example.com --port 3550 --tls yes',
    'trunkline line set <id> --password-file smsc.password',
  ],
  async run(args) {
    const path = `/admin/lines/${encodeURIComponent(onePositional(args, 'line'))}`
    const changes: Fields = {
      ...settings(args),
      seat_id: clearable(args, 'seat'),
      blocked: yesOrNo(args, 'blocked'),
    }
    const asked = Object.keys(args.values).filter((name) => !(name in GENERAL) && !COMMON.includes(name))
    await withClient(args, async (send) => {
      if (asked.length > 0 || changes.config !== undefined)
        changes.config = await changedConfig(send, path, args, asked, changes.config as Fields | undefined)
      printRecord(args, (await send('PATCH', path, changes)) as Fields)
    })
  },
}

async function builtInOptions(): Promise<Command['options']> {
  const drivers = (await builtInDrivers()).filter(({ kind }) => kind !== 'simulator')
  return { ...GENERAL, ...optionsOfAll(drivers) }
}

/** The line's present settings, or those given as JSON, with the ones that are given as options. */
async function changedConfig(
  send: Call,
  path: string,
  args: Args,
  asked: readonly string[],
  given: Fields | undefined,
): Promise<Fields> {
  const line = (await send('GET', path)) as { driver: string; config: Fields }
  const driver = (await listDrivers(send)).find(({ kind }) => kind === line.driver)
  const own = driver ? optionsOf(driver, 'set') : {}
  const foreign = asked.find((name) => !(name in own))
  if (foreign) throw new UsageError(`--${foreign} is no setting of a line of the driver ${line.driver}`)
  refuseSecrets(driver, given)
  const config = { ...(given ?? line.config), ...(driver ? await givenSettings(driver, args, 'set') : {}) }
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== null))
}
