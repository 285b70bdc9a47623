import { parseArgs } from 'node:util'
import { demandOf, type Setting, settingsIn } from '../../core/lines/settings.js'
import type { Driver } from '../../drivers/contract.js'
import { type Args, commaList, type Option, readValues, UsageError, yesOrNo } from '../args.js'
import { ApiError, type Call, withAdmin } from '../client.js'
import { type Fields, SERVER_OPTIONS } from '../command.js'
import type { Io } from '../io.js'
import { LINE_OPTIONS, NEW_LINE } from './options.js'
import { readSecret, readText, secretOptions } from './secrets.js'

type Options = Record<string, Option>

/** The part of a driver that the command line reads: options follow from the schema of its settings. */
export type DriverInfo = Pick<Driver, 'kind' | 'title' | 'config'>

/** Loaded only when a command needs them. */
export async function builtInDrivers(): Promise<readonly DriverInfo[]> {
  return (await import('../../drivers/registry.js')).BUILT_IN
}

/** The drivers of a server, including those that its operator wrote. */
export async function listDrivers(call: Call): Promise<DriverInfo[]> {
  const { data } = await call<{ data: Fields[] }>('GET', '/admin/drivers')
  return data.map(({ kind, title, settings }) => ({ kind, title, config: settings }) as DriverInfo)
}

/** The drivers of the server that the arguments name, or the built-in ones if it does not answer. */
export function knownDrivers(args: Args): Promise<readonly DriverInfo[]> {
  return withAdmin<readonly DriverInfo[]>(args, listDrivers).catch((error) => {
    if (error instanceof ApiError) return builtInDrivers()
    throw error
  })
}

/** Parses arguments whose options are not all known yet. */
export function looseArgs(argv: readonly string[], io: Io, options: Options = SERVER_OPTIONS.admin): Args {
  return { ...parseArgs({ args: [...argv], options, strict: false }), json: false, io }
}

/** A setting with the name of another option gets the driver's kind as a prefix. */
const TAKEN = new Set([
  ...Object.keys({ ...LINE_OPTIONS, ...NEW_LINE, ...SERVER_OPTIONS.admin }),
  ...['driver', 'json', 'help', 'no-test', 'seat', 'blocked'],
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

/** The options for a driver's settings. The server checks that the required settings are there. */
export function driverOptions(driver: DriverInfo, use: 'add' | 'set'): Options {
  const options: Options = {}
  for (const { name, setting, isFile } of flagsOf(driver)) {
    const suffix = setting.isRequired && use === 'add' ? ' (required)' : ''
    const help = lowered(setting.description)
    if (setting.isSecret) Object.assign(options, secretOptions(name, `${help}${suffix}`, use))
    else options[name] = optionFor(setting, `${isFile ? 'file: ' : ''}${help}${valuesOf(setting)}${suffix}`)
  }
  return options
}

function optionFor(setting: Setting, help: string): Option {
  const isClearable = !setting.isRequired && !setting.choices.includes('none')
  const parse = (value: string) => (/^-?\d+(\.\d+)?$/.test(value) ? Number(value) : undefined)
  const option: Option =
    setting.kind === 'switch'
      ? yesOrNo(help)
      : setting.kind === 'list'
        ? commaList(help)
        : { type: 'string', help }
  const isNumber = setting.kind === 'whole' || setting.kind === 'number'
  return { ...option, isClearable, ...(isNumber && { parse, demand: demandOf(setting) }) }
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

/** The options of several drivers, for a line whose driver is not known yet: their values are left unread. */
export function optionsOfAll(drivers: readonly DriverInfo[]): Options {
  const options: Options = {}
  for (const driver of drivers)
    for (const [name, { type, help }] of Object.entries(driverOptions(driver, 'set'))) {
      const known = options[name] ? `${options[name].help}; ` : ''
      options[name] = { type, help: `${known}${driver.kind}: ${help}` }
    }
  return options
}

/** The settings that were given as options; null for one to remove. */
export async function givenSettings(driver: DriverInfo, args: Args, use: 'add' | 'set'): Promise<Fields> {
  const values = readValues(args.values, driverOptions(driver, use))
  const given: Fields = {}
  // Secrets last: a prompt for one comes after everything else was found to be right.
  const flags = flagsOf(driver).sort((a, b) => Number(a.setting.isSecret) - Number(b.setting.isSecret))
  for (const { name, setting, isFile } of flags)
    given[setting.name] = setting.isSecret
      ? await readSecret(args, name, setting, use)
      : isFile
        ? await readText(args, name)
        : values[name]
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

/** Every user of the machine can see the arguments of a running process. */
export function refuseSecrets(driver: DriverInfo | undefined, config: unknown): void {
  if (!driver || typeof config !== 'object' || config === null) return
  for (const { name, setting } of flagsOf(driver))
    if (setting.isSecret && setting.name in config)
      throw new UsageError(
        `${setting.name} is a secret and must not be on the command line: use --${name}-file or --${name}-stdin`,
      )
}

export function withoutNull(given: Fields): Fields {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null))
}

function valuesOf({ kind, choices }: Setting): string {
  if (kind === 'switch') return ' (yes or no)'
  if (choices.length === 0) return ''
  return ` (${choices.join(', ')}${kind === 'list' ? '; separate several with commas' : ''})`
}

function lowered(words: string): string {
  return /^[A-Z][a-z]/.test(words) ? words.charAt(0).toLowerCase() + words.slice(1) : words
}
