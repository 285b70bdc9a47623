import type { Alert } from '../../core/alerts/alert.js'
import type { AlertPlace } from '../../storage/alerts/alerts.js'
import type { TimePlace } from '../../storage/alerts/conditions.js'
import type { Sql } from '../../storage/engine/db.js'

/** Rows that one look reads, so that it takes a few milliseconds whatever is wrong. */
export const AT_ONCE = 200

/**
 * How far a round of looks at one kind of alert has come, among its conditions and among the alerts that were told.
 * Null: the round is through with them.
 */
export interface Place {
  condition: TimePlace | null
  told: AlertPlace | null
}

export const NO_CONDITION: TimePlace = { at: 0, id: '' }
export const NO_ALERT: AlertPlace = { subject: '', accountId: '' }

/** Conditions that begin and alerts that end, among those after the place of the look. */
export interface Findings {
  began: Omit<Alert, 'beganAt'>[]
  ended: Alert[]
  /** Where the next look goes on. */
  next: Place
}

/** Reads one kind of alert, with the same result if nothing has changed. */
export type Look = (sql: Sql, now: number, from: Place) => Promise<Findings>

/** The alerts that have ended, of a page of alerts, and the place of the next page. */
export function endedOf(page: readonly { alert: Alert; holds: boolean }[]): {
  ended: Alert[]
  further: AlertPlace | null
} {
  const last = page.length < AT_ONCE ? undefined : page.at(-1)!.alert
  return {
    ended: page.filter(({ holds }) => !holds).map(({ alert }) => alert),
    further: last ? { subject: last.subject, accountId: last.accountId } : null,
  }
}
