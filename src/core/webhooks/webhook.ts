import { hash } from 'node:crypto'
import { eventNumber, type Incarnation } from '../events/incarnation.js'
import type { WebhookType } from './types.js'

/** A receiver of the events of one webhook type. */
export interface WebhookEndpoint {
  id: string
  accountId: string
  type: WebhookType
  url: string
  /** The entry's secret, or the account's; null if there is none. */
  secret: string | null
  /** A recently replaced secret, which also signs. */
  formerSecret: string | null
  /** Whether deliveries carry the secret itself in a header. */
  sendsSecret: boolean
  /** Lines whose events the webhook gets; null for all. */
  numbers: readonly string[] | null
  schedule: WebhookSchedule
}

/** How long a failing delivery is retried: three times within minutes, or for about three days. */
export type WebhookSchedule = 'standard' | 'extended'

/** Number of shards of accounts. One process at a time delivers the webhooks of a shard. */
export const WEBHOOK_SHARDS = 8

/** The shard of an account, which never changes. */
export function shardOf(accountId: string): number {
  return Number.parseInt(hash('sha256', accountId, 'hex').slice(0, 8), 16) % WEBHOOK_SHARDS
}

/** The id of an event for receivers, equal in every attempt and at every endpoint. */
export function webhookIdOf(
  event: { accountId: string; seq: number },
  incarnations: readonly Incarnation[],
): string {
  return `evt_${event.accountId}_${eventNumber(incarnations, event.seq)}`
}

/** The lane of a delivery. Status callbacks share a lane for each host, so that a dead host blocks one lane. */
export function callbackLane(accountId: string, url: string): string {
  return `callback:${accountId}:${new URL(url).origin}`
}
