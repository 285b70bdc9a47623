import { clearable, settingOptions, settings, yesOrNo } from '../admin/set.js'
import { type Call, CLIENT_OPTIONS, withClient } from '../client.js'
import { type Args, type Command, onePositional, UsageError } from '../command.js'
import { printRecord } from '../output.js'
import {
  DRIVERS,
  type DriverEntry,
  givenSettings,
  optionsOf,
  optionsOfAll,
  refuseSecrets,
} from './drivers.js'

type Fields = Record<string, unknown>

export const lineSet: Command = {
  name: 'line set',
  summary: "Change a line's settings; it goes on with them at once, and nothing that waits is lost",
  positional: 'id',
  more: async () => ({ ...(await optionsOfAll()), ...CLIENT_OPTIONS }),
  options: {
    ...settingOptions(),
    seat: { type: 'string', help: 'the seat it is assigned to; none takes it away' },
    blocked: {
      type: 'string',
      help: 'yes: it sends nothing and what waits for it fails; no: it may again',
    },
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
    const known = await optionsOfAll()
    const asked = Object.keys(args.values).filter((name) => name in known)
    await withClient(args, async (send) => {
      if (asked.length > 0 || changes.config !== undefined)
        changes.config = await changedConfig(send, path, args, asked, changes.config as Fields | undefined)
      printRecord((await send('PATCH', path, changes)) as Fields, args.json)
    })
  },
}

/** The settings it has or is given as JSON, with those that are given one by one. */
async function changedConfig(
  send: Call,
  path: string,
  args: Args,
  asked: readonly string[],
  given: Fields | undefined,
): Promise<Fields> {
  const line = (await send('GET', path)) as { driver: string; config: Fields }
  const driver = DRIVERS.find(({ kind }) => kind === line.driver)
  await requireOwn(driver, line.driver, asked)
  if (driver) await refuseSecrets(driver, given)
  const config = { ...(given ?? line.config), ...(driver ? await givenSettings(driver, args, 'set') : {}) }
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== null))
}

async function requireOwn(driver: DriverEntry | undefined, kind: string, asked: readonly string[]) {
  const own = driver ? await optionsOf(driver, 'set') : {}
  const foreign = asked.find((name) => !(name in own))
  if (foreign) throw new UsageError(`--${foreign} is no setting of a line of the driver ${kind}`)
}
