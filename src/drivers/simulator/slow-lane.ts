import type { PhoneMessage } from '../../core/sim/phone.js'

/**
 * A line needs a while to store a message with media. It and what the same phone sends after it go by themselves,
 * in their order, and everybody else passes.
 */
export function createSlowLane(
  handOver: (message: PhoneMessage) => Promise<void>,
  done: (message: PhoneMessage) => Promise<void>,
  failed: (error: unknown) => void,
) {
  const underWay = new Set<number>()
  const phones = new Map<string, number>()

  async function carry(message: PhoneMessage) {
    underWay.add(message.id)
    phones.set(message.phone, (phones.get(message.phone) ?? 0) + 1)
    try {
      await handOver(message)
      await done(message)
    } finally {
      underWay.delete(message.id)
      const left = phones.get(message.phone)! - 1
      if (left > 0) phones.set(message.phone, left)
      else phones.delete(message.phone)
    }
  }

  return {
    /** Whether this message goes here: it is then on its way, or was before. */
    takes(message: PhoneMessage): boolean {
      if (underWay.has(message.id)) return true
      if (!message.fromPhone || (message.mediaUrl === '' && !phones.has(message.phone))) return false
      carry(message).catch(failed)
      return true
    },
    isEmpty: () => underWay.size === 0,
  }
}
