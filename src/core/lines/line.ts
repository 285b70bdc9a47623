import type { Service } from '../messages/message.js'

export interface Line {
  id: string
  network: string
  number: string
  kind: 'dedicated' | 'shared'
  /** Owner of a dedicated line; a shared one serves its members. */
  accountId: string | null
  driver: string
  /** The driver's own settings; of secrets, a word that there is one. */
  config: Record<string, unknown>
  /** Messages a second; 0 is unlimited. */
  pace: number
  /** Messages from midnight to midnight, UTC; 0 is unlimited. */
  dailyLimit: number
  onUnknown: 'hold' | 'resend'
  /** How long after the wire a carrier's "no such message" may still be wrong. */
  settleMs: number
  /** Who answers STOP and START: we, or the carrier by itself. */
  consentReplies: 'send' | 'carrier'
  /** Own words for these answers; null: ours. */
  stopText: string | null
  startText: string | null
  /** What HELP is answered with; null: nothing. */
  helpText: string | null
  /** Quick alternations that make a conversation a loop; 0: never; null: as the server is set. */
  loopLimit: number | null
  createdAt: number
  /** Since when its carrier or the operator lets it send nothing. */
  blockedAt: number | null
  /** How often its simulated world was begun anew: what started in an earlier one has nothing to say any more. */
  resets: number
  /** How often its secrets were changed. */
  revision: number
}

/** What an operator may change of a line beside its driver's own settings. */
export type LineSettings = Pick<
  Line,
  | 'pace'
  | 'dailyLimit'
  | 'onUnknown'
  | 'settleMs'
  | 'consentReplies'
  | 'stopText'
  | 'startText'
  | 'helpText'
  | 'loopLimit'
>

export const DEFAULT_PACE = 10
export const MAX_PACE = 10_000
export const MAX_DAILY_LIMIT = 1_000_000_000
export const DEFAULT_SETTLE_MS = 5_000

export const DEFAULT_SETTINGS: LineSettings = {
  pace: DEFAULT_PACE,
  dailyLimit: 0,
  onUnknown: 'hold',
  settleMs: DEFAULT_SETTLE_MS,
  consentReplies: 'send',
  stopText: null,
  startText: null,
  helpText: null,
  loopLimit: null,
}

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

/** What every carrier of texts can do, and nothing more. */
export const TEXT_ONLY: Capabilities = {
  services: ['SMS'],
  media: false,
  sendStyles: false,
  replies: false,
  groups: false,
  carousel: false,
  appCards: false,
  location: false,
  reactions: false,
  typing: false,
  readReceipts: false,
  profile: false,
}

export type LineState = 'ONLINE' | 'DEGRADED' | 'OFFLINE' | 'UNKNOWN'

/** What a line is to an account: its own, or one it shares with others. */
export type Assignment = 'assigned' | 'shared'

export function assignmentOf(line: Pick<Line, 'kind'>): Assignment {
  return line.kind === 'shared' ? 'shared' : 'assigned'
}
