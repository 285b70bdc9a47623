export interface Step {
  at: number
  what: StepKind
  detail: string
}

export const STEP_KINDS = [
  'accepted',
  'received',
  'service',
  'attempt',
  'status',
  'line',
  'conversation',
  'read',
  'reaction',
  'webhook',
  'waits',
] as const
export type StepKind = (typeof STEP_KINDS)[number]

export interface Story {
  verdict: VerdictCode
  /** A short paragraph. */
  summary: string
  nextStep: string
  steps: Step[]
}

/** The state of a message and its reason, as one word for programs. */
export const VERDICTS = [
  'received',
  'delivered',
  'sent',
  'sent_no_receipts',
  'phone_off',
  'scheduled',
  'queued',
  'queued_behind',
  'waiting_for_pace',
  'daily_limit',
  'line_offline',
  'line_blocked',
  'line_removed',
  'conversation_held',
  'held_after_restore',
  'conversation_dropped',
  'on_wire',
  'retrying',
  'pending_lookup',
  'outcome_unknown',
  'opted_out',
  'canceled',
  'refused',
  'media_refused',
  'unreachable',
  'not_imessage',
  'undelivered',
  'failed',
] as const
export type VerdictCode = (typeof VERDICTS)[number]

export interface Conclusion {
  verdict: VerdictCode
  sentences: string[]
  /** Null if there is nothing to do. */
  nextStep: string | null
  /** The cause for which the message waits now. */
  waits?: string
}
