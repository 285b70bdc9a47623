import { createBoundedMap } from '../../base/bounded-map.js'
import type { Message, NewMessage } from '../../core/messages/message.js'
import type { Entry } from './queue.js'

/**
 * Messages that this process has just accepted, so that they need not be read from the table. If a message has changed
 * since, writing its attempt fails.
 */
interface FreshMessages {
  add(message: NewMessage): void
  /** Returns each message once. */
  take(entries: Iterable<Entry>): Map<number, Message>
}

const KEPT = 2000

export function createFreshMessages(): FreshMessages {
  const byHandle = createBoundedMap<string, NewMessage>(KEPT)
  return {
    add(message) {
      if (message.nextActionAt !== null && message.dueAt === null) byHandle.set(message.handle, message)
    },
    take(entries) {
      const taken = new Map<number, Message>()
      for (const { id, handle } of entries) {
        const message = byHandle.take(handle)
        if (message) taken.set(id, { ...message, id })
      }
      return taken
    },
  }
}
