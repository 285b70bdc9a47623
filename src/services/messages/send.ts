import { AppError, MESSAGE_ERROR } from '../../core/errors.js'
import { messageEvent } from '../../core/events/message-events.js'
import { type CardInput, newCard } from '../../core/messages/app-card.js'
import {
  conversationOf,
  type Message,
  type MessageError,
  type ReplyTo,
  type SendStyle,
} from '../../core/messages/message.js'
import { insertReplays } from '../../storage/accounts/replays.js'
import { CommitUnknown, type Writes } from '../../storage/engine/db.js'
import { appendEvents } from '../../storage/events/events.js'
import { countMessages, findMessagesByHandle, insertMessages } from '../../storage/messages/messages.js'
import type { NewMessage } from '../../storage/messages/rows.js'
import { SCHEDULE_TOPIC } from '../../storage/messages/schedule.js'
import { insertFeed } from '../../storage/webhooks/feeds.js'
import { createBatch } from '../batch.js'
import { findBlocked } from '../contacts/consent.js'
import type { Ctx } from '../ctx.js'
import { firstAnswers, mayRepeat, type RequestIdentity, replayOf } from '../replay.js'
import { checkCard, checkCardLine } from './app-cards.js'
import { type Actor, checkReply, checkStyle, newOutbound, requireLine, seatOf } from './outbound.js'
import { checkRecipient } from './recipients.js'
import { answerOverdue, isOverdue } from './send-at.js'

export interface SendInput {
  fromNumber: string
  number: string
  content: string
  mediaUrl: string
  sendStyle: SendStyle | ''
  statusCallback: string | null
  replyTo: ReplyTo | null
  seatId: string | null
  appCard?: CardInput | null
  /** When it is to go out, if not now. */
  sendAt?: number | undefined
}

/** An accepted send: the message as it was accepted, or the answer an earlier request of the same name got. */
export type Accepted = { message: NewMessage; replayed: boolean }

interface Pending {
  message: NewMessage
  request: RequestIdentity
}

/**
 * Measured with 64 connections. On SQLite, while one batch is written the next is read from the sockets. On
 * PostgreSQL a batch costs the same few packets whatever its size, so few and large ones do better.
 */
const ACCEPT_BATCHES = { sqlite: { size: 32, atOnce: 4 }, postgres: { size: 128, gatherMs: 1 } } as const

/** Where every outbound message comes in: one place for its opt-out, its event, its totals and its repeats. */
export interface Acceptance {
  /** Resolves when the message is stored for good. The caller has checked that the line may send it. */
  accept(message: NewMessage, request: RequestIdentity): Promise<Accepted>
  /** One with a callback that was accepted here lately, as it was then. It may have been deleted since. */
  recent(handle: string): NewMessage | undefined
}

/** With callbacks, to tell its receiver of them without reading them back. */
const RECENT = 4000

export function createAcceptance(ctx: Ctx): Acceptance {
  const recent = new Map<string, NewMessage>()
  const batch = createBatch<Pending, Accepted>(async (items) => {
    const answers = await accept(ctx, items)
    for (const { message } of answers) {
      if (message.statusCallback === null) continue
      recent.set(message.handle, message)
      if (recent.size > RECENT) recent.delete(recent.keys().next().value!)
    }
    return answers
  }, ACCEPT_BATCHES[ctx.db.engine])
  return {
    recent: (handle) => recent.get(handle),
    accept(message, request) {
      return isOverdue(ctx, message) ? answerOverdue(ctx, message, request) : batch.add({ message, request })
    },
  }
}

/** A message to one recipient. */
export async function sendMessage(
  ctx: Ctx,
  actor: Actor,
  input: SendInput,
  request: RequestIdentity,
): Promise<Accepted> {
  const { account } = actor
  const from = await requireLine(ctx, actor, input.fromNumber)
  const { line, capabilities } = from
  if (input.number === line.number)
    throw new AppError('invalid', 'Cannot send messages to self: number is the line itself')
  if (input.mediaUrl && !capabilities.media)
    throw new AppError('invalid', 'media_url: this line cannot send media')
  checkStyle(from, input.sendStyle)
  if (input.appCard) checkCardLine(account, from)
  const { number: contact, replyTo } = input
  await checkRecipient(ctx, account, contact)
  const threadOriginator = replyTo
    ? await checkReply(ctx, account, from, { groupId: null, contact }, { replyTo, sendAt: input.sendAt })
    : undefined
  const seat = input.seatId ? await seatOf(ctx, account, input.seatId) : undefined
  const message = newOutbound(ctx, account, from, {
    contact,
    content: input.content,
    mediaUrl: input.mediaUrl,
    sendStyle: input.sendStyle,
    statusCallback: input.statusCallback,
    replyTo,
    threadOriginator,
    sendAt: input.sendAt,
    seatId: seat?.id,
    senderEmail: seat?.email,
  })
  if (input.appCard) {
    message.extra = { ...message.extra, appCard: newCard(input.appCard, message.handle) }
    await checkCard(ctx, message, request, 'app_card.')
  }
  return ctx.acceptance.accept(message, request)
}

