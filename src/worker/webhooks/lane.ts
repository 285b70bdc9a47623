import { createAgain } from '../../base/again.js'
import type { Ctx } from '../../services/ctx.js'
import type { Deliverer, ReceiverAnswer } from '../../services/webhooks/delivery.js'
import {
  type Delivery,
  findDeliveries,
  listLaneQueue,
  listSubjectQueue,
  type QueuedDelivery,
} from '../../storage/webhooks/deliveries.js'
import { createLineQueue, type Entry } from '../lines/queue.js'

/**
 * One receiver's deliveries, in the order of the events; of each subject only one at a time. As with lines, the queue
 * is a window over the table; the table is authoritative.
 */
export interface Lane {
  accountId: string
  /** Called when the table has new deliveries. */
  wake(): void
  /** Reads the window from the start, because finished deliveries were reopened. */
  reread(): void
  /** Number of attempts whose result is not stored yet. */
  unfinished(): number
  stop(): void
  /** Like `stop`, and drops the results of current attempts: the world was reset. */
  abandon(): void
}

/** Concurrent attempts, over all lanes. */
interface Slots {
  /** False if no slot is free; then `onFree` is called as soon as one is. */
  take(onFree: () => void, isTroubled: boolean): boolean
  give(isTroubled: boolean): void
}

/** Concurrent attempts for one receiver: more while it answers, a few while it fails. */
const WIDTH = { start: 4, troubled: 2, most: 32 }
/** Milliseconds of pause for each failure of a receiver, so that it does not take time from others. */
const PAUSE = { each: 25, most: 250 }
/** Maximum number of results that wait to be stored. */
const MOST_LEFT = 256
const READ_AT_ONCE = 500
const WINDOW = 2000

export function createLane(
  ctx: Ctx,
  key: string,
  accountId: string,
  deliverer: Deliverer,
  slots: Slots,
  onIdle: () => void,
): Lane {
  const queue = createLineQueue()
  let width = WIDTH.start
  /** Attempts on the wire. */
  let inFlight = 0
  /** Attempts on the wire, or answered and not stored yet. */
  let left = 0
  let failures = 0
  let pausedUntil = 0
  let unread = true
  /** Read the table from its start, not from the cursor. */
  let fromStart = false
  /** Subjects with more deliveries than the window had room for; the rest is still in the table. */
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
      ctx.log.error({ err: error }, 'a webhook lane failed; trying again in a second')
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
    // Waits for several free places: reading deliveries one by one would cost more than posting them.
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
    // Before the read, so that deliveries that arrive during it are read next.
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
    let deliveries: Map<number, Delivery>
    try {
      deliveries = await findDeliveries(
        ctx.db,
        entries.map(({ id }) => id),
      )
    } catch (error) {
      queue.putBack(entries)
      for (const _ of entries) release(troubled)
      throw error
    }
    wake()
    left += entries.length
    for (const entry of entries) {
      const delivery = deliveries.get(entry.id)
      // Canceled in the meantime.
      if (!delivery || delivery.nextAt === null) {
        release(troubled)
        finish(entry, null)
      } else void ctx.errand(() => run(entry, delivery, troubled))
    }
  }

  async function run(entry: Entry, delivery: Delivery, troubled: boolean) {
    let posted: ReceiverAnswer | undefined
    try {
      posted = await deliverer.post(delivery, () => !abandoned)
      if (posted) adapt(posted.wentWell)
    } catch (error) {
      ctx.log.warn({ err: error }, 'a delivery could not be posted; trying again')
    }
    release(troubled)
    if (abandoned) return finish(entry, null)
    wake()
    try {
      // The subject's next delivery waits for this write: a crash could otherwise post the older one after the newer.
      finish(entry, posted ? await posted.record() : ctx.clock.now() + 1000)
    } catch (error) {
      // No result is stored, so the delivery is posted again; the receiver recognises it by its id.
      ctx.log.warn({ err: error }, 'the result of a delivery could not be stored; the delivery is repeated')
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

/** Limits concurrent attempts. Failing receivers, which hold a slot for long, can take only half of the slots. */
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
