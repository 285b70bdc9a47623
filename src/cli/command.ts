import type { Io } from './io.js'

/** A command of the command line. `options` are what node:util parses, with a help text each. */
export interface Command {
  name: string
  summary: string
  positional?: string
  options: Record<string, { type: 'string' | 'boolean'; help: string; short?: string; multiple?: boolean }>
  /** The command that the arguments select, such as one with the options of a driver. `argv` follows the name. */
  more?(argv: readonly string[], io: Io): Promise<Command>
  /** Every form that `more` can return on this machine, for the documentation. */
  variants?(): Promise<Command[]>
  examples: string[]
  run(args: Args): Promise<void>
}

/** All commands with all their options, for the documentation. */
export async function everyCommand(commands: readonly Command[]): Promise<Command[]> {
  return (await Promise.all(commands.map(async (one) => (await one.variants?.()) ?? [one]))).flat()
}

export interface Args {
  values: Record<string, string | boolean | (string | boolean)[] | undefined>
  positionals: string[]
  json: boolean
  io: Io
}

/** The command was called wrongly; its help is shown. */
export class UsageError extends Error {}

/** What was waited for has not happened yet: neither done nor failed. */
export class StillWaiting extends Error {}

export function text(args: Args, name: string): string | undefined {
  const value = args.values[name]
  return typeof value === 'string' ? value : undefined
}

/** All values of an option that may be given several times. */
export function texts(args: Args, name: string): string[] {
  const value = args.values[name]
  return Array.isArray(value) ? value.map(String) : []
}

export function needed(args: Args, name: string): string {
  const value = text(args, name)
  if (value === undefined) throw new UsageError(`--${name} is needed`)
  return value
}

export function onePositional(args: Args, what: string): string {
  if (args.positionals.length !== 1) throw new UsageError(`Name one ${what}`)
  return args.positionals[0]!
}

export function noPositionals({ positionals }: Args): void {
  if (positionals.length > 0) throw new UsageError('This takes no names')
}

/** A whole number of at least one. */
export function count(args: Args, name: string): number | undefined {
  const value = text(args, name)
  if (value === undefined) return undefined
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new UsageError(`--${name} must be a whole number, 1 or more`)
  return Number(value)
}
