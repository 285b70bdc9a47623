import { firstIdAt } from '../../base/ids.js'
import { inTime as limitTime } from '../../base/in-time.js'
import { storable } from '../../base/storable.js'
import { createTurns } from '../../base/turns.js'
import { LineFault } from '../../core/lines/fault.js'
import type { Capabilities, Line } from '../../core/lines/line.js'
import { createPace, lookBackOf } from '../../core/lines/pacing.js'
import type { Message } from '../../core/messages/message.js'
import { topics } from '../../core/topics.js'
import type { Driver } from '../../drivers/contract.js'
import type { Ctx, DrivenLine } from '../../services/ctx.js'
import { perform } from '../../services/lines/actions.js'
import { endIfBlocked } from '../../services/lines/blocks.js'
import { type Claim, claim } from '../../services/messages/claim.js'
import { type DispatchLine, dailyLimitOf, LeaseLost } from '../../services/messages/dispatch-line.js'
import { createInboundDoor } from '../../services/messages/inbound/inbound.js'
import { createNews } from '../../services/messages/news.js'
import { findUnresolved, recordEvidence, recoverOpenAttempts } from '../../services/messages/outcomes.js'
import { recordRead, rematchParked } from '../../services/messages/receipts.js'
import type { Lease } from '../../storage/lines/leases.js'
import { listLineMembers } from '../../storage/lines/lines.js'
import { type Attempt, listWireTimes } from '../../storage/messages/attempts.js'
import { findMessagesById } from '../../storage/messages/messages.js'
import { correctWaits, listQueue, listQueueOf, type QueueRow } from '../../storage/messages/queue.js'
import { startChores } from './chores.js'
import { connect } from './connect.js'
import { createFitting } from './fitting.js'
import { lazily } from './lazily.js'
import { createLoopBreaker } from './loop-breaker.js'
import { createLineQueue, type Entry, type Gap } from './queue.js'
import { reachOf } from './reach.js'
import { createStateKeeper } from './state.js'
import { readWaiting } from './waiting.js'
import { lookUp, wire } from './wire.js'

export interface Runner extends DrivenLine {
  lease: Lease
  capabilities: Capabilities
  wake(): void
  /** Reads the table again from its start, to find messages that were committed behind the cursor. */
  sweep(): void
  /** Stops claiming and waits for sends on the wire, for at most `drainMs`. */
  stop(drainMs: number): Promise<void>
}

const MAX_IN_FLIGHT = 256
/** Of every line that has not had a message so far: it stays empty. */
const NO_QUEUE = createLineQueue()
const LAST_WORD_MS = 250
const READ_AT_ONCE = 1000
/** On PostgreSQL a lower id may be committed after a higher one. The sweep finds ids even further behind. */
const ID_OVERLAP = 256

