import { createAgain } from '../../base/again.js'
import { AppError, MESSAGE_ERROR } from '../../core/errors.js'
import type { Line } from '../../core/lines/line.js'
import type { NewMessage } from '../../core/messages/message.js'
import { conversationOf, type Message } from '../../core/messages/message.js'
import { failMessage } from '../../core/messages/outcome.js'
import { topics } from '../../core/topics.js'
import { MissingValue, type Sql } from '../../storage/engine/db.js'
import { appendEvents } from '../../storage/events/events.js'
import { findLineEver, requireCurrent } from '../../storage/lines/lines.js'
import { deleteHold, type Hold, insertHold, listHolds, listHoldsDue } from '../../storage/messages/holds.js'
import { lockMessages } from '../../storage/messages/messages.js'
import { listConversationQueue } from '../../storage/messages/queue.js'
import { findBlocked } from '../contacts/consent.js'
import type { Ctx, Holds, Platform } from '../ctx.js'
import { optedOutError } from './acceptance.js'
import { saveChanges } from './changes.js'

type HeldConversation = Parameters<Holds['hold']>[0]
type ReleaseHandler = Parameters<Holds['onRelease']>[0]

export function createHolds(ctx: Pick<Platform, 'db' | 'wakes' | 'log' | 'errand' | 'clock'>): Holds {
  let held = new Map<string, HeldConversation>()
  const unwritten = new Map<string, HeldConversation>()
  const handlers = new Set<ReleaseHandler>()
  const key = ({ lineId, conversation }: Omit<HeldConversation, 'until'>) => `${lineId} ${conversation}`
  // Reads run one after the other: of two at once, the older result could arrive last.
  const reading = createAgain(
    ctx.clock,
    read,
    (error) => void ctx.log.warn({ err: error }, 'held conversations could not be read'),
  )

  async function read() {
    const rows: HeldConversation[] = await listHolds(ctx.db)
    const before = held
    // The row wins over the unwritten hold: waiting messages carry the row's time.
    held = new Map([...unwritten.values(), ...rows].map((hold) => [key(hold), hold]))
    for (const [name, { lineId, conversation }] of before)
      if (!held.has(name)) for (const handler of handlers) handler(lineId, conversation)
  }

  function look() {
    ctx.errand(reading.run).catch(() => {})
  }
  ctx.wakes.on(topics.holds, look)
  return {
    until: (lineId, conversation) =>
      held.size === 0 ? undefined : held.get(key({ lineId, conversation }))?.until,
    onRelease(handler) {
      handlers.add(handler)
      return () => handlers.delete(handler)
    },
    load: reading.run,
    look,
    async hold(hold, write) {
      const name = key(hold)
      if (!held.has(name)) held.set(name, hold)
      unwritten.set(name, hold)
      try {
        await write()
      } finally {
        if (unwritten.get(name) === hold) unwritten.delete(name)
        look()
      }
    },
  }
}

/** Stops a conversation in which two programs answer each other. */
export async function holdConversation(
  ctx: Ctx,
  line: Line,
  message: Pick<NewMessage, 'accountId' | 'contact' | 'groupId'>,
  alternations: number,
): Promise<void> {
  const now = ctx.clock.now()
  const hold: Hold = {
    lineId: line.id,
    conversation: conversationOf(message),
    accountId: message.accountId,
    groupId: message.groupId,
    alternations,
    heldAt: now,
    until: now + ctx.config.loopHoldMs,
  }
  try {
    // In memory first: the next message may already be on its way.
    await ctx.holds.hold(hold, () =>
      ctx.db.tx(async (sql) => {
        if (!(await insertHold(sql, hold))) return
        await appendEvents(sql, [
          {
            accountId: hold.accountId,
            type: 'conversation.held',
            subject: hold.conversation,
            at: now,
            data: { ...heldConversation(line, hold), alternations },
          },
        ])
        await requireCurrent(sql, [line])
      }),
    )
  } catch (error) {
    // The world was deleted.
    if (error instanceof MissingValue) return
    throw error
  }
  ctx.log.warn({ line: line.id, alternations }, 'a conversation goes round in circles and is held')
}

function heldConversation(line: Line, { conversation, groupId, until }: Hold) {
  return { lineNumber: line.number, contact: groupId === null ? conversation : null, groupId, until }
}

export interface Release {
  lineId: string
  conversation: string
  /** Drops the held messages instead of sending them in order. */
  drop: boolean
  by: 'operator' | 'time'
}

/** Ends a hold. Held messages to a recipient who has opted out since then fail. */
export async function releaseConversation(
  ctx: Ctx,
  sql: Sql,
  { lineId, conversation, drop, by }: Release,
): Promise<{ hold: Hold; messages: number } | undefined> {
  const now = ctx.clock.now()
  const hold = await deleteHold(sql, lineId, conversation)
  const line = hold && (await findLineEver(sql, lineId))
  if (!line) return undefined
  const waiting = await listConversationQueue(sql, lineId, conversation, 10_000)
  const messages = await lockMessages(
    sql,
    waiting.map((entry) => entry.id),
  )
  const held = [...messages.values()].filter(
    (message) => message.status === 'REGISTERED' && message.nextActionAt === hold.until,
  )
  const blocked = await findBlocked(sql, held)
  const changes = held.map((before): { before: Message; after: Message } => {
    if (blocked(before))
      return { before, after: { ...failMessage(before, now, optedOutError(before)), optedOut: true } }
    if (drop) return { before, after: failMessage(before, now, DROPPED) }
    const updatedAt = Math.max(now, before.updatedAt + 1)
    return { before, after: { ...before, status: 'QUEUED', updatedAt, nextActionAt: now } }
  })
  await saveChanges(sql, changes)
  await appendEvents(sql, [
    {
      accountId: hold.accountId,
      type: 'conversation.released',
      subject: hold.conversation,
      at: now,
      data: { ...heldConversation(line, hold), by, messages: held.length },
    },
  ])
  return { hold, messages: held.length }
}

const DROPPED = {
  code: MESSAGE_ERROR.failed,
  message: 'The conversation went round in circles, and what was held in it was dropped',
  reason: 'conversation_held',
  detail: null,
}

/** Like `releaseConversation`, for an operator: an unknown hold is an error. */
export async function releaseByOperator(
  ctx: Ctx,
  sql: Sql,
  release: Omit<Release, 'by'>,
): Promise<{ hold: Hold; messages: number }> {
  const released = await releaseConversation(ctx, sql, { ...release, by: 'operator' })
  if (!released) throw new AppError('not_found', 'There is no such held conversation')
  return released
}

/** Releases every hold whose time is over. */
export async function releaseDue(ctx: Ctx): Promise<void> {
  for (;;) {
    const due = await listHoldsDue(ctx.db, ctx.clock.now(), 100)
    for (const { lineId, conversation } of due) {
      await ctx.db.tx((sql) =>
        releaseConversation(ctx, sql, { lineId, conversation, drop: false, by: 'time' }),
      )
      ctx.wakes.wake(topics.line(lineId))
    }
    if (due.length < 100) return
  }
}
