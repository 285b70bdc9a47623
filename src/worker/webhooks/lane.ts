import { createAgain } from '../../base/again.js'
import type { Ctx } from '../../services/ctx.js'
import type { Deliverer, Posted } from '../../services/webhooks/delivery.js'
import {
  asStored,
  type Delivery,
  findDeliveries,
  listLaneQueue,
  listSubjectQueue,
  type QueuedDelivery,
} from '../../storage/webhooks/deliveries.js'
import { createLineQueue, type Entry } from '../lines/queue.js'
import type { FreshDeliveries } from './fresh-deliveries.js'

/**
 * One receiver's deliveries: in the order of the events, and of what is about the same thing only one at a time.
 * As with lines, the queue is a window over the table, which stays the truth.
 */
export interface Lane {
  accountId: string
  /** There is something new in the table. */
  wake(): void
  /** Something that was done is to be done again: the window is read from the start. */
  reread(): void
  /** Posts that are not both answered and written down. */
  unfinished(): number
  stop(): void
  /** The same, and what is under way has no consequences: its world is no more. */
  abandon(): void
}

/** Posts that may be under way at once, over all lanes. */
export interface Slots {
  /** False when there is none; then `onFree` is called as soon as there is. */
  take(onFree: () => void, isTroubled: boolean): boolean
  give(isTroubled: boolean): void
}

/** A receiver that answers gets more at once; one that does not is tried by a few only. */
const WIDTH = { start: 4, troubled: 2, most: 32 }
/** A receiver that fails again and again is given time: it would only cost others theirs. */
const PAUSE = { each: 25, most: 250 }
/** Answers that may wait for the disk. */
const MOST_LEFT = 256
const READ_AT_ONCE = 500
const WINDOW = 2000

