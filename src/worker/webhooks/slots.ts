import { createFifo, type Fifo } from '../../base/rota.js'

/** The right to one attempt. */
export interface Slot {
  end(): void
}

/** Limits of concurrent attempts over all lanes of this process. */
export interface Slots {
  /**
   * Returns a slot, or undefined if none is free: then `granted` gets one when it is the account's turn. A trusted
   * receiver has answered its last attempt.
   */
  take(accountId: string, isTrusted: boolean, granted: (slot: Slot) => void): Slot | undefined
}

export interface SlotLimits {
  /** Attempts that are younger than `quickMs`. */
  quick: number
  quickMs: number
  /** All attempts, so that the process does not run out of sockets. */
  total: number
  /** Attempts of one account. */
  account: number
  /** Of these, attempts to receivers that are new or did not answer the last attempt. */
  untrusted: number
}

/**
 * Attempts without an answer after a second leave the quick slots, so a silent receiver delays the accounts that
 * wait for a slot by a second at most. The limits of one account leave room for 31 silent neighbours at their limit.
 */
export const SLOT_LIMITS: SlotLimits = {
  quick: 256,
  quickMs: 1000,
  total: 2048,
  account: 64,
  untrusted: 8,
}

interface Holder {
  id: string
  used: number
  untrusted: number
  waiting: Record<'trusted' | 'untrusted', Fifo<(slot: Slot) => void>>
  /** Whether it is in the round of accounts that get a free slot in turn. */
  isInRound: boolean
}

/** Accounts that wait for a slot get one in turn, each for its lanes in the order in which they asked. */
export function createSlots(limits: SlotLimits = SLOT_LIMITS): Slots {
  const holders = new Map<string, Holder>()
  const round = createFifo<Holder>()
  /** Oldest first. Slots that ended may still be among them. */
  const young = createFifo<{ at: number; isQuick: boolean }>()
  let quick = 0
  let total = 0
  let timer: NodeJS.Timeout | undefined

  function holderOf(id: string): Holder {
    const known = holders.get(id)
    if (known) return known
    const waiting = {
      trusted: createFifo<(slot: Slot) => void>(),
      untrusted: createFifo<(slot: Slot) => void>(),
    }
    const holder: Holder = { id, used: 0, untrusted: 0, waiting, isInRound: false }
    holders.set(id, holder)
    return holder
  }

  const hasRoom = () => quick < limits.quick && total < limits.total
  const mayStart = (holder: Holder, isTrusted: boolean) =>
    holder.used < limits.account && (isTrusted || holder.untrusted < limits.untrusted)
  const waits = ({ waiting }: Holder) => waiting.trusted.size() + waiting.untrusted.size() > 0

  function start(holder: Holder, isTrusted: boolean): Slot {
    const held = { at: performance.now(), isQuick: true }
    young.push(held)
    quick++
    total++
    holder.used++
    if (!isTrusted) holder.untrusted++
    return {
      end() {
        if (held.isQuick) quick--
        held.isQuick = false
        total--
        holder.used--
        if (!isTrusted) holder.untrusted--
        if (waits(holder)) enterRound(holder)
        else if (holder.used === 0) holders.delete(holder.id)
        grant()
      },
    }
  }

  /** Moves attempts that are no longer young out of the quick slots. */
  function age() {
    const before = performance.now() - limits.quickMs
    for (let held = young.peek(); held && (!held.isQuick || held.at <= before); held = young.peek()) {
      young.shift()
      if (held.isQuick) quick--
      held.isQuick = false
    }
  }

  function enterRound(holder: Holder) {
    if (holder.isInRound) return
    holder.isInRound = true
    round.push(holder)
  }

  /** Gives free slots to the accounts in turn. An account at its limits enters the round again when a slot of it ends. */
  function grant() {
    age()
    while (hasRoom()) {
      const holder = round.shift()
      if (!holder) return
      holder.isInRound = false
      const { trusted, untrusted } = holder.waiting
      const isTrusted = trusted.size() > 0
      const granted = mayStart(holder, isTrusted) ? (isTrusted ? trusted : untrusted).shift() : undefined
      if (!granted) continue
      const slot = start(holder, isTrusted)
      if (waits(holder)) enterRound(holder)
      granted(slot)
    }
    const oldest = young.peek()
    if (round.size() === 0 || timer || !oldest) return
    timer = setTimeout(
      () => {
        timer = undefined
        grant()
      },
      Math.max(1, oldest.at + limits.quickMs - performance.now()),
    ).unref()
  }

  return {
    take(accountId, isTrusted, granted) {
      const holder = holderOf(accountId)
      grant()
      if (hasRoom() && mayStart(holder, isTrusted)) return start(holder, isTrusted)
      holder.waiting[isTrusted ? 'trusted' : 'untrusted'].push(granted)
      if (mayStart(holder, isTrusted)) {
        enterRound(holder)
        grant()
      }
      return undefined
    },
  }
}
