import type { PhoneMessage } from '../../core/sim/phone.js'

/**
 * Delivers messages with media, and later messages of the same phone in order, without holding up other phones: a
 * line takes a while to store media.
 */
export function createSlowLane(
  deliver: (message: PhoneMessage) => Promise<void>,
  done: (message: PhoneMessage) => Promise<void>,
  failed: (error: unknown) => void,
) {
  const delivering = new Set<number>()
  const phones = new Map<string, number>()

  async function run(message: PhoneMessage) {
    delivering.add(message.id)
    phones.set(message.phone, (phones.get(message.phone) ?? 0) + 1)
    try {
      await deliver(message)
      await done(message)
    } finally {
      delivering.delete(message.id)
      const left = phones.get(message.phone)! - 1
      if (left > 0) phones.set(message.phone, left)
      else phones.delete(message.phone)
    }
  }

  return {
    /** Whether the message belongs here. If so, its delivery has started. */
    takes(message: PhoneMessage): boolean {
      if (delivering.has(message.id)) return true
      if (!message.fromPhone || (message.mediaUrl === '' && !phones.has(message.phone))) return false
      run(message).catch(failed)
      return true
    },
    isEmpty: () => delivering.size === 0,
  }
}
