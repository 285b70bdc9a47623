import { createRequire } from 'node:module'
import { isAbsolute, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { importModule } from '../../base/import.js'
import { ConfigError } from '../../config.js'
import type { Driver } from '../../drivers/contract.js'

const KIND = /^[a-z][a-z0-9-]{0,39}$/

/** A driver and where it comes from, for error messages. */
export interface LoadedDriver {
  from: string
  driver: Driver
}

/**
 * Loads an operator's own drivers: paths, names of packages that are installed in the working directory, or driver
 * objects. A faulty driver keeps the server from starting.
 */
export async function loadDrivers(
  given: readonly (string | Driver)[],
  builtIn: Iterable<string>,
): Promise<LoadedDriver[]> {
  const owners = new Map([...builtIn].map((kind) => [kind, 'Trunkline itself']))
  const loaded: LoadedDriver[] = []
  for (const one of given) {
    const from = typeof one === 'string' ? one : String(one?.kind)
    const driver = typeof one === 'string' ? await load(one) : one
    const fault = faultOf(driver)
    if (fault) throw new ConfigError(`The driver ${from} cannot be used: ${fault}`)
    const { kind } = driver as Driver
    const owner = owners.get(kind)
    if (owner)
      throw new ConfigError(
        `The driver ${from} cannot be used: its kind "${kind}" is taken by ${owner}. Give it another one.`,
      )
    owners.set(kind, from)
    loaded.push({ from, driver: driver as Driver })
  }
  return loaded
}

async function load(from: string): Promise<unknown> {
  let module: Record<string, unknown>
  try {
    module = await importModule(addressOf(from))
  } catch (error) {
    throw new ConfigError(
      `The driver ${from} of TRUNKLINE_DRIVERS cannot be loaded: ${(error as Error)?.message ?? error}`,
      { cause: error },
    )
  }
  // A CommonJS module has its exports below the default export.
  const main = module.default as Record<string, unknown> | undefined
  return module.driver ?? main?.driver ?? main
}

/** Packages are resolved from the working directory, then beside Trunkline. */
function addressOf(from: string): string {
  if (from.startsWith('file:')) return from
  if (isAbsolute(from) || /^\.{1,2}[\\/]/.test(from)) return pathToFileURL(resolve(from)).href
  try {
    return pathToFileURL(createRequire(join(process.cwd(), 'package.json')).resolve(from)).href
  } catch {
    return from
  }
}

/** The fault of a driver, in words for its author. */
function faultOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null)
    return 'the module exports neither "driver" nor a default that is one'
  const { kind, title, config, capabilities, connect, probe } = value as Partial<
    Record<keyof Driver, unknown>
  >
  if (typeof kind !== 'string' || !KIND.test(kind))
    return '"kind" must be small letters, digits and hyphens, at most 40, with a letter first'
  if (typeof title !== 'string' || title.trim() === '') return '"title" must be a text that people read'
  const { type, properties } = (config ?? {}) as Record<string, unknown>
  if (type !== 'object' || typeof properties !== 'object' || properties === null)
    return '"config" must be a JSON Schema with type "object" and properties'
  for (const [name, setting] of Object.entries(properties))
    if (typeof setting !== 'object' || setting === null) return `"config": ${name} must have a schema`
  for (const [name, method] of Object.entries({ capabilities, connect }))
    if (typeof method !== 'function') return `"${name}" must be a function`
  if (probe !== undefined && typeof probe !== 'function') return '"probe" must be a function'
  return undefined
}
