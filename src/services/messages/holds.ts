import { MESSAGE_ERROR } from '../../core/errors.js'
import type { Line } from '../../core/lines/line.js'
import type { NewMessage } from '../../core/messages/message.js'
import { conversationOf, type Message } from '../../core/messages/message.js'
import { optedOutError } from '../../core/messages/opted-out.js'
import { failMessage } from '../../core/messages/outcome.js'
import { topics } from '../../core/topics.js'
import { MissingValue, type Sql } from '../../storage/engine/db.js'
import { appendEvents } from '../../storage/events/events.js'
import { findLineEver, requireCurrent } from '../../storage/lines/lines.js'
import { deleteHold, type Hold, insertHold, listHolds, listHoldsDue } from '../../storage/messages/holds.js'
import { lockMessages } from '../../storage/messages/messages.js'
import { listHeld } from '../../storage/messages/queue.js'
import { findBlocked } from '../contacts/consent.js'
import type { Ctx, Holds, Platform } from '../ctx.js'
import { saveChanges } from './changes.js'

type HeldConversation = Parameters<Holds['hold']>[0]
type ReleaseHandler = Parameters<Holds['onRelease']>[0]

export function createHolds(ctx: Pick<Platform, 'db' | 'wakes' | 'loops' | 'errand'>): Holds {
  let held = new Map<string, HeldConversation>()
  const unwritten = new Map<string, HeldConversation>()
  const handlers = new Set<ReleaseHandler>()
  const key = (lineId: string, accountId: string, conversation: string) =>
    `${lineId} ${accountId} ${conversation}`
  const keyOf = (hold: HeldConversation) => key(hold.lineId, hold.accountId, hold.conversation)
  // Reads run one after the other: of two at once, the older result could arrive last.
  const reading = ctx.loops.create('held conversations', read)

  async function read() {
    const rows: HeldConversation[] = await listHolds(ctx.db)
    const before = held
    // The row wins over the unwritten hold: waiting messages carry the row's time.
    held = new Map([...unwritten.values(), ...rows].map((hold) => [keyOf(hold), hold]))
    for (const [name, { lineId, conversation }] of before)
      if (!held.has(name)) for (const handler of handlers) handler(lineId, conversation)
  }

  function look() {
    ctx.errand(() => reading.run()).catch(() => {})
  }
  ctx.wakes.on(topics.holds, look)
  return {
    until: (lineId, accountId, conversation) =>
      held.size === 0 ? undefined : held.get(key(lineId, accountId, conversation))?.until,
    onRelease(handler) {
      handlers.add(handler)
      return () => handlers.delete(handler)
    },
    load: () => reading.run(),
    look,
    async hold(hold, write) {
      const name = keyOf(hold)
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
  hold: Hold
  /** Drops the held messages instead of sending them in order. */
  drop: boolean
}

/** Messages of one transaction: the writes of other accounts wait for it. */
const AT_ONCE = 100

/**
 * Releases the messages of a held conversation in slices. The hold stays until `endHold`, so none of them leaves
 * before all of them may. Returns their number.
 */
export async function releaseMessages(ctx: Ctx, release: Release): Promise<number> {
  let released = 0
  for (let after = 0; ; ) {
    const ids = await listHeld(ctx.db, release.hold, after, AT_ONCE)
    if (ids.length > 0) released += await ctx.db.tx((sql) => releaseSome(ctx, sql, release, ids))
    if (ids.length < AT_ONCE) return released
    after = ids.at(-1)!
  }
}

/** Held messages to a recipient who has opted out since then fail. */
async function releaseSome(
  ctx: Ctx,
  sql: Sql,
  { hold, drop }: Release,
  ids: readonly number[],
): Promise<number> {
  const now = ctx.clock.now()
  const messages = await lockMessages(sql, ids)
  const held = [...messages.values()].filter(
    (message) => message.status === 'REGISTERED' && message.nextActionAt === hold.until,
  )
  const blocked = await findBlocked(ctx, sql, held)
  const changes = held.map((before): { before: Message; after: Message } => {
    if (blocked(before))
      return { before, after: { ...failMessage(before, now, optedOutError(before)), optedOut: true } }
    if (drop) return { before, after: failMessage(before, now, DROPPED) }
    const updatedAt = Math.max(now, before.updatedAt + 1)
    return { before, after: { ...before, status: 'QUEUED', updatedAt, nextActionAt: now } }
  })
  await saveChanges(sql, changes)
  return held.length
}

/** Ends a hold, with the messages that came since `releaseMessages`. Returns undefined if it has ended already. */
export async function endHold(
  ctx: Ctx,
  sql: Sql,
  { hold, drop, by, released }: Release & { by: 'operator' | 'time'; released: number },
): Promise<number | undefined> {
  const line = (await deleteHold(sql, hold)) && (await findLineEver(sql, hold.lineId))
  if (!line) return undefined
  const late = await listHeld(sql, hold, 0, 10 * AT_ONCE)
  const messages = released + (late.length > 0 ? await releaseSome(ctx, sql, { hold, drop }, late) : 0)
  await appendEvents(sql, [
    {
      accountId: hold.accountId,
      type: 'conversation.released',
      subject: hold.conversation,
      at: ctx.clock.now(),
      data: { ...heldConversation(line, hold), by, messages },
    },
  ])
  return messages
}

const DROPPED = {
  code: MESSAGE_ERROR.failed,
  message: 'The conversation went round in circles, and what was held in it was dropped',
  reason: 'conversation_held',
  detail: null,
}

/** Releases every hold whose time is over. */
export async function releaseDue(ctx: Ctx): Promise<void> {
  for (;;) {
    const due = await listHoldsDue(ctx.db, ctx.clock.now(), 100)
    for (const hold of due) {
      const released = await releaseMessages(ctx, { hold, drop: false })
      await ctx.db.tx((sql) => endHold(ctx, sql, { hold, drop: false, by: 'time', released }))
      ctx.wakes.wake(topics.line(hold.lineId))
    }
    if (due.length < 100) return
  }
}
