import type { MediaLimits } from '../media/limits.js'
import type { Service } from '../messages/message.js'

export const PACE_UNITS = ['second', 'minute', 'hour'] as const
export type PaceUnit = (typeof PACE_UNITS)[number]

export interface Line {
  id: string
  network: string
  number: string
  kind: 'dedicated' | 'shared'
  /** Owner of a dedicated line; null for a shared line, which serves its members. */
  accountId: string | null
  /** The sender pool that the line belongs to. */
  poolId: string | null
  driver: string
  /** The driver's settings, with a placeholder for each secret. */
  config: Record<string, unknown>
  /** Messages in each unit of time; 0 is unlimited. */
  pace: number
  paceUnit: PaceUnit
  /** Messages from midnight to midnight, UTC; 0 is unlimited. */
  dailyLimit: number
  onUnknown: 'hold' | 'resend'
  /** Milliseconds after a send during which the carrier's "no such message" may be wrong. */
  settleMs: number
  /** Who answers STOP and START: Trunkline, or the carrier. */
  consentReplies: 'send' | 'carrier'
  /** Texts of these answers; null uses the default. */
  stopText: string | null
  startText: string | null
  /** Answer to HELP; null sends none. */
  helpText: string | null
  /** Number of quick alternations that make a conversation a loop; 0 is never, null the server's setting. */
  loopLimit: number | null
  createdAt: number
  /** When the carrier or the operator blocked the line. */
  blockedAt: number | null
  /** Number of resets of its simulated world. Work that started before a reset must write nothing. */
  resets: number
  /** Number of changes of its secrets. */
  revision: number
}

/** Settings of a line that an operator may change, besides the driver's settings. */
export type LineSettings = Pick<
  Line,
  | 'pace'
  | 'paceUnit'
  | 'dailyLimit'
  | 'onUnknown'
  | 'settleMs'
  | 'consentReplies'
  | 'stopText'
  | 'startText'
  | 'helpText'
  | 'loopLimit'
>

const DEFAULT_PACE = 10
export const MAX_PACE = 10_000
export const MAX_DAILY_LIMIT = 1_000_000_000
const DEFAULT_SETTLE_MS = 5_000

export const DEFAULT_SETTINGS: LineSettings = {
  pace: DEFAULT_PACE,
  paceUnit: 'second',
  dailyLimit: 0,
  onUnknown: 'hold',
  settleMs: DEFAULT_SETTLE_MS,
  consentReplies: 'send',
  stopText: null,
  startText: null,
  helpText: null,
  loopLimit: null,
}

/** Abilities of a line. They are data, so that an unsupported send is refused before it is queued. */
export interface Capabilities {
  services: readonly Service[]
  media: boolean
  /** What the carrier accepts as the media of a message, by service; a service that is not named accepts any file. */
  mediaLimits?: Partial<Record<Service, MediaLimits>>
  sendStyles: boolean
  replies: boolean
  groups: boolean
  /** Whether a message to a group goes out as MMS if a member has no iMessage. */
  groupMms?: boolean
  carousel: boolean
  appCards: boolean
  location: boolean
  reactions: boolean
  typing: boolean
  readReceipts: boolean
  profile: boolean
}

/** The abilities that every text carrier has. */
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

/** Whether a line belongs to the account or is shared with others. */
export type Assignment = 'assigned' | 'shared'

export function assignmentOf(line: Pick<Line, 'kind'>): Assignment {
  return line.kind === 'shared' ? 'shared' : 'assigned'
}
