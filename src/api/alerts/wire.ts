import { type Static, Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import { ALERT_KINDS, type Alert, type AlertEvent } from '../../core/alerts/alert.js'
import type { AlertKind } from '../../core/alerts/facts.js'
import { summaryOf } from '../../core/alerts/summary.js'
import { snakeCase } from '../http/render.js'
import { integer, nullable, oneOf, optional, string } from '../http/schemas.js'

/** Alerts in lists, webhooks and the event stream. */

const KIND = oneOf<AlertKind>(ALERT_KINDS, 'What is wrong, which is also the type of its events')
const SUMMARY = string('The alert in a sentence, for people')
const SINCE = string('Since when the condition has lasted, ISO 8601')

const FACTS = {
  worker_id: optional(string('line.offline, queue.age: id of the line')),
  sendblue_number: optional(string('line.offline, queue.age: the line')),
  age_seconds: optional(integer('queue.age: age of the oldest waiting message')),
  webhook_id: optional(string('webhook.failing: id of the webhook, as in its deliveries')),
  webhook_type: optional(string('webhook.failing: type of the webhook')),
  webhook_host: optional(string('webhook.failing: host of its URL')),
  failures: optional(integer('webhook.failing: posts that failed one after the other')),
  http_status: optional(
    nullable('integer', 'webhook.failing: status of the last answer; null if there was none'),
  ),
  reason: optional(string('webhook.failing: why the last post failed')),
  budget: optional(string('quota.near: name of the budget')),
  limit: optional(integer('quota.near: limit of the budget')),
  used: optional(integer('quota.near: how much of it was used')),
}
const FactsWire = Type.Object(FACTS)

/** The fields of an event of an alert. The facts are those of the alert's beginning. */
export const ALERT_FIELDS = {
  alert: KIND,
  state: oneOf<'began' | 'ended'>(['began', 'ended'], 'Whether the condition has begun or ended'),
  summary: SUMMARY,
  since: SINCE,
  ended_at: nullable('string', 'When it was seen to have ended, ISO 8601; null while it lasts'),
  ...FACTS,
}
const EventFields = Type.Object(ALERT_FIELDS)

export const AlertWire = Type.Object(
  {
    account_id: string('Id of the account'),
    alert: KIND,
    summary: SUMMARY,
    since: SINCE,
    began_at: string('When it was told, ISO 8601'),
    ...FACTS,
  },
  { title: 'Alert' },
)

export function alertWire(alert: Alert): Static<typeof AlertWire> {
  return {
    account_id: alert.accountId,
    alert: alert.kind,
    summary: summaryOf(alert, false),
    since: formatTime(alert.since),
    began_at: formatTime(alert.beganAt),
    ...factsWire(alert.facts),
  }
}

export function alertEventWire({ type, data }: AlertEvent): Static<typeof EventFields> {
  const { state, since, endedAt, ...facts } = data
  return {
    alert: type,
    state,
    summary: summaryOf({ kind: type, facts }, state === 'ended'),
    since: formatTime(since),
    ended_at: endedAt === null ? null : formatTime(endedAt),
    ...factsWire(facts),
  }
}

/** Lines have the names that messages and other events give them. */
const NAMES: Readonly<Record<string, string>> = { lineId: 'worker_id', lineNumber: 'sendblue_number' }

function factsWire(facts: Alert['facts']): Static<typeof FactsWire> {
  return Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [NAMES[name] ?? snakeCase(name), value]),
  )
}
