import { createBatch } from '../../base/batch.js'
import { createBoundedMap } from '../../base/bounded-map.js'
import { DEFAULT_LIMITS, dailyLimitOf, overBudget } from '../../core/accounts/budgets.js'
import { AppError } from '../../core/errors.js'
import { messageEvent } from '../../core/events/message-events.js'
import type { NewMessage } from '../../core/messages/message.js'
import { topics } from '../../core/topics.js'
import { findTotal } from '../../storage/accounts/budgets.js'
import { insertReplays, saveReplay } from '../../storage/accounts/replays.js'
import {
  CommitUnknown,
  isStorageFault,
  MissingValue,
  type Sql,
  type Writes,
} from '../../storage/engine/db.js'
import { confirmReads } from '../../storage/engine/query.js'
import { appendEvents } from '../../storage/events/events.js'
import { saveTurns } from '../../storage/lines/turns.js'
import { countMessages, findMessagesByHandle, insertMessages } from '../../storage/messages/messages.js'
import { insertFeed } from '../../storage/webhooks/feeds.js'
import { requireFresh } from '../arrival.js'
import { findBlocked } from '../contacts/consent.js'
import type { Acceptance, AcceptedSend, Ctx } from '../ctx.js'
import { mayRepeat, type RequestIdentity, replayOf, txWithAnswers } from '../replay.js'
import { createAdmission } from './admission/admission.js'
import { checkDaily, checkDailyOnce, createOneByOne } from './admission/daily.js'
import { setFirstStatus } from './admission/first-status.js'
import { answerOverdue, isOverdue } from './send-at.js'

/** Acceptance is one of the parts that a complete context is made of. */
type Incomplete = Omit<Ctx, 'acceptance' | 'webhooks'>

interface Pending {
  message: NewMessage
  request: RequestIdentity
  /** Of a scheduled message: how many its account may have. */
  maxScheduled?: number
  /** How many messages its account may send in a day, if that is limited. */
  maxDaily?: number
}

/**
 * Measured with 64 connections. On SQLite the next batch is read from the sockets while one is written. On
 * PostgreSQL a batch costs the same few packets whatever its size, so few large batches do better.
 */
const ACCEPT_BATCHES = { sqlite: { size: 32, atOnce: 4 }, postgres: { size: 128, gatherMs: 1 } } as const

/**
 * Accepted messages that are kept, so that neither their line nor fan-out reads them back. Measured through SMPP with
 * receipts: fan-out saves nothing on SQLite, about 100 of 2,300 µs for each message on PostgreSQL.
 */
const MAX_RECENT = 4000
/** A longer text is not worth its memory. */
const MAX_KEPT_CHARS = 2000

