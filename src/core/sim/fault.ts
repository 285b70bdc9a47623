import { hash } from 'node:crypto'
import { SIM_FAULTS } from './fault-catalogue.js'
import type { FaultSpec } from './fault-spec.js'

/** A fault that an account has switched on. */
export interface SimFault {
  accountId: string
  name: string
  /** Limits the fault to this line. */
  lineId: string | null
  /** Limits the fault to this phone. */
  phone: string | null
  /** From 0 to 1. */
  probability: number
  /** Number of messages that the fault will still affect; null is unlimited. */
  remaining: number | null
  seed: number
  /** Number of messages that the fault could have affected, and that it did affect. */
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

/** The line's settings during the fault. */
export function faultSettings(fault: SimFault): Record<string, unknown> {
  const spec = BY_NAME.get(fault.name)
  const given = (spec?.parameters ?? []).map(({ name, setting, default: usual }) => [
    setting,
    fault.parameters[name] ?? usual,
  ])
  return { ...spec?.settings, ...Object.fromEntries(given) }
}

/** Whether the fault affects the next message. Equal seeds give equal results on every machine. */
export function isHit({ name, seed, drawn, probability }: SimFault): boolean {
  const dice = Number.parseInt(hash('sha256', `${seed} ${name} ${drawn}`, 'hex').slice(0, 8), 16)
  return dice / 2 ** 32 < probability
}
