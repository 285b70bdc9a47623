import type { Account } from '../core/account.js'
import { AppError, MESSAGE_ERROR } from '../core/errors.js'
import { type EventType, messageEvent } from '../core/event.js'
import type { Message, ReplyTo, SendStyle } from '../core/message.js'
import { serviceChain } from '../core/service.js'
import type { Ctx } from '../ctx.js'
import { findSeat } from '../storage/accounts.js'
import { CommitUnknown, type Writes } from '../storage/db.js'
import { appendEvents } from '../storage/events.js'
import {
  countMessages,
  findMessage,
  findMessagesByHandle,
  insertMessages,
  type NewMessage,
} from '../storage/messages.js'
import { findOptOuts } from '../storage/opt-outs.js'
import { insertReplays } from '../storage/replays.js'
import type { Batch } from './batch.js'
import { createBatch } from './batch.js'
import { firstAnswers, mayRepeat, type RequestIdentity, replayOf } from './replay.js'

export interface SendInput {
  fromNumber: string
  number: string
  content: string
  mediaUrl: string
  sendStyle: SendStyle | ''
  statusCallback: string | null
  replyTo: ReplyTo | null
  seatId: string | null
}

/** An accepted send: the message as it was accepted, or the answer an earlier request of the same name got. */
export type Accepted = { message: NewMessage; replayed: boolean }

interface Pending {
  message: NewMessage
  request: RequestIdentity
}

/**
 * Measured with 64 connections. On SQLite, while one batch is written the next is read from the sockets. On
 * PostgreSQL a batch costs seven round trips whatever its size, so few and large ones do better.
 */
const ACCEPT_BATCHES = { sqlite: { size: 32, atOnce: 4 }, postgres: { size: 128, gatherMs: 2 } } as const

/** The acceptance of sends: checked by the caller's thread, written in batches. */
export interface Acceptance {
  send(account: Account, input: SendInput, request: RequestIdentity): Promise<Accepted>
}

export function createAcceptance(ctx: Ctx): Acceptance {
  const batch = createBatch<Pending, Accepted>((items) => accept(ctx, items), ACCEPT_BATCHES[ctx.db.engine])
  return { send: (account, input, request) => sendMessage(ctx, batch, account, input, request) }
}

async function sendMessage(
  ctx: Ctx,
  batch: Batch<Pending, Accepted>,
  account: Account,
  input: SendInput,
  request: RequestIdentity,
): Promise<Accepted> {
  const usable = (await ctx.directory.linesOf(account.id)).get(input.fromNumber)
  if (!usable) {
    throw new AppError(
      'invalid',
      `This phone number is not defined: from_number ${input.fromNumber} is not a line of this account. GET /api/lines lists the lines.`,
    )
  }
  const { line, capabilities } = usable
  if (input.number === line.number)
    throw new AppError('invalid', 'Cannot send messages to self: number is the line itself')
  if (input.mediaUrl && !capabilities.media)
    throw new AppError('invalid', 'media_url: this line cannot send media')
  if (input.sendStyle && !capabilities.sendStyles) {
    throw new AppError('invalid', 'send_style: this line cannot send expressive styles')
  }
  if (input.replyTo) {
    if (!capabilities.replies) throw new AppError('invalid', 'reply_to: this line cannot send inline replies')
    const target = await findMessage(ctx.db, input.replyTo.handle, account.id)
    if (!target || target.lineId !== line.id || target.groupId !== null || target.contact !== input.number) {
      throw new AppError(
        'invalid',
        'reply_to.message_handle: no such message in this conversation on this line',
      )
    }
  }
  const seat = input.seatId ? await findSeat(ctx.db, account.id, input.seatId) : undefined
  if (input.seatId && !seat) throw new AppError('invalid', 'seat_id: no such seat in this account')

  return batch.add({
    request,
    message: {
      handle: ctx.newId(),
      accountId: account.id,
      lineId: line.id,
      lineNumber: line.number,
      contact: input.number,
      groupId: null,
      isOutbound: true,
      type: 'message',
      status: 'QUEUED',
      service: serviceChain(capabilities.services)[0]!,
      wasDowngraded: null,
      content: input.content,
      mediaUrl: input.mediaUrl,
      sendStyle: input.sendStyle,
      statusCallback: input.statusCallback,
      replyTo: input.replyTo,
      seatId: seat?.id ?? null,
      senderEmail: seat?.email ?? null,
      optedOut: false,
      error: null,
      createdAt: 0,
      updatedAt: 0,
      sentAt: 0,
      nextActionAt: 0,
      attempts: 0,
      version: 0,
      providerId: null,
    },
  })
}

/** One transaction for all of them: message, event, totals and stored answer. Then the wire may have them. */
async function accept(ctx: Ctx, items: Pending[]): Promise<Accepted[]> {
  // Not in the transaction: an opt-out that arrives this very moment may count from the next message on.
  const optedOut = await findOptOuts(
    ctx.db,
    items.map((item) => item.message),
  )
  const now = ctx.clock.now()
  for (const { message } of items) {
    message.createdAt = message.updatedAt = message.sentAt = message.nextActionAt = now
    if (optedOut(message.accountId, message.contact)) block(message)
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
  type: EventType,
  messages: readonly NewMessage[],
): Promise<void> {
  await Promise.all([
    insertMessages(sql, messages),
    appendEvents(
      sql,
      messages.map((message) => messageEvent(type, message)),
    ),
    countMessages(sql, messages),
  ])
}

function block(message: NewMessage) {
  Object.assign(message, {
    status: 'ERROR',
    optedOut: true,
    nextActionAt: null,
    error: {
      code: MESSAGE_ERROR.blocked,
      message: 'The recipient has opted out of messages from this account',
      reason: 'opted_out',
      detail: null,
    },
  } satisfies Partial<Message>)
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
