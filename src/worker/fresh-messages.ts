import type { Message } from '../core/message.js'
import type { NewMessage } from '../storage/messages.js'
import type { Entry } from './line-queue.js'

/**
 * Messages as they were accepted a moment ago by this very process: they need not be read back. Whoever uses one
 * that has changed since is stopped when its attempt is written.
 */
export interface FreshMessages {
  add(messages: readonly NewMessage[]): void
  /** Each is handed out once. */
  take(entries: Iterable<Entry>): Map<number, Message>
}

const KEPT = 2000

export function createFreshMessages(): FreshMessages {
  const byHandle = new Map<string, NewMessage>()
  return {
    add(messages) {
      for (const message of messages)
        if (message.nextActionAt !== null && message.dueAt === null) byHandle.set(message.handle, message)
      if (byHandle.size > KEPT)
        for (const handle of byHandle.keys()) {
          byHandle.delete(handle)
          if (byHandle.size <= KEPT) break
        }
    },
    take(entries) {
      const taken = new Map<number, Message>()
      for (const { id, handle } of entries) {
        const message = byHandle.get(handle)
        if (!message) continue
        byHandle.delete(handle)
        taken.set(id, { ...message, id })
      }
      return taken
    },
  }
}
