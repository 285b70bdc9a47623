import { outcomeOf } from '../insight/overview.js'
import type { Message } from '../messages/message.js'

/** Messages of an account in a day, by their present status. */
export interface UsageNumbers {
  /** Outbound messages, whatever became of them. */
  accepted: number
  delivered: number
  failed: number
  received: number
}

export const USAGE_NAMES = ['accepted', 'delivered', 'failed', 'received'] as const

export const NO_USAGE: UsageNumbers = { accepted: 0, delivered: 0, failed: 0, received: 0 }

/** The share of one message in the usage of its day. */
export function usageOf({ isOutbound, status }: Pick<Message, 'isOutbound' | 'status'>): UsageNumbers {
  if (!isOutbound) return { ...NO_USAGE, received: 1 }
  const outcome = outcomeOf(status)
  return {
    accepted: 1,
    delivered: outcome === 'delivered' ? 1 : 0,
    failed: outcome === 'failed' ? 1 : 0,
    received: 0,
  }
}

export function addUsage(a: UsageNumbers, b: UsageNumbers, times = 1): UsageNumbers {
  const sum = { ...NO_USAGE }
  for (const name of USAGE_NAMES) sum[name] = a[name] + times * b[name]
  return sum
}