export function createAcceptance(ctx: Incomplete): Acceptance {
  const recent = createBoundedMap<string, NewMessage>(MAX_RECENT)
  const batch = createBatch<Pending, AcceptedSend>(run, isStorageFault, ACCEPT_BATCHES[ctx.db.engine])
  const limited = createOneByOne(run)
  const admission = createAdmission(ctx, () => batch.size() + limited.size())

  async function run(items: Pending[]): Promise<AcceptedSend[]> {
    const answers = await accept(ctx, items)
    for (const { message } of answers)
      if (message.content.length <= MAX_KEPT_CHARS) recent.set(message.handle, message)
    return answers
  }

  const store = (item: Pending) => (item.maxDaily === undefined ? batch : limited).add(item)

  /** Joins the line's queue before it is stored, so that sends that come at once cannot pass the bound together. */
  async function enqueue(item: Pending): Promise<AcceptedSend> {
    const { message } = item
    const queue = admission.enter(message)
    if (queue instanceof AppError) return refuse(item, queue)
    try {
      const answer = await store(item)
      const waits = !answer.replayed && answer.message.status === 'QUEUED'
      if (waits) answer.queue = queue
      admission.exit(message, waits)
      return answer
    } catch (error) {
      admission.exit(message, false)
      throw error
    }
  }

  /** Accounts without a limit for the day wait for nothing here. */
  function admit(item: Pending): Promise<AcceptedSend> {
    const maxDaily = ctx.backlog.maxDaily(item.message)
    return maxDaily === undefined ? enqueue(item) : checkDay(item, maxDaily).then(enqueue)
  }

  /** Asked first, because a refusal is cheaper without a transaction. */
  async function checkDay(item: Pending, maxDaily: number): Promise<Pending> {
    if (!mayRepeat(item)) await checkDaily(ctx.db, item.message.accountId, maxDaily, ctx.clock.now())
    return { ...item, maxDaily }
  }

  async function schedule(item: Pending): Promise<AcceptedSend> {
    const { accountId } = item.message
    const full = ctx.disk.refusal()
    if (full) return refuse(item, full)
    const limits = (await ctx.directory.account(accountId))?.limits ?? DEFAULT_LIMITS
    const maxScheduled = limits.scheduled
    // Asked first, so that an account at its limit does not make batches fail that carry messages of others.
    if (!mayRepeat(item)) await checkScheduled(ctx.db, accountId, maxScheduled, 1)
    const maxDaily = dailyLimitOf(limits)
    const checked = maxDaily === undefined ? item : await checkDay(item, maxDaily)
    return store({ ...checked, maxScheduled })
  }

  /** A message that was accepted before gets its answer, however full the queue is now. */
  async function refuse(item: Pending, refusal: AppError): Promise<AcceptedSend> {
    const now = ctx.clock.now()
    const first =
      mayRepeat(item) &&
      (await txWithAnswers(ctx.db, [item], now, async (_sql, answers) => answers.get(item)))
    if (!first) throw refusal
    return { message: first, replayed: true }
  }

  return {
    recent: (handle) => recent.get(handle),
    async requireRoom(place) {
      await ctx.backlog.refresh(place)
      const refusal = admission.refusalOf(place)
      if (refusal) throw refusal
      const maxDaily = ctx.backlog.maxDaily(place)
      if (maxDaily !== undefined) await checkDaily(ctx.db, place.accountId, maxDaily, ctx.clock.now())
    },
    accept(message, request) {
      if (isOverdue(ctx, message)) return answerOverdue(ctx, message, request)
      const item = { message, request }
      if (message.dueAt !== null) return schedule(item)
      const reading = ctx.backlog.refresh(message)
      return reading ? reading.then(() => admit(item)) : admit(item)
    },
  }
}

/** Stores messages, events, totals and idempotency records in one transaction, then wakes the lines. */
async function accept(ctx: Incomplete, items: Pending[]): Promise<AcceptedSend[]> {
  // Outside the transaction: an opt-out that arrives at this moment may count from the next message on.
  const blocked = await findBlocked(
    ctx,
    ctx.db,
    items.map((item) => item.message),
  )
  const now = ctx.clock.now()
  for (const { message } of items) {
    message.createdAt = message.updatedAt = message.sentAt = message.nextActionAt = now
    setFirstStatus(ctx, message, blocked(message))
  }
  ctx.failpoint('accept.before_commit')
  // The batch may have waited in a process that was stopped.
  for (const { request } of items) requireFresh(request.arrival)
  let answers: AcceptedSend[]
  try {
    const turns = await turnsIn(ctx, items)
    const mustRead = items.some(
      (item) => mayRepeat(item) || item.maxScheduled !== undefined || item.maxDaily !== undefined,
    )
    answers = mustRead
      ? await acceptOnce(ctx, items, turns, now)
      : ((await acceptNew(ctx, items, turns)) ?? (await acceptOnce(ctx, items, turns, now)))
  } catch (error) {
    // The account has no event numbers any more: its world was removed.
    if (error instanceof MissingValue && items.length === 1)
      throw new AppError('unauthorized', 'Unauthorized')
    if (!(error instanceof CommitUnknown)) throw error
    answers = await reread(ctx, items)
  }
  ctx.failpoint('accept.after_commit')
  for (const lineId of new Set(answers.map(({ message }) => message.lineId)))
    ctx.wakes.wake(topics.line(lineId))
  if (answers.some(({ message }) => message.dueAt !== null)) ctx.wakes.wake(topics.schedule)
  ctx.metrics.accepted.inc(answers.length)
  return answers
}

/** Tells which messages make their account the one that answers from a person on a shared line go to. */
type Turns = (message: NewMessage) => boolean

async function turnsIn(ctx: Incomplete, items: readonly Pending[]): Promise<Turns> {
  const shared = new Set<string>()
  for (const lineId of new Set(items.map(({ message }) => message.lineId)))
    if ((await ctx.directory.line(lineId))?.line.kind === 'shared') shared.add(lineId)
  return ({ lineId, groupId, status }) => shared.has(lineId) && groupId === null && status !== 'ERROR'
}

