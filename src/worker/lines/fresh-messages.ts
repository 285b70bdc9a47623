import { createBoundedMap } from '../../base/bounded-map.js'
import type { Message, NewMessage } from '../../core/messages/message.js'
import type { Entry } from './queue.js'

/**
 * Messages as this very process is accepting them: when they appear in the table they need not be read back.
 * Whoever uses one that has changed since is stopped when its attempt is written.
 */
export interface FreshMessages {
  add(message: NewMessage): void
  /** Each is handed out once. */
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
