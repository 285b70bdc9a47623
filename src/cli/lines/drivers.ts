import { parseArgs } from 'node:util'
import { demandOf, type Setting, settingsIn } from '../../core/lines/settings.js'
import type { Driver } from '../../drivers/contract.js'
import { settingOptions } from '../admin/set.js'
import { ApiError, type Call, CLIENT_OPTIONS, withClient } from '../client.js'
import { type Args, type Command, text, UsageError } from '../command.js'
import type { Io } from '../io.js'
import { readSecret, readText, secretOptions } from './secrets.js'

type Fields = Record<string, unknown>
type Options = Command['options']

/** What the command line knows of a driver: its options come from the schema of its settings. */
export type DriverInfo = Pick<Driver, 'kind' | 'title' | 'config'>

/** Loaded only when a command needs them. */
export async function builtInDrivers(): Promise<readonly DriverInfo[]> {
  return (await import('../../drivers/registry.js')).BUILT_IN
}

/** The drivers of a server, an operator's own included. */
export async function listDrivers(send: Call): Promise<DriverInfo[]> {
  const { data } = (await send('GET', '/admin/drivers')) as { data: Fields[] }
  return data.map(({ kind, title, settings }) => ({ kind, title, config: settings }) as DriverInfo)
}

/** The drivers of the server that the options name; the built-in ones while it does not answer. */
export function knownDrivers(args: Args): Promise<readonly DriverInfo[]> {
  return withClient<readonly DriverInfo[]>(args, listDrivers).catch((error) => {
    if (error instanceof ApiError) return builtInDrivers()
    throw error
  })
}

/** Arguments whose options are not all known yet. */
export function looseArgs(argv: readonly string[], io: Io, options: Options = CLIENT_OPTIONS): Args {
  return { ...parseArgs({ args: [...argv], options, strict: false }), json: false, io }
}

/** Options of other meanings: a setting with one of these names gets the driver's kind in front of it. */
const TAKEN = new Set([
  ...Object.keys({ ...settingOptions(), ...CLIENT_OPTIONS }),
  ...['account', 'number', 'shared', 'driver', 'json', 'help', 'no-test', 'seat', 'blocked'],
])

interface Flag {
  name: string
  setting: Setting
  /** The value is the path of a file with the text. */
  isFile: boolean
}

function flagsOf({ kind, config }: DriverInfo): Flag[] {
  return settingsIn(config)
    .filter((setting) => setting.kind !== 'other')
    .map((setting) => {
      const plain = setting.name.replaceAll('_', '-')
      const isFile = setting.isLong && !setting.isSecret
      const name = `${TAKEN.has(plain) ? `${kind}-` : ''}${plain}${isFile ? '-file' : ''}`
      return { name, setting, isFile }
    })
}

/** The options that a driver's settings make, with their descriptions. */
export function optionsOf(driver: DriverInfo, use: 'add' | 'set'): Options {
  const options: Options = {}
  for (const { name, setting, isFile } of flagsOf(driver)) {
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

/** Options of an example: the required settings, and those with an example value. */
export function exampleOf(driver: DriverInfo): string {
  return flagsOf(driver)
    .flatMap(({ name, setting: { isSecret, isRequired, example } }) => {
      if (isSecret) return isRequired ? `--${name}-file ${driver.kind}.${name}` : []
      return isRequired || example !== undefined ? `--${name} ${example ?? '...'}` : []
    })
    .join(' ')
}

/** The options for a line that exists, whichever of the drivers it has. */
export function optionsOfAll(drivers: readonly DriverInfo[]): Options {
  const options: Options = {}
  for (const driver of drivers)
    for (const [name, option] of Object.entries(optionsOf(driver, 'set'))) {
      const known = options[name] ? `${options[name].help}; ` : ''
      options[name] = { ...option, help: `${known}${driver.kind}: ${option.help}` }
    }
  return options
}

/** The settings that were given as options. A value of `none` takes one away. */
export async function givenSettings(driver: DriverInfo, args: Args, use: 'add' | 'set'): Promise<Fields> {
  const given: Fields = {}
  const keep = ({ name }: Setting, value: unknown) => {
    if (value !== undefined) given[name] = value
  }
  for (const { name, setting, isFile } of flagsOf(driver))
    if (!setting.isSecret)
      keep(setting, isFile ? await readText(args, name) : readValue(name, setting, text(args, name)))
  // Secrets last: a prompt for one comes after everything else was found to be right.
  for (const { name, setting } of flagsOf(driver))
    if (setting.isSecret) keep(setting, await readSecret(args, name, setting, use))
  return given
}

function readValue(name: string, setting: Setting, value: string | undefined): unknown {
  if (value === undefined) return undefined
  if (value === 'none' && !setting.isRequired && !setting.choices.includes('none')) return null
  switch (setting.kind) {
    case 'whole':
    case 'number':
      if (!/^-?\d+(\.\d+)?$/.test(value)) throw new UsageError(`--${name} ${demandOf(setting)}`)
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

/** Everybody who lists the processes of a machine can read a secret on a command line. */
export function refuseSecrets(driver: DriverInfo | undefined, config: unknown): void {
  if (!driver || typeof config !== 'object' || config === null) return
  for (const { name, setting } of flagsOf(driver))
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
