import { Compile } from 'typebox/compile'
import { AppError } from '../../core/errors.js'
import {
  demandOf,
  destinationOf,
  KEPT,
  nameFaults,
  type SettingFault,
  secretNames,
  settingsIn,
} from '../../core/lines/settings.js'
import type { Driver } from '../../drivers/contract.js'
import type { Ctx } from '../ctx.js'
import type { Settings } from './secrets.js'

/** Settings that the driver's schema allows, with their secrets separated. */
export interface CheckedConfig {
  /** For storage and display: a placeholder stands for each secret. */
  open: Settings
  secrets: Settings
}

export function requireDriver(ctx: Ctx, name: string): Driver {
  const driver = ctx.drivers.get(name)
  if (!driver) throw new AppError('invalid', `driver: must be one of ${[...ctx.drivers.keys()].join(', ')}`)
  return driver
}

/**
 * Checks settings against the driver's schema. A secret that is left out or given as the placeholder keeps its stored
 * value; null removes it. A stored secret is sent only to the host that it was saved for: new settings with another
 * host must bring their secrets.
 */
export function checkedConfig(
  driver: Driver,
  given: Settings,
  stored: CheckedConfig = { open: {}, secrets: {} },
): CheckedConfig {
  const names = secretNames(driver.config)
  const savedFor = destinationOf(driver.config, stored.open)
  const hasMoved = savedFor !== destinationOf(driver.config, given)
  const whole: Settings = { ...given }
  const faults: SettingFault[] = []
  for (const name of names) {
    const value = given[name]
    if (value === null) delete whole[name]
    else if (value === undefined || value === KEPT) {
      if (stored.secrets[name] !== undefined && hasMoved) {
        delete whole[name]
        faults.push({ name, words: `give it again: it was saved for ${savedFor}, and is sent nowhere else` })
      } else if (stored.secrets[name] !== undefined) whole[name] = stored.secrets[name]
      else if (value === KEPT) {
        delete whole[name]
        faults.push({ name, words: `nothing is kept: give the ${name} itself` })
      }
    }
  }
  faults.push(...faultsIn(driver, whole))
  const first = new Map(faults.reverse().map((fault) => [fault.name, fault]))
  if (first.size > 0) {
    const said = [...first.values()].reverse().map(({ name, words }) => ({ field: `config.${name}`, words }))
    throw new AppError('invalid', said.map(({ field, words }) => `${field}: ${words}`).join('; '), {
      details: said.map(({ field, words }) => ({ field, message: words })),
    })
  }
  const secrets = Object.fromEntries(
    names.filter((name) => whole[name] !== undefined).map((name) => [name, whole[name]]),
  )
  const words = Object.fromEntries(Object.keys(secrets).map((name) => [name, KEPT]))
  return { open: { ...whole, ...words }, secrets }
}

function faultsIn(driver: Driver, given: Settings): SettingFault[] {
  const settings = settingsIn(driver.config)
  const wrong = Compile(driver.config)
    .Errors(given)
    .flatMap(({ instancePath }) => {
      const setting = settings.find(({ name }) => name === instancePath.split('/')[1])
      return setting ? [{ name: setting.name, words: demandOf(setting) }] : []
    })
  return [...nameFaults(settings, given), ...wrong]
}