export function createLane(
  ctx: Ctx,
  key: string,
  accountId: string,
  deliverer: Deliverer,
  slots: Slots,
  fresh: Pick<FreshDeliveries, 'take'>,
  onIdle: () => void,
): Lane {
  const queue = createLineQueue()
  let width = WIDTH.start
  /** On the wire. */
  let inFlight = 0
  /** On the wire, or answered and not written down yet. */
  let left = 0
  let failures = 0
  let pausedUntil = 0
  let unread = true
  /** Also what is behind the cursor. */
  let fromStart = false
  /** Subjects the window had no place for all of; the rest is still to be read. */
  const crowded = new Set<string>()
  let abandoned = false
  const dispatch = createAgain(
    ctx.clock,
    () =>
      ctx.errand(async () => {
        const next = await step()
        if (isIdle()) onIdle()
        return next
      }),
    (error) => {
      ctx.log.error({ err: error }, 'a webhook lane stumbled and goes on in a second')
      return 1000
    },
  )
  const wake = dispatch.ask

  /** Returns when the next delivery may go. */
  async function step(): Promise<number | undefined> {
    if (fromStart || (unread && queue.size() < WINDOW)) await read()
    for (const subject of crowded) {
      add(await listSubjectQueue(ctx.db, key, subject, READ_AT_ONCE))
      crowded.delete(subject)
    }
    const now = ctx.clock.now()
    if (now < pausedUntil) return pausedUntil
    // Several at a time: reading them one by one would cost more than posting them.
    if (inFlight > width * (3 / 4)) return undefined
    const entries: Entry[] = []
    const troubled = width <= WIDTH.troubled
    while (left + entries.length < MOST_LEFT && queue.hasReady(now) && inFlight < width) {
      if (!slots.take(wake, troubled)) break
      entries.push(...queue.take(1))
      inFlight++
    }
    if (entries.length > 0) await start(entries, troubled)
    return entries.length > 0 || queue.hasReady(now) ? undefined : queue.nextDue()
  }

  async function read() {
    const after = fromStart ? 0 : queue.cursor()
    // Before reading: what comes meanwhile is read next.
    unread = fromStart = false
    try {
      const rows = await listLaneQueue(ctx.db, key, after, READ_AT_ONCE)
      add(rows)
      if (rows.length < READ_AT_ONCE) return
      unread = true
      if (queue.size() < WINDOW) wake()
    } catch (error) {
      unread = true
      fromStart ||= after === 0
      throw error
    }
  }

  function add(rows: readonly QueuedDelivery[]) {
    const now = ctx.clock.now()
    queue.add(
      rows.map(({ id, eventSeq, subject, nextAt }) => ({
        id,
        handle: String(eventSeq),
        contact: subject,
        groupId: null,
        nextActionAt: nextAt,
      })),
      now,
    )
  }

  async function start(entries: readonly Entry[], troubled: boolean) {
    const deliveries = new Map<number, Delivery>()
    for (const { id, handle } of entries) {
      const delivery = fresh.take(key, handle)
      if (delivery) deliveries.set(id, asStored(id, delivery))
    }
    try {
      const others = entries.flatMap(({ id }) => (deliveries.has(id) ? [] : id))
      for (const [id, delivery] of await findDeliveries(ctx.db, others)) deliveries.set(id, delivery)
    } catch (error) {
      queue.putBack(entries)
      for (const _ of entries) release(troubled)
      throw error
    }
    wake()
    left += entries.length
    for (const entry of entries) {
      const delivery = deliveries.get(entry.id)
      // Called off meanwhile.
      if (!delivery || delivery.nextAt === null) {
        release(troubled)
        finish(entry, null)
      } else void ctx.errand(() => run(entry, delivery, troubled))
    }
  }

  async function run(entry: Entry, delivery: Delivery, troubled: boolean) {
    let posted: Posted | undefined
    try {
      posted = await deliverer.post(delivery, () => !abandoned)
      if (posted) adapt(posted.wentWell)
    } catch (error) {
      ctx.log.warn({ err: error }, 'a delivery could not be posted and is tried again')
    }
    release(troubled)
    if (abandoned) return finish(entry, null)
    wake()
    try {
      // What is about the same thing waits for this: otherwise a crash could post the older after the newer one.
      finish(entry, posted ? await posted.record() : ctx.clock.now() + 1000)
    } catch (error) {
      // Nothing was written down: it is as if it had not been posted, and the receiver knows it by its id.
      ctx.log.warn({ err: error }, 'a delivery could not be written down and is repeated')
      finish(entry, ctx.clock.now() + 1000)
    }
  }

  function adapt(wentWell: boolean) {
    failures = wentWell ? 0 : failures + 1
    width = wentWell ? Math.min(WIDTH.most, width + 1) : WIDTH.troubled
    pausedUntil = wentWell ? 0 : ctx.clock.now() + Math.min(PAUSE.most, PAUSE.each * failures)
  }

  function finish(entry: Entry, nextAt: number | null) {
    left--
    if (queue.finish(entry, nextAt, ctx.clock.now())) crowded.add(entry.conversation)
    wake()
  }

  function release(troubled: boolean) {
    inFlight--
    slots.give(troubled)
  }

  const isIdle = () =>
    !(dispatch.isAsked() || unread || fromStart) && crowded.size === 0 && left === 0 && queue.size() === 0

  return {
    accountId,
    wake() {
      unread = true
      wake()
    },
    reread() {
      fromStart = true
      wake()
    },
    unfinished: () => left,
    stop: () => void dispatch.stop(),
    abandon() {
      void dispatch.stop()
      abandoned = true
    },
  }
}

/** At most so many posts at once; receivers in trouble, which hold theirs long, can take only half of them. */
export function createSlots(total: number): Slots {
  const waiting = new Set<() => void>()
  let used = 0
  let usedByTroubled = 0
  return {
    take(onFree, isTroubled) {
      if (used >= total || (isTroubled && usedByTroubled >= total / 2)) {
        waiting.add(onFree)
        return false
      }
      used++
      if (isTroubled) usedByTroubled++
      return true
    },
    give(isTroubled) {
      used--
      if (isTroubled) usedByTroubled--
      for (const onFree of waiting) {
        waiting.delete(onFree)
        onFree()
        if (used >= total) break
      }
    },
  }
}
