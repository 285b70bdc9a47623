import type { Io } from './io.js'

/** The arguments of one call of a command. */
export interface Args {
  /** By the names of the options, read by their `parse`. */
  values: Record<string, unknown>
  positionals: string[]
  json: boolean
  io: Io
  /** Headers of every request to the server. */
  headers?: Record<string, string>
}

/** An option as node:util parses it, with its help text and the meaning of its value. */
export interface Option {
  type: 'string' | 'boolean'
  help: string
  multiple?: boolean
  default?: string
  isRequired?: boolean
  /** The value `none` is read as null. */
  isClearable?: boolean
  /** Reads the value; undefined when it is wrong. */
  parse?(value: string): unknown
  /** Rule that `parse` checks, for error texts: "must be yes or no". */
  demand?: string
  /** Its name in requests, if that is not the option's own. */
  field?: string
}

/** An option given as a string takes any text; the string is its help. */
export type OptionTable = Record<string, string | Option>

/** The command was called wrongly; its help is shown. */
export class UsageError extends Error {}

/** The command gave up waiting: its work is neither done nor failed. */
export class StillWaiting extends Error {}

const string = (help: string): Option => ({ type: 'string', help })
export const flag = (help: string): Option => ({ type: 'boolean', help })
export const required = (help: string): Option => ({ ...string(`${help} (required)`), isRequired: true })
export const repeatable = (help: string): Option => ({ ...string(`${help}; repeatable`), multiple: true })
export const clearable = (option: string | Option): Option => ({ ...optionOf(option), isClearable: true })
export const inField = (field: string, option: string | Option): Option => ({ ...optionOf(option), field })

export const whole = (help: string, least: 0 | 1 = 0): Option => ({
  ...string(help),
  demand: `must be a whole number${least === 1 ? ', 1 or more' : ''}`,
  parse: (value) => (/^\d{1,9}$/.test(value) && Number(value) >= least ? Number(value) : undefined),
})

export const yesOrNo = (help: string): Option => ({
  ...string(help),
  demand: 'must be yes or no',
  parse: (value) => (value === 'yes' || value === 'no' ? value === 'yes' : undefined),
})

export const commaList = (help: string): Option => ({ ...string(help), parse: (value) => value.split(',') })

function optionOf(given: string | Option): Option {
  return typeof given === 'string' ? string(given) : given
}

export function optionsOf(table: OptionTable): Record<string, Option> {
  return Object.fromEntries(Object.entries(table).map(([name, given]) => [name, optionOf(given)]))
}

/** The values as their options read them. */
export function readValues(
  values: Record<string, unknown>,
  options: Record<string, Option>,
): Record<string, unknown> {
  const entries = Object.entries(options).map(([name, option]) => {
    const value = values[name]
    if (value === undefined && option.isRequired) throw new UsageError(`--${name} is required`)
    if (value === 'none' && option.isClearable) return [name, null]
    if (typeof value !== 'string' || !option.parse) return [name, value]
    const read = option.parse(value)
    if (read === undefined) throw new UsageError(`--${name} ${option.demand}, not "${value}"`)
    return [name, read]
  })
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

/** The values of some options under their names in requests. */
export function fieldsOf({ values }: Args, options: OptionTable): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(options)
      .filter(([name]) => values[name] !== undefined)
      .map(([name, option]) => [optionOf(option).field ?? name.replaceAll('-', '_'), values[name]]),
  )
}

export function text(args: Args, name: string): string | undefined {
  const value = args.values[name]
  return typeof value === 'string' ? value : undefined
}

/** All values of an option that may be given several times. */
export function texts(args: Args, name: string): string[] {
  return (args.values[name] ?? []) as string[]
}

export function onePositional({ positionals }: Args, what: string): string {
  if (positionals.length !== 1) throw new UsageError(`Give one ${what}`)
  return positionals[0]!
}
