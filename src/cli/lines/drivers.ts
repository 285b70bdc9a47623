import { demandOf, type Setting, type SettingsSchema, settingsIn } from '../../core/lines/settings.js'
import { type Args, type Command, text, UsageError } from '../command.js'
import { readSecret, readText, secretOptions } from './secrets.js'

/** The carriers that a line can be set up for. Their settings are loaded when somebody asks for them. */
export const DRIVERS: readonly DriverEntry[] = [
  {
    kind: 'smpp',
    title: 'SMS through an SMSC or aggregator (SMPP 3.4)',
    example: '--host smsc.example.com --port 2775 --system-id me --password-file smsc.password',
    settings: async () => (await import('../../drivers/smpp/settings.js')).SmppSettings,
  },
  {
    kind: 'bluebubbles',
    title: 'iMessage through a Mac (BlueBubbles)',
    example: '--bluebubbles-url http://192.168.1.20:1234 --password-file mac.password',
    settings: async () => (await import('../../drivers/bluebubbles/settings.js')).BlueBubblesSettings,
  },
  {
    kind: 'simulator',
    title: 'Virtual phones',
    example: '--latency-ms 0',
    settings: async () => (await import('../../drivers/simulator/settings.js')).SimulatorConfig,
  },
]

export interface DriverEntry {
  kind: string
  title: string
  /** Options of an example. */
  example: string
  settings(): Promise<SettingsSchema>
}

type Fields = Record<string, unknown>
type Options = Command['options']

/** Options that mean something else for every line. */
const TAKEN = new Set([
  ...['account', 'number', 'shared', 'driver', 'config', 'url', 'offline', 'json', 'help', 'no-test'],
  ...['pace', 'daily-limit', 'on-unknown', 'settle-ms', 'consent-replies', 'loop-limit', 'seat', 'blocked'],
  ...['stop-text', 'start-text', 'help-text'],
])
/** Longer texts, such as certificates, come from a file. */
const FILE_LENGTH = 5000

interface Flag {
  name: string
  setting: Setting
  isFile: boolean
}

async function flagsOf({ kind, settings }: DriverEntry): Promise<Flag[]> {
  return settingsIn(await settings())
    .filter((setting) => setting.kind !== 'other')
    .map((setting) => {
      const plain = setting.name.replaceAll('_', '-')
      const isFile = setting.kind === 'text' && !setting.isSecret && (setting.maxLength ?? 0) > FILE_LENGTH
      const name = `${TAKEN.has(plain) ? `${kind}-` : ''}${plain}${isFile ? '-file' : ''}`
      return { name, setting, isFile }
    })
}

/** The options that a driver's settings make, with their descriptions. */
export async function optionsOf(driver: DriverEntry, use: 'add' | 'set'): Promise<Options> {
  const options: Options = {}
  for (const { name, setting, isFile } of await flagsOf(driver)) {
    const needed = setting.isRequired && use === 'add' ? ' (needed)' : ''
    const words = lowered(setting.description)
    if (setting.isSecret) Object.assign(options, secretOptions(name, `${words}${needed}`, use))
    else
      options[name] = {
        type: 'string',
        help: `${isFile ? 'file: ' : ''}${words}${valuesOf(setting)}${needed}`,
      }
  }
  return options
}

/** The same for a line that is there, whatever carrier it has. */
export async function optionsOfAll(): Promise<Options> {
  const options: Options = {}
  for (const driver of DRIVERS.filter(({ kind }) => kind !== 'simulator'))
    for (const [name, option] of Object.entries(await optionsOf(driver, 'set'))) {
      const known = options[name]
      options[name] = {
        ...option,
        help: known ? `${known.help}; ${driver.kind}: ${option.help}` : `${driver.kind}: ${option.help}`,
      }
    }
  return options
}

/** The settings that were given as options. A value of `none` takes one away. */
export async function givenSettings(driver: DriverEntry, args: Args, use: 'add' | 'set'): Promise<Fields> {
  const given: Fields = {}
  const flags = await flagsOf(driver)
  const keep = ({ name }: Setting, value: unknown) => {
    if (value !== undefined) given[name] = value
  }
  for (const { name, setting, isFile } of flags)
    if (!setting.isSecret)
      keep(setting, isFile ? await readText(args, name) : readValue(name, setting, text(args, name)))
  // Last: nobody types a secret in to hear that something else is wrong.
  for (const { name, setting } of flags)
    if (setting.isSecret) keep(setting, await readSecret(args, name, setting, use))
  return given
}

function readValue(name: string, setting: Setting, value: string | undefined): unknown {
  if (value === undefined) return undefined
  if (value === 'none' && !setting.isRequired && !setting.choices.includes('none')) return null
  const wrong = () => new UsageError(`--${name} ${demandOf(setting)}`)
  switch (setting.kind) {
    case 'whole':
    case 'number':
      if (!/^-?\d+(\.\d+)?$/.test(value)) throw wrong()
      return Number(value)
    case 'switch':
      if (value !== 'yes' && value !== 'no') throw new UsageError(`--${name} must be yes or no`)
      return value === 'yes'
    case 'list':
      return value.split(',').map((one) => one.trim())
    default:
      return value
  }
}

/** A secret on a command line is read by everybody who lists the processes. */
export async function refuseSecrets(driver: DriverEntry, config: unknown): Promise<void> {
  if (typeof config !== 'object' || config === null) return
  for (const { name, setting } of await flagsOf(driver))
    if (setting.isSecret && setting.name in config)
      throw new UsageError(
        `${setting.name} is a secret, and a command line is no place for one: use --${name}-file or --${name}-stdin`,
      )
}

function valuesOf({ kind, choices }: Setting): string {
  if (kind === 'switch') return ' (yes or no)'
  if (choices.length === 0) return ''
  return ` (${choices.join(', ')}${kind === 'list' ? '; several with commas' : ''})`
}

function lowered(words: string): string {
  return /^[A-Z][a-z]/.test(words) ? words.charAt(0).toLowerCase() + words.slice(1) : words
}
