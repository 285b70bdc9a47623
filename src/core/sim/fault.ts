import { hash } from 'node:crypto'
import { SIM_FAULTS } from './fault-catalogue.js'
import type { FaultSpec } from './fault-spec.js'

/** A fault that an account has switched on. */
export interface SimFault {
  accountId: string
  name: string
  /** On this line only. */
  lineId: string | null
  /** With this phone only. */
  phone: string | null
  /** Of 1. */
  probability: number
  /** How many messages it will still happen to; null: without end. */
  remaining: number | null
  seed: number
  /** Messages that it might have happened to, and those it did. */
  drawn: number
  hits: number
  parameters: Readonly<Record<string, number>>
  createdAt: number
}

const BY_NAME = new Map(SIM_FAULTS.map((spec) => [spec.name, spec]))

export function faultSpec(name: string): FaultSpec | undefined {
  return BY_NAME.get(name)
}

export function isOn(fault: SimFault): boolean {
  return fault.remaining === null || fault.remaining > 0
}

/** The settings of the line while it happens. */
export function faultSettings(fault: SimFault): Record<string, unknown> {
  const spec = BY_NAME.get(fault.name)
  const given = (spec?.parameters ?? []).map(({ name, setting, default: usual }) => [
    setting,
    fault.parameters[name] ?? usual,
  ])
  return { ...spec?.settings, ...Object.fromEntries(given) }
}

/** Whether it happens to the next message: the same for the same seed, whatever the machine. */
export function isHit({ name, seed, drawn, probability }: SimFault): boolean {
  const dice = Number.parseInt(hash('sha256', `${seed} ${name} ${drawn}`, 'hex').slice(0, 8), 16)
  return dice / 2 ** 32 < probability
}
