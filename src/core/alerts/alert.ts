import type { Event, NewEvent } from '../events/event.js'
import type { AlertFacts, AlertKind } from './facts.js'

const MINUTE = 60_000

/** The alerts, with the time for which a condition must have lasted before it is told. */
const AFTER_MS = {
  'line.offline': 5 * MINUTE,
  /** As TrunklineQueueOld in deploy/prometheus/trunkline.rules.yml. */
  'queue.age': 10 * MINUTE,
  'webhook.failing': 10 * MINUTE,
  'quota.near': 0,
} as const satisfies Record<AlertKind, number>

export const ALERT_KINDS = Object.keys(AFTER_MS) as readonly AlertKind[]

/** Conditions of this kind are told if they have lasted since this time or an earlier one. */
export const toldFrom = (kind: AlertKind, now: number): number => now - AFTER_MS[kind]

/** The part of a budget that is used when `quota.near` begins. */
const NEAR = 0.8
export const isNear = (used: number, limit: number): boolean => used >= NEAR * limit

interface AlertOf<K extends AlertKind> {
  accountId: string
  kind: K
  /** Id of the line or webhook; the name of the budget. */
  subject: string
  /** Since when the condition has lasted. */
  since: number
  /** When it was told. */
  beganAt: number
  facts: AlertFacts[K]
}

/** A condition of an account that lasts. */
export type Alert<K extends AlertKind = AlertKind> = { [N in K]: AlertOf<N> }[K]

export type AlertEvent = Event<AlertKind>

const KINDS: ReadonlySet<string> = new Set(ALERT_KINDS)
export const isAlert = (event: Event): event is AlertEvent => KINDS.has(event.type)

export function beganEvent({ accountId, kind, subject, since, beganAt, facts }: Alert): NewEvent<AlertKind> {
  const data = { state: 'began', since, endedAt: null, ...facts }
  // The facts are those of the kind.
  return { accountId, type: kind, subject, at: beganAt, data } as NewEvent<AlertKind>
}

export function endedEvent(alert: Alert, at: number): NewEvent<AlertKind> {
  const { accountId, kind, subject, since, facts } = alert
  const data = { state: 'ended', since, endedAt: at, ...facts }
  return { accountId, type: kind, subject, at, data } as NewEvent<AlertKind>
}
