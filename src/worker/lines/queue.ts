import { createRota } from '../../base/rota.js'
import { conversationOf } from '../../core/messages/message.js'
import type { QueueEntry } from '../../storage/messages/queue.js'

/**
 * A line's waiting messages in memory, to choose the next ones. A conversation offers only its oldest message, and the
 * next one when that is done. Accounts that share the line take turns, each with conversations of its own. The queue
 * is a window over the table; the table is authoritative.
 */
export interface Entry {
  id: number
  handle: string
  accountId: string
  conversation: string
  contact: string
  dueAt: number
}

interface Conversation {
  entries: Entry[]
  /** Id of the newest message that stayed in the table because the window was full; 0 if the window has all. */
  leftUntil: number
}

interface Owner {
  size: number
  conversations: Map<string, Conversation>
  /** Ids of the first and the newest message that stayed in the table because the account's share was full, or 0. */
  leftFrom: number
  leftUntil: number
  isReading: boolean
}

/** Messages that stayed in the table, and for which there is room now. Without a conversation: the account's. */
export interface Gap {
  accountId: string
  conversation: string | null
  from: number
  /** Newest message that stayed when the gap was found. */
  until: number
  limit: number
}

/** Maximum number of entries of one conversation: a stuck conversation must not fill the window. */
const PER_CONVERSATION = 500
const WINDOW = 20_000
/** Entries of one account in the window of a shared line, which has room for every account. */
export const SHARED_WINDOW = 2000
const GAP_AT_ONCE = 1000

