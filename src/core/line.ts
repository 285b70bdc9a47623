import type { Service } from './message.js'

export interface Line {
  id: string
  network: string
  number: string
  kind: 'dedicated' | 'shared'
  /** Owner of a dedicated line; a shared one serves its members. */
  accountId: string | null
  driver: string
  config: Record<string, unknown>
  /** Messages a second; 0 is unlimited. */
  pace: number
  onUnknown: 'hold' | 'resend'
  /** How long after the wire a carrier's "no such message" may still be wrong. */
  settleMs: number
  createdAt: number
  /** Since when its carrier or the operator lets it send nothing. */
  blockedAt: number | null
}

export const DEFAULT_PACE = 10
export const MAX_PACE = 10_000
export const DEFAULT_SETTLE_MS = 5_000

/** What a line can do: data, so that what it cannot do is refused before it is queued. */
export interface Capabilities {
  services: readonly Service[]
  media: boolean
  sendStyles: boolean
  replies: boolean
  groups: boolean
  carousel: boolean
  appCards: boolean
  location: boolean
  reactions: boolean
  typing: boolean
  readReceipts: boolean
  profile: boolean
}

export type LineState = 'ONLINE' | 'DEGRADED' | 'OFFLINE' | 'UNKNOWN'
