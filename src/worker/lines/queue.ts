import { conversationOf } from '../../core/messages/message.js'
import type { QueueEntry } from '../../storage/messages/queue.js'

/**
 * A line's waiting messages in memory, to choose the next ones. A conversation offers only its oldest message, and the
 * next one when that is done. The queue is a window over the table; the table is authoritative.
 */
export interface Entry {
  id: number
  handle: string
  conversation: string
  contact: string
  dueAt: number
}

interface Conversation {
  entries: Entry[]
  /** Id of the newest message that stayed in the table because the window was full; 0 if the window has all. */
  leftUntil: number
}

/** Maximum number of entries of one conversation: a stuck conversation must not fill the window. */
const PER_CONVERSATION = 500
const WINDOW = 20_000

export function createLineQueue() {
  const conversations = new Map<string, Conversation>()
  const known = new Map<number, Entry>()
  const ready: Entry[] = []
  let readyFrom = 0
  const delayed = new Set<Entry>()
  let cursor = 0

  function offer(entry: Entry, now: number) {
    if (entry.dueAt <= now) ready.push(entry)
    else delayed.add(entry)
  }

  return {
    /** Where to continue reading the table. */
    cursor: () => cursor,
    isFull: () => known.size >= WINDOW,
    size: () => known.size,

    add(rows: readonly QueueEntry[], now: number) {
      const readUntil = cursor
      for (const row of rows) {
        cursor = Math.max(cursor, row.id)
        if (known.has(row.id)) continue
        const name = conversationOf(row)
        const conversation: Conversation = conversations.get(name) ?? { entries: [], leftUntil: 0 }
        if (conversation.entries.length === 0) conversations.set(name, conversation)
        // Messages left in the table are older than new ones and go first, when they are read again.
        const overtakes = conversation.leftUntil > 0 && row.id > readUntil
        if (overtakes || conversation.entries.length >= PER_CONVERSATION) {
          conversation.leftUntil = Math.max(conversation.leftUntil, row.id)
          continue
        }
        if (row.id >= conversation.leftUntil) conversation.leftUntil = 0
        const entry = {
          id: row.id,
          handle: row.handle,
          conversation: name,
          contact: row.contact,
          dueAt: row.nextActionAt,
        }
        known.set(row.id, entry)
        conversation.entries.push(entry)
        if (conversation.entries.length === 1) offer(entry, now)
      }
    },

    /** Whether an entry may go now. */
    hasReady(now: number): boolean {
      for (const entry of delayed) {
        if (entry.dueAt > now) continue
        delayed.delete(entry)
        ready.push(entry)
      }
      return readyFrom < ready.length
    },

    /** Takes up to `limit` entries that may go now; `finish` returns them. */
    take(limit: number): Entry[] {
      const taken = ready.slice(readyFrom, readyFrom + limit)
      readyFrom += taken.length
      if (readyFrom === ready.length || readyFrom > 1024) {
        ready.splice(0, readyFrom)
        readyFrom = 0
      }
      return taken
    },

    putBack(entries: readonly Entry[]) {
      ready.splice(readyFrom, 0, ...entries)
    },

    /** Finishes an entry, for good or until a later time. Returns whether its conversation must be read again. */
    finish(entry: Entry, nextActionAt: number | null, now: number): boolean {
      if (nextActionAt !== null) {
        entry.dueAt = nextActionAt
        offer(entry, now)
        return false
      }
      known.delete(entry.id)
      const conversation = conversations.get(entry.conversation)!
      conversation.entries.shift()
      if (conversation.entries.length > 0) {
        offer(conversation.entries[0]!, now)
        return false
      }
      if (conversation.leftUntil > 0) return true
      conversations.delete(entry.conversation)
      return false
    },

    /** Makes a waiting message due now. */
    hurry(id: number, now: number): boolean {
      const entry = known.get(id)
      if (!entry || !delayed.delete(entry)) return false
      entry.dueAt = now
      ready.push(entry)
      return true
    },

    /** Makes a held conversation due now. */
    hurryAll(conversation: string, now: number) {
      const entries = conversations.get(conversation)?.entries ?? []
      const [first] = entries
      for (const entry of entries) entry.dueAt = Math.min(entry.dueAt, now)
      if (first && delayed.delete(first)) ready.push(first)
    },

    nextDue(): number | undefined {
      let next: number | undefined
      for (const entry of delayed) if (next === undefined || entry.dueAt < next) next = entry.dueAt
      return next
    },
  }
}