/** Drives one line for as long as this process holds its lease. */
export async function startRunner(ctx: Ctx, driver: Driver, line: Line, lease: Lease): Promise<Runner> {
  ctx.metrics.watchDriver(line.driver)
  const capabilities = driver.capabilities(line.config)
  const daily = await dailyLimitOf(ctx, line)
  const { services, groupMms = false, mediaLimits } = capabilities
  const on: DispatchLine = { line, services, groupMms, lease, daily, unsent: new Map() }
  await recoverOpenAttempts(ctx, on)

  let queue = NO_QUEUE
  const now = ctx.clock.now()
  const recent = await listWireTimes(ctx.db, line.id, firstIdAt(now - lookBackOf(line)), firstIdAt(now + 1))
  const pace = createPace(line, recent)
  // Changes to messages of this line run in sequence, so that each sees the one before.
  const inTurn = createTurns()
  // Most of ten thousand lines are idle, so what a message needs is made with the first one.
  const news = lazily(() => createNews(ctx, on, inTurn))
  const wireSeconds = lazily(() => ctx.metrics.wireSeconds.labels({ driver: line.driver }))
  const inFlight = new Set<number>()
  const dispatch = ctx.loops.create('dispatch', step, {
    fields: { line: line.id },
    failed: (error) => error instanceof LeaseLost,
  })
  const wake = dispatch.ask
  const fitting = mediaLimits && createFitting(ctx, on, mediaLimits, wake)
  const health = createStateKeeper(ctx, line, lease, wake)
  const overlap = ctx.db.engine === 'postgres' ? ID_OVERLAP : 0
  let unread = true
  let readOn: number | undefined

  const breaker = createLoopBreaker(ctx, line, () => queue, wake)
  const inbound = lazily(() => createInboundDoor(ctx, on, breaker.heard))
  const link = await connect(ctx, driver, on, {
    receive: (message) => inbound().receive(message),
    acknowledged: (message) => inbound().acknowledged(message),
    receipt: (receipt) => news().receipt(storable(receipt)),
    read: (read) => inTurn(() => recordRead(ctx, on, storable(read))),
    state: health.report,
  }).catch(async (error) => {
    await Promise.all([breaker.stop(), health.stop()])
    throw error
  })
  const { connection } = link
  const subscriptions = [
    ctx.wakes.on(topics.line(line.id), () => {
      unread = true
      wake()
    }),
    // A caller at another process asks for the outcome of a message.
    ctx.wakes.on(topics.ask(line.id), (id) => void resolveNow(Number(id)).catch(() => {})),
    breaker.stop,
  ]
  const act: DrivenLine['act'] = (method, ask) =>
    // Accepts what the carrier delivers, even if the line's state is offline.
    method !== 'callback' && method !== 'phone' && health.isOffline()
      ? Promise.reject(new LineFault('unreachable', 'The line is offline'))
      : perform(ctx, line, connection, method, ask)
  const chores = startChores(ctx, line, lease, act)

  const inTime = async (rows: Promise<QueueRow[]>) => correctWaits(ctx.db, await rows, ctx.clock.now())

  function add(rows: readonly QueueRow[]) {
    if (rows.length > 0 && queue === NO_QUEUE) queue = createLineQueue({ isShared: line.kind === 'shared' })
    queue.add(rows, ctx.clock.now())
  }

  /** Returns when the next message may go. */
  async function step(): Promise<number | undefined> {
    let seen: readonly QueueRow[] = []
    if (unread && !queue.isFull()) {
      unread = false
      const rows = await inTime(listQueue(ctx.db, line.id, readOn ?? queue.cursor() - overlap, READ_AT_ONCE))
      add(rows)
      seen = rows
      readOn = rows.length === READ_AT_ONCE ? rows.at(-1)!.id : undefined
      if (readOn !== undefined) {
        unread = true
        wake()
      }
    }
    const now = ctx.clock.now()
    if (health.isOffline()) return undefined
    if (!queue.hasReady(now)) return queue.nextDue()
    const room = Math.min(pace.room(now), MAX_IN_FLIGHT - inFlight.size)
    if (room > 0) {
      const most = ctx.portion()
      const entries = queue.take(Math.min(room, most))
      await start(entries, seen)
      if (entries.length === most) await ctx.rest()
      wake()
      return undefined
    }
    return inFlight.size < MAX_IN_FLIGHT ? pace.nextAt(now) : undefined
  }

  /** Sends entries, or looks up those whose last attempt is in doubt. `seen` is what the table said just now. */
  async function start(entries: Entry[], seen: readonly QueueRow[]) {
    const left = new Map(entries.map((entry) => [entry.id, entry]))
    const takeOut = (id: number) => {
      const entry = left.get(id)!
      left.delete(id)
      return entry
    }
    for (const id of left.keys()) inFlight.add(id)
    try {
      const messages = await readWaiting(ctx, entries, seen)
      if (line.kind === 'shared') daily?.divide((await listLineMembers(ctx.db, line.id)).length)
      const now = ctx.clock.now()
      const due: Message[] = []
      for (const message of messages) {
        if (message.nextActionAt === null || message.nextActionAt > now) continue
        const attempt = await findUnresolved(ctx, message)
        const isDayOver = daily !== null && !daily.hasRoom(now, message.accountId, due)
        const heldUntil = breaker.holds(left.get(message.id)!) ?? (isDayOver ? daily.nextAt(now) : undefined)
        if (attempt) void conclude(takeOut(message.id), () => resolve(attempt))
        else if (heldUntil !== undefined) void conclude(takeOut(message.id), async () => heldUntil)
        else due.push(message)
      }
      if (line.blockedAt !== null && (await endIfBlocked(ctx, line, due))) due.length = 0
      const reach = await reachOf(connection, on.services, due)
      const ready = fitting?.ready(due, reach, ({ id }) => {
        inFlight.delete(id)
        const entry = takeOut(id)
        return () => queue.putBack([entry])
      })
      for (const one of await claim(ctx, on, ready ?? due, reach)) {
        pace.take(now)
        void send(takeOut(one.message.id), one)
      }
      // The other entries are done by now, or due later than the window assumed.
      for (const id of [...left.keys()]) {
        const entry = takeOut(id)
        inFlight.delete(id)
        release(entry, (await findMessagesById(ctx.db, [id])).get(id)?.nextActionAt ?? null)
      }
    } catch (error) {
      for (const id of left.keys()) inFlight.delete(id)
      queue.putBack([...left.values()])
      throw error
    }
  }

  async function send(entry: Entry, claimed: Claim) {
    const startedAt = ctx.clock.now()
    const { message, outbound } = claimed
    breaker.said(message)
    const result = await wire(ctx, connection, outbound, fitting?.take(message.id), driver.sendTimeoutMs)
    ctx.failpoint('dispatch.after_wire')
    const answeredAt = ctx.clock.now()
    wireSeconds().observe((answeredAt - startedAt) / 1000)
    await conclude(entry, () => news().ended({ claimed, result }))
    ctx.traces?.attempted(claimed, result, line.driver, { from: startedAt, to: answeredAt })
  }

  async function resolve(attempt: Attempt): Promise<number | null> {
    const evidence = await lookUp(ctx, connection, attempt)
    return inTurn(() => recordEvidence(ctx, on, attempt, evidence))
  }

  /** Writes a result and lets the conversation continue. Retries while the database fails. */
  async function conclude(entry: Entry, write: () => Promise<number | null>): Promise<void> {
    try {
      const next = await write()
      inFlight.delete(entry.id)
      release(entry, next)
    } catch (error) {
      ctx.log.error({ err: error, line: line.id }, 'a result could not be written; trying again in a second')
      if (!closed) ctx.clock.after(1000, () => void conclude(entry, write))
    }
  }

  function release(entry: Entry, nextActionAt: number | null) {
    const now = ctx.clock.now()
    const gap = queue.finish(entry, nextActionAt, now)
    if (gap) fill(gap)
    wake()
  }

  function fill(gap: Gap) {
    inTime(listQueueOf(ctx.db, line.id, gap))
      .then((rows) => {
        const next = queue.fill(gap, rows, ctx.clock.now())
        if (next) fill(next)
        wake()
      })
      .catch(() => ctx.clock.after(1000, () => fill(gap)))
  }

  function readAgain(after: number, most: number) {
    void inTime(listQueue(ctx.db, line.id, after, most))
      .then((rows) => {
        add(rows)
        wake()
      })
      .catch(() => {})
  }

  function recheck(messageId: number) {
    if (queue.hurry(messageId, ctx.clock.now())) wake()
  }

  async function resolveNow(messageId: number) {
    const message = (await findMessagesById(ctx.db, [messageId])).get(messageId)
    const attempt = message && (await findUnresolved(ctx, message))
    if (!attempt || inFlight.has(messageId)) return
    const next = await resolve(attempt)
    if (next === null || next <= ctx.clock.now()) recheck(messageId)
  }

  let closed = false
  wake()
  return {
    line,
    lease,
    capabilities,
    wake,
    sweep() {
      chores.look()
      void inTurn(() => rematchParked(ctx, on)).catch(() => {})
      readAgain(0, READ_AT_ONCE)
    },
    queued: () => queue.size(),
    inFlight: () => inFlight.size,
    recheck,
    requeue: (messageId) => readAgain(messageId - 1, 1),
    resolve: resolveNow,
    act,
    async stop(drainMs) {
      void dispatch.stop()
      for (const unsubscribe of subscriptions) unsubscribe()
      const deadline = Date.now() + drainMs
      while ((!dispatch.isIdle() || inFlight.size > 0) && Date.now() < deadline)
        await new Promise((done) => setTimeout(done, 5))
      await chores.stop(deadline)
      await link.close(deadline)
      const left = Math.max(deadline - Date.now(), LAST_WORD_MS)
      await limitTime(inbound().close(), left, 'inbound messages were not stored').catch(() => {})
      // Closing the connection may have ended sends, such as ones that never left; their results are still written.
      const lastWord = Date.now() + LAST_WORD_MS
      while (inFlight.size > 0 && Date.now() < lastWord) await new Promise((done) => setTimeout(done, 5))
      closed = true
      await health.stop()
    },
  }
}