class LateWrite extends Error {}

/** No request can be a repeat: one write without a query. Undefined if one of them has become late meanwhile. */
async function acceptNew(ctx: Incomplete, items: readonly Pending[], turns: Turns) {
  const messages = items.map((item) => item.message)
  ctx.failpoint('accept.before_write')
  try {
    await ctx.db.write(
      (sql) =>
        Promise.all([saveTurns(sql, messages.filter(turns)), addMessages(sql, 'message.created', messages)]),
      () => {
        if (items.some(mayRepeat)) throw new LateWrite()
      },
    )
  } catch (error) {
    if (!(error instanceof LateWrite)) throw error
    for (const { request } of items) requireFresh(request.arrival)
    return undefined
  }
  return messages.map((message): AcceptedSend => ({ message, replayed: false }))
}

/** A request may be a repeat: repeats get the first answer, the others become messages. */
function acceptOnce(
  ctx: Incomplete,
  items: readonly Pending[],
  turns: Turns,
  now: number,
): Promise<AcceptedSend[]> {
  return txWithAnswers(ctx.db, items, now, async (sql, first) => {
    const fresh = items.filter((item) => !first.has(item))
    for (const { message, maxDaily } of fresh)
      if (maxDaily !== undefined) await checkDailyOnce(sql, message.accountId, maxDaily, now)
    const keyed = fresh.filter((item) => item.request.key !== undefined)
    await insertReplays(
      sql,
      keyed.map((item) => replayOf(item.request, item.message, now)),
    )
    for (const { request, message } of fresh)
      if (request.key === undefined && request.retryCount > 0)
        await saveReplay(sql, replayOf(request, message, now))
    const messages = fresh.map((item) => item.message)
    await saveTurns(sql, messages.filter(turns))
    await addMessages(sql, 'message.created', messages)
    for (const { message, maxScheduled } of fresh)
      if (maxScheduled !== undefined) await checkScheduled(sql, message.accountId, maxScheduled)
    ctx.failpoint('accept.in_transaction')
    return items.map((item) => {
      const earlier = first.get(item)
      return { message: earlier ?? item.message, replayed: earlier !== undefined }
    })
  })
}

/** Refuses a scheduled message if its account has too many, with `more` that are not stored yet. */
async function checkScheduled(sql: Sql, accountId: string, limit: number, more = 0): Promise<void> {
  if ((await findTotal(sql, accountId, 'scheduled')) + more > limit) throw overBudget('scheduled', limit)
}

/**
 * Writes new messages with their events and totals. Event numbers and totals are locks that the account's other
 * transactions wait for, so the longest statement comes before them.
 */
export async function addMessages(
  sql: Writes,
  type: 'message.created' | 'message.received',
  messages: readonly NewMessage[],
): Promise<void> {
  await Promise.all([
    insertMessages(sql, messages),
    // A message with a callback needs the account's feed before its first event.
    ...accountsWithCallbacks(messages).map((accountId) => insertFeed(sql, accountId)),
    appendEvents(
      sql,
      messages.map((message) => messageEvent(type, message)),
    ),
    countMessages(sql, messages),
  ])
}

function accountsWithCallbacks(messages: readonly NewMessage[]): string[] {
  const accounts = new Set<string>()
  for (const { accountId, statusCallback } of messages) if (statusCallback !== null) accounts.add(accountId)
  return [...accounts]
}

/** The connection was lost during COMMIT: the handles are in the table if the commit went through. */
async function reread(ctx: Incomplete, items: Pending[]): Promise<AcceptedSend[]> {
  const found = await findMessagesByHandle(
    ctx.db,
    items.map((item) => item.message.handle),
  )
  await confirmReads(ctx.db)
  if (found.size === 0)
    throw new AppError('unavailable', 'The database cannot be reached right now; try again.', {
      retryAfterMs: 1000,
    })
  const answers: AcceptedSend[] = []
  for (const item of items) {
    const message = found.get(item.message.handle)
    // A missing message repeated an earlier request and wrote nothing, so accepting it again is safe.
    answers.push(message ? { message, replayed: false } : (await accept(ctx, [item]))[0]!)
  }
  return answers
}
