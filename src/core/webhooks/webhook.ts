import { hash } from 'node:crypto'
import type { WebhookType } from './types.js'

/** Where an account wants the events of one webhook type posted. */
export interface WebhookEndpoint {
  id: string
  accountId: string
  type: WebhookType
  url: string
  /** The entry's own secret, or the account's global one; null when there is none. */
  secret: string | null
  /** A secret that was replaced lately and still signs beside it. */
  formerSecret: string | null
  /** Lines whose events it gets; null for all. */
  numbers: readonly string[] | null
  schedule: WebhookSchedule
}

/** How long a failing delivery is tried again: three times within minutes, or for about three days. */
export type WebhookSchedule = 'standard' | 'extended'

/** Accounts are delivered to in this many parts, each by one process at a time. */
export const WEBHOOK_SHARDS = 8

/** The part an account is in, the same for ever. */
export function shardOf(accountId: string): number {
  return Number.parseInt(hash('sha256', accountId, 'hex').slice(0, 8), 16) % WEBHOOK_SHARDS
}

/** The id of an event to its receivers: the same in every attempt and at every endpoint. */
export function webhookIdOf(event: { accountId: string; seq: number }): string {
  return `evt_${event.accountId}_${event.seq}`
}

/** What of the deliveries waits together. Status callbacks go by their receiver: one dead host is one lane. */
export function callbackLane(accountId: string, url: string): string {
  return `callback:${accountId}:${new URL(url).origin}`
}
