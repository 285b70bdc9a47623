import type { Ctx } from '../../services/ctx.js'
import type { Deliverer, ReceiverAnswer } from '../../services/webhooks/delivery.js'
import type { QueueEntry } from '../../storage/messages/queue.js'
import {
  correctDeliveryWaits,
  type Delivery,
  findDeliveries,
  listLaneQueue,
  listSubjectQueue,
  type QueuedDelivery,
} from '../../storage/webhooks/deliveries.js'
import { createLineQueue, type Entry, type Gap } from '../lines/queue.js'
import type { Slot, Slots } from './slots.js'

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

/** Concurrent attempts for one receiver: one more with each answer, one while it is new or fails. */
const WIDTH = { least: 1, most: 32 }
/** Milliseconds of pause for each failure of a receiver, so that it does not take time from others. */
const PAUSE = { each: 25, most: 250 }
/** Milliseconds until a result is stored again that the database did not take. */
const STORE_AGAIN = { first: 1000, most: 4000 }
/** Maximum number of results that wait to be stored. */
const MOST_LEFT = 256
const READ_AT_ONCE = 500
const WINDOW = 2000

interface TakenEntry {
  entry: Entry
  slot: Slot
}

export function createLane(
  ctx: Ctx,
  key: string,
  accountId: string,
  deliverer: Deliverer,
  slots: Slots,
  startWidth: number | undefined,
  onIdle: (width: number) => void,
): Lane {
  const queue = createLineQueue()
  let width = startWidth ?? WIDTH.least
  /** Slots that were given to this lane when it was its turn. */
  const granted: Slot[] = []
  let isWaiting = false
  let isStopped = false
  /** Attempts on the wire. */
  let inFlight = 0
  /** Attempts about to start, on the wire, or answered and not stored yet. */
  let left = 0
  /** Answered attempts whose result the database did not take so far. */
  let unstored = 0
  let failures = 0
  let pausedUntil = 0
  let unread = true
  /** Read the table from its start, not from the cursor. */
  let fromStart = false
  /** Subjects with more deliveries than the window had room for; the rest is still in the table. */
  const crowded = new Set<Gap>()
  let abandoned = false
  const dispatch = ctx.loops.create(
    'webhook lane',
    () =>
      ctx.errand(async () => {
        const next = await step()
        if (isIdle()) onIdle(width)
        return next
      }),
    { failed: giveBack },
  )
  const wake = dispatch.ask

  /** Returns when the next delivery may go. */
  async function step(): Promise<number | undefined> {
    if (fromStart || (unread && queue.size() < WINDOW)) await read()
    for (const gap of crowded) {
      const found = await listSubjectQueue(ctx.db, key, gap.conversation!, gap.limit)
      const rows = await correctDeliveryWaits(ctx.db, found, ctx.clock.now())
      const more = queue.fill(gap, entriesOf(rows), ctx.clock.now())
      crowded.delete(gap)
      if (more) crowded.add(more)
    }
    const now = ctx.clock.now()
    const taken = isStopped || now < pausedUntil ? [] : take(now)
    giveBack()
    if (now < pausedUntil) return pausedUntil
    if (taken.length > 0) await start(taken)
    return taken.length > 0 || queue.hasReady(now) ? undefined : queue.nextDue()
  }

  function take(now: number): TakenEntry[] {
    const taken: TakenEntry[] = []
    // The result of a further post could not be stored either, and after a crash it would be posted again.
    if (unstored > 0) return taken
    // Waits for several free places: reading deliveries one by one would cost more than posting them.
    if (granted.length === 0 && inFlight > width * (3 / 4)) return taken
    while (left < MOST_LEFT && queue.hasReady(now) && inFlight < width) {
      const slot = granted.pop() ?? askForSlot()
      if (!slot) break
      taken.push({ entry: queue.take(1)[0]!, slot })
      inFlight++
      left++
    }
    return taken
  }

  function askForSlot(): Slot | undefined {
    if (isWaiting) return undefined
    const slot = slots.take(accountId, width > WIDTH.least, (given) => {
      isWaiting = false
      granted.push(given)
      if (isStopped) queueMicrotask(giveBack)
      else wake()
    })
    isWaiting = slot === undefined
    return slot
  }

  function giveBack() {
    for (const slot of granted.splice(0)) slot.end()
  }

  async function read() {
    const after = fromStart ? 0 : queue.cursor()
    // Before the read, so that deliveries that arrive during it are read next.
    unread = fromStart = false
    try {
      const found = await listLaneQueue(ctx.db, key, after, READ_AT_ONCE)
      const rows = await correctDeliveryWaits(ctx.db, found, ctx.clock.now())
      queue.add(entriesOf(rows), ctx.clock.now())
      if (rows.length < READ_AT_ONCE) return
      unread = true
      if (queue.size() < WINDOW) wake()
    } catch (error) {
      unread = true
      fromStart ||= after === 0
      throw error
    }
  }

  function entriesOf(rows: readonly QueuedDelivery[]): QueueEntry[] {
    return rows.map(({ id, eventSeq, subject, nextAt }) => ({
      id,
      handle: String(eventSeq),
      accountId,
      contact: subject,
      groupId: null,
      nextActionAt: nextAt,
    }))
  }

  async function start(taken: readonly TakenEntry[]) {
    let deliveries: Map<number, Delivery>
    try {
      deliveries = await findDeliveries(
        ctx.db,
        taken.map(({ entry }) => entry.id),
      )
    } catch (error) {
      queue.putBack(taken.map(({ entry }) => entry))
      for (const { slot } of taken) release(slot)
      left -= taken.length
      throw error
    }
    wake()
    for (const { entry, slot } of taken) {
      const delivery = deliveries.get(entry.id)
      // Canceled in the meantime.
      if (!delivery || delivery.nextAt === null) {
        release(slot)
        finish(entry, null)
      } else void ctx.errand(() => run(entry, delivery, slot))
    }
  }

  async function run(entry: Entry, delivery: Delivery, slot: Slot) {
    let posted: ReceiverAnswer | undefined
    try {
      posted = await deliverer.post(delivery, () => !abandoned)
      if (posted) adapt(posted.wentWell)
    } catch (error) {
      ctx.log.warn({ err: error }, 'a delivery could not be posted; trying again')
    }
    release(slot)
    if (abandoned) return finish(entry, null)
    wake()
    // The subject's next delivery waits for this write: a crash could otherwise post the older one after the newer.
    if (posted) await store(entry, posted.record)
    else finish(entry, ctx.clock.now() + 1000)
  }

  /** Stores a result, however long the database cannot: a post that was answered is not repeated. */
  async function store(entry: Entry, record: ReceiverAnswer['record'], tries = 0): Promise<void> {
    let nextAt: number | null
    try {
      nextAt = abandoned ? null : await record()
      if (tries > 0) unstored--
    } catch (error) {
      if (tries === 0) unstored++
      ctx.log.warn({ err: error }, 'the result of a delivery could not be stored; trying again')
      const wait = Math.min(STORE_AGAIN.first * 2 ** tries, STORE_AGAIN.most)
      ctx.clock.after(wait, () => void ctx.errand(() => store(entry, record, tries + 1)))
      return
    }
    finish(entry, nextAt)
  }

  function adapt(wentWell: boolean) {
    failures = wentWell ? 0 : failures + 1
    width = wentWell ? Math.min(WIDTH.most, width + 1) : WIDTH.least
    pausedUntil = wentWell ? 0 : ctx.clock.now() + Math.min(PAUSE.most, PAUSE.each * failures)
  }

  function finish(entry: Entry, nextAt: number | null) {
    left--
    const gap = queue.finish(entry, nextAt, ctx.clock.now())
    if (gap) crowded.add(gap)
    wake()
  }

  function release(slot: Slot) {
    inFlight--
    slot.end()
  }

  function stop() {
    isStopped = true
    giveBack()
    void dispatch.stop()
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
    stop,
    abandon() {
      stop()
      abandoned = true
    },
  }
}