/** One transaction for all of them: message, event, totals and stored answer. Then the wire may have them. */
async function accept(ctx: Ctx, items: Pending[]): Promise<Accepted[]> {
  // Not in the transaction: an opt-out that arrives this very moment may count from the next message on.
  const blocked = await findBlocked(
    ctx.db,
    items.map((item) => item.message),
  )
  const now = ctx.clock.now()
  for (const { message } of items) {
    message.createdAt = message.updatedAt = message.sentAt = message.nextActionAt = now
    if (blocked(message)) block(message)
    else if (message.dueAt !== null) wait(message, message.dueAt)
    else hold(ctx, message)
    ctx.lines.get(message.lineId)?.expect(message)
  }
  ctx.failpoint('accept.before_commit')
  let answers: Accepted[]
  try {
    answers = await (items.some(mayRepeat) ? acceptOnce(ctx, items, now) : acceptNew(ctx, items))
  } catch (error) {
    if (!(error instanceof CommitUnknown)) throw error
    answers = await reread(ctx, items)
  }
  ctx.failpoint('accept.after_commit')
  for (const lineId of new Set(answers.map(({ message }) => message.lineId))) ctx.wakes.wake(`line:${lineId}`)
  if (answers.some(({ message }) => message.dueAt !== null)) ctx.wakes.wake(SCHEDULE_TOPIC)
  ctx.metrics.accepted.inc(answers.length)
  return answers
}

/** Nothing to look up first: the storage gets it in one piece. */
async function acceptNew(ctx: Ctx, items: readonly Pending[]): Promise<Accepted[]> {
  const messages = items.map((item) => item.message)
  await ctx.db.write((sql) => addMessages(sql, 'message.created', messages))
  return messages.map((message) => ({ message, replayed: false }))
}

/** Some may repeat an earlier request: those get its answer, the others are new. */
function acceptOnce(ctx: Ctx, items: readonly Pending[], now: number): Promise<Accepted[]> {
  return ctx.db.tx(async (sql) => {
    const first = await firstAnswers(sql, items, now)
    const fresh = items.filter((item) => !first.has(item))
    const keyed = fresh.filter((item) => item.request.key !== undefined)
    await insertReplays(
      sql,
      keyed.map((item) => replayOf(item.request, item.message, now)),
    )
    await addMessages(
      sql,
      'message.created',
      fresh.map((item) => item.message),
    )
    return items.map((item) => {
      const earlier = first.get(item)
      return { message: earlier ?? item.message, replayed: earlier !== undefined }
    })
  })
}

/**
 * New messages with their event and their place in the totals. In this order: the event numbers are a lock that
 * the account's other transactions wait for, so the longest part comes before it, and the totals after it.
 */
export async function addMessages(
  sql: Writes,
  type: 'message.created' | 'message.received',
  messages: readonly NewMessage[],
): Promise<void> {
  await Promise.all([
    insertMessages(sql, messages),
    // From before its first event on, what happens to a message with a callback is delivered.
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

function block(message: NewMessage) {
  Object.assign(message, {
    status: 'ERROR',
    optedOut: true,
    nextActionAt: null,
    dueAt: null,
    error: optedOutError(message),
  } satisfies Partial<Message>)
}

export function optedOutError({ groupId }: Pick<Message, 'groupId'>): MessageError {
  return {
    code: MESSAGE_ERROR.blocked,
    message:
      groupId === null
        ? 'The recipient has opted out of messages from this account'
        : 'Someone in the group has opted out of messages from this account',
    reason: 'opted_out',
    detail: null,
  }
}

/** Its sender chose a later time. Whether its conversation is held then is seen then. */
function wait(message: NewMessage, until: number) {
  message.status = 'REGISTERED'
  message.nextActionAt = until
}

/** Its conversation goes round in circles: it waits, and its status shows that. */
function hold(ctx: Ctx, message: NewMessage) {
  const until = ctx.holds.until(message.lineId, conversationOf(message))
  if (until === undefined) return
  message.status = 'REGISTERED'
  message.nextActionAt = until
}

/** The connection died during COMMIT: whether the handles are there tells whether it went through. */
async function reread(ctx: Ctx, items: Pending[]): Promise<Accepted[]> {
  const found = await findMessagesByHandle(
    ctx.db,
    items.map((item) => item.message.handle),
  )
  if (found.size === 0)
    throw new AppError('unavailable', 'The database cannot be reached right now; try again.', {
      retryAfterMs: 1000,
    })
  const answers: Accepted[] = []
  for (const item of items) {
    const message = found.get(item.message.handle)
    // What is missing repeated an earlier request and wrote nothing: asking again is harmless.
    answers.push(message ? { message, replayed: false } : (await accept(ctx, [item]))[0]!)
  }
  return answers
}
