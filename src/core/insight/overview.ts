import type { Service, Status } from '../messages/message.js'

/** The time span of an overview and the length of its steps. */
export const WINDOWS = {
  '1h': { span: 3_600_000, step: 300_000 },
  '24h': { span: 86_400_000, step: 3_600_000 },
  '7d': { span: 7 * 86_400_000, step: 6 * 3_600_000 },
} as const
export type Window = keyof typeof WINDOWS

/** The outcome of a message, or its state on the way. */
export const OUTCOMES = ['delivered', 'sent', 'waiting', 'failed'] as const
type Outcome = (typeof OUTCOMES)[number]

export function outcomeOf(status: Status): Outcome {
  switch (status) {
    case 'DELIVERED':
    case 'SUCCESS':
      return 'delivered'
    case 'ACCEPTED':
    case 'SENT':
      return 'sent'
    case 'ERROR':
    case 'DECLINED':
      return 'failed'
    default:
      return 'waiting'
  }
}

/** Start times of a window's steps, oldest first. The last step contains `now`. */
export function stepsOf(window: Window, now: number): number[] {
  const { span, step } = WINDOWS[window]
  const last = Math.floor(now / step) * step
  return Array.from({ length: span / step }, (_, i) => last - (span / step - 1 - i) * step)
}

/** A number of messages with equal properties. */
interface MessageCount {
  at: number
  isOutbound: boolean
  status: Status
  service: Service
  n: number
}

export interface SendStep {
  at: number
  outcomes: Record<Outcome, number>
  services: Record<Service, number>
  received: number
}

/** Sends by outcome and by service, and inbound messages, in each step. */
export function countSends(steps: readonly number[], counted: Iterable<MessageCount>): SendStep[] {
  const filled = steps.map((at) => ({
    at,
    outcomes: { delivered: 0, sent: 0, waiting: 0, failed: 0 },
    services: { iMessage: 0, RCS: 0, WhatsApp: 0, SMS: 0 },
    received: 0,
  }))
  for (const { at, isOutbound, status, service, n } of counted) {
    const step = filled[stepAt(steps, at)]
    if (!step) continue
    if (!isOutbound) step.received += n
    else {
      step.outcomes[outcomeOf(status)] += n
      step.services[service] += n
    }
  }
  return filled
}

/** Index of the step that contains a time; -1 before the first step. */
export function stepAt(steps: readonly number[], at: number): number {
  const width = (steps[1] ?? 1) - steps[0]!
  const index = Math.floor((at - steps[0]!) / width)
  return index < 0 ? -1 : Math.min(index, steps.length - 1)
}

/** The smallest value that at least this fraction of the values does not exceed; null without values. */
export function percentile(values: readonly number[], part: number): number | null {
  if (values.length === 0) return null
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)]!
}
