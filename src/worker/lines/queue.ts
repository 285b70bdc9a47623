import { conversationOf } from '../../core/messages/message.js'
import type { QueueEntry } from '../../storage/messages/queue.js'

/**
 * A line's waiting messages, in memory: which may go next. Each conversation gives only its oldest message, and
 * the next one when that is done. It is a window over the table, which stays the truth.
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
  /** The newest that the window had no place for and left in the table; 0 when it holds all. */
  leftUntil: number
}

/** Entries one conversation may hold in the window: a stuck one must not crowd out the others. */
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
    /** Where to read on in the table. */
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
        // What was left in the table is older than what comes new: it goes first, when it is read again.
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

    /** Whether somebody may go now. */
    hasReady(now: number): boolean {
      for (const entry of delayed) {
        if (entry.dueAt > now) continue
        delayed.delete(entry)
        ready.push(entry)
      }
      return readyFrom < ready.length
    },

    /** Takes up to `limit` of those that may go now; they come back through `finish`. */
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

    /** Done with an entry: for good, or until a later time. Answers whether its conversation must be read again. */
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

    /** Something happened to this message: look at it now instead of later. */
    hurry(id: number, now: number): boolean {
      const entry = known.get(id)
      if (!entry || !delayed.delete(entry)) return false
      entry.dueAt = now
      ready.push(entry)
      return true
    },

    /** A whole conversation that had to wait may go on. */
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