export function createLineQueue({ isShared = false } = {}) {
  const perAccount = isShared ? SHARED_WINDOW : Number.POSITIVE_INFINITY
  const owners = new Map<string, Owner>()
  const known = new Map<number, Entry>()
  const ready = createRota<Entry>()
  let returned: Entry[] = []
  const delayed = new Set<Entry>()
  let cursor = 0

  const makeReady = (entry: Entry) => ready.add(entry.accountId, entry)

  function offer(entry: Entry, now: number) {
    if (entry.dueAt <= now) makeReady(entry)
    else delayed.add(entry)
  }

  function ownerOf(accountId: string): Owner {
    const found = owners.get(accountId)
    if (found) return found
    const owner = { size: 0, conversations: new Map(), leftFrom: 0, leftUntil: 0, isReading: false }
    owners.set(accountId, owner)
    return owner
  }

  function conversationIn({ conversations }: Owner, name: string): Conversation {
    const found = conversations.get(name)
    if (found) return found
    const conversation = { entries: [], leftUntil: 0 }
    conversations.set(name, conversation)
    return conversation
  }

  /** Adds a row, or leaves it in the table if older ones stayed there or the window has no room for it. */
  function place(row: QueueEntry, gap: Gap | undefined, now: number) {
    if (known.has(row.id)) return
    const owner = ownerOf(row.accountId)
    const isOfConversation = gap !== undefined && gap.conversation !== null
    if (!isOfConversation && (owner.size >= perAccount || (!gap && owner.leftFrom > 0))) {
      owner.leftFrom = Math.min(owner.leftFrom || row.id, row.id)
      owner.leftUntil = Math.max(owner.leftUntil, row.id)
      return
    }
    const name = conversationOf(row)
    const conversation = conversationIn(owner, name)
    const { entries } = conversation
    if (entries.length >= PER_CONVERSATION || (!isOfConversation && conversation.leftUntil > 0)) {
      conversation.leftUntil = Math.max(conversation.leftUntil, row.id)
      return
    }
    const { id, handle, accountId, contact, nextActionAt: dueAt } = row
    const entry = { id, handle, accountId, conversation: name, contact, dueAt }
    known.set(id, entry)
    owner.size++
    entries.push(entry)
    if (entries.length === 1) offer(entry, now)
  }

  /** The account's gap once half of its share is free. */
  function gapOf(accountId: string, owner: Owner): Gap | undefined {
    if (owner.leftFrom === 0 || owner.isReading || owner.size > perAccount / 2) return undefined
    owner.isReading = true
    const { leftFrom: from, leftUntil: until } = owner
    return { accountId, conversation: null, from, until, limit: GAP_AT_ONCE }
  }

  function forgetIfEmpty(accountId: string, owner: Owner) {
    if (owner.conversations.size === 0 && owner.leftFrom === 0) owners.delete(accountId)
  }

  return {
    /** Where to continue reading the table. */
    cursor: () => cursor,
    isFull: () => !isShared && known.size >= WINDOW,
    size: () => known.size,

    add(rows: readonly QueueEntry[], now: number) {
      for (const row of rows) {
        cursor = Math.max(cursor, row.id)
        place(row, undefined, now)
      }
    },

    /** Adds the rows of a gap, in their order. Returns the next gap, if more of them are left. */
    fill(gap: Gap, rows: readonly QueueEntry[], now: number): Gap | undefined {
      const { accountId, conversation: name } = gap
      const owner = ownerOf(accountId)
      const isAll = rows.length < gap.limit
      if (name === null) {
        const last = rows.at(-1)?.id ?? gap.from - 1
        owner.isReading = false
        owner.leftFrom = isAll && owner.leftUntil === gap.until ? 0 : last + 1
        if (owner.leftFrom === 0) owner.leftUntil = 0
        for (const row of rows) place(row, gap, now)
      } else {
        const conversation = conversationIn(owner, name)
        for (const row of rows) place(row, gap, now)
        const { entries, leftUntil } = conversation
        const isWhole = isAll && entries.length < PER_CONVERSATION && leftUntil === gap.until
        if (isWhole) conversation.leftUntil = 0
        if (entries.length === 0 && isWhole) owner.conversations.delete(name)
        else if (entries.length === 0) return { ...gap, until: leftUntil }
      }
      forgetIfEmpty(accountId, owner)
      return gapOf(accountId, owner)
    },

    /** Whether an entry may go now. */
    hasReady(now: number): boolean {
      for (const entry of delayed) {
        if (entry.dueAt > now) continue
        delayed.delete(entry)
        makeReady(entry)
      }
      return returned.length + ready.size() > 0
    },

    /** Takes up to `limit` entries that may go now, of the accounts in turn; `finish` returns them. */
    take(limit: number): Entry[] {
      const taken = returned.slice(0, limit)
      if (returned.length > 0) returned = returned.slice(taken.length)
      while (taken.length < limit) {
        const entry = ready.take()
        if (!entry) break
        taken.push(entry)
      }
      return taken
    },

    putBack(entries: readonly Entry[]) {
      returned = [...entries, ...returned]
    },

    /** Finishes an entry, for good or until a later time. Returns the gap that must be read now. */
    finish(entry: Entry, nextActionAt: number | null, now: number): Gap | undefined {
      if (nextActionAt !== null) {
        entry.dueAt = nextActionAt
        offer(entry, now)
        return undefined
      }
      known.delete(entry.id)
      const { accountId, conversation: name } = entry
      const owner = owners.get(accountId)!
      const conversation = owner.conversations.get(name)!
      owner.size--
      conversation.entries.shift()
      if (conversation.entries.length > 0) offer(conversation.entries[0]!, now)
      else if (conversation.leftUntil > 0) {
        const limit = Math.max(1, Math.min(GAP_AT_ONCE, perAccount - owner.size))
        return { accountId, conversation: name, from: 0, until: conversation.leftUntil, limit }
      } else owner.conversations.delete(name)
      forgetIfEmpty(accountId, owner)
      return gapOf(accountId, owner)
    },

    /** Makes a waiting message due now. */
    hurry(id: number, now: number): boolean {
      const entry = known.get(id)
      if (!entry || !delayed.delete(entry)) return false
      entry.dueAt = now
      makeReady(entry)
      return true
    },

    /** Makes a held conversation due now. */
    hurryAll(conversation: string, now: number) {
      for (const { conversations } of owners.values()) {
        const entries = conversations.get(conversation)?.entries ?? []
        const [first] = entries
        for (const entry of entries) entry.dueAt = Math.min(entry.dueAt, now)
        if (first && delayed.delete(first)) makeReady(first)
      }
    },

    nextDue(): number | undefined {
      let next: number | undefined
      for (const entry of delayed) if (next === undefined || entry.dueAt < next) next = entry.dueAt
      return next
    },
  }
}
