import { createBatch } from '../../../base/batch.js'
import { storable } from '../../../base/storable.js'
import type { NewEvent } from '../../../core/events/event.js'
import type { Line } from '../../../core/lines/line.js'
import { BLANK_MESSAGE, type NewMessage } from '../../../core/messages/message.js'
import { topics } from '../../../core/topics.js'
import type { Inbound } from '../../../drivers/inbound.js'
import { isStorageFault, MissingValue, type Sql, UniqueViolation } from '../../../storage/engine/db.js'
import { appendEvents } from '../../../storage/events/events.js'
import { holdsLease, type Lease, requireLease } from '../../../storage/lines/leases.js'
import { findLineEver } from '../../../storage/lines/lines.js'
import { deleteUnacknowledged } from '../../../storage/messages/inbound-ids.js'
import { listDueParts, type MessagePart } from '../../../storage/messages/inbound-parts.js'
import { lockRegistrations } from '../../../storage/verify/verified-contacts.js'
import { applyConsent } from '../../contacts/consent.js'
import type { Ctx } from '../../ctx.js'
import { groupOfChat } from '../../groups/state.js'
import { approveByText } from '../../verify/ends.js'
import { addMessages } from '../acceptance.js'
import { type DispatchLine, LeaseLost } from '../dispatch-line.js'
import { addSenders } from './contacts.js'
import { type Arrival, extraOf, reactionEvent, replyOf } from './extra.js'
import { withMedia } from './media.js'
import { noteSenders, routeTo } from './owner.js'
import { join } from './parts.js'
import { type InboundItem, type NewInbound, type SortedInbound, sortOut } from './sort.js'

/** The inbound door of a line. */
export interface InboundDoor {
  /** Resolves when the message is on disk. Repeats and our own messages are ignored. */
  receive(message: Inbound): Promise<void>
  acknowledged(message: Inbound): Promise<void>
  /** Accepts nothing more. Resolves when everything under way is stored and its acknowledgements are recorded. */
  close(): Promise<void>
}

/** Calls `heard` for every new message after it is stored. */
export function createInboundDoor(
  ctx: Ctx,
  { line, lease }: Pick<DispatchLine, 'line' | 'lease'>,
  heard: (message: NewMessage) => void = () => {},
): InboundDoor {
  const on = { line, lease, session: ctx.newId() }
  const underWay = new Set<Promise<void>>()
  let isClosed = false
  const unacknowledged = new WeakMap<Inbound, string>()
  const batch = createBatch<InboundItem, undefined>(
    async (items) => {
      const { sorted, stored } = await receive(ctx, on, items)
      for (const [message, id] of sorted.unacknowledged) unacknowledged.set(message, id)
      for (const message of stored.messages) heard(message)
      return items.map(() => undefined)
    },
    concernsAll,
    { size: ctx.portion },
  )
  const prepared = withMedia(ctx, line)
  const acknowledged = new Set<string>()
  // An entry that stayed would make the next equal message look like a repeat, so a failed delete is tried again.
  const recording = ctx.loops.create(
    'acknowledgements',
    async () => {
      const ids = [...acknowledged]
      if (ids.length > 0) await deleteUnacknowledged(ctx.db, lease, ids)
      for (const id of ids) acknowledged.delete(id)
    },
    { fields: { line: line.id } },
  )
  return {
    async receive(original) {
      if (isClosed) throw new LeaseLost()
      const storing = prepared(storable(original), (message) => batch.add({ original, message }))
      underWay.add(storing)
      await storing.finally(() => underWay.delete(storing))
    },
    async acknowledged(message) {
      const id = unacknowledged.get(message)
      if (!id) return
      acknowledged.add(id)
      await recording.run()
    },
    async close() {
      isClosed = true
      while (underWay.size > 0) await Promise.allSettled(underWay)
      if (acknowledged.size > 0) await recording.run().catch(() => {})
      await recording.stop()
    },
  }
}

const concernsAll = (error: unknown) => error instanceof LeaseLost || isStorageFault(error)

interface Stored {
  messages: NewMessage[]
  /** Messages on a shared line that belong to no account. */
  unrouted: number
}

async function receive(
  ctx: Ctx,
  on: { line: Line; lease: Lease; session: string },
  items: readonly InboundItem[],
) {
  ctx.failpoint('inbound.before_commit')
  const { line, lease } = on
  const done = await unlessRaced(() =>
    ctx.db.tx(async (sql) => {
      const now = ctx.clock.now()
      const sorted = await sortOut(ctx, sql, on, items, now)
      const stored = await store(ctx, sql, line, sorted.fresh, now)
      await requireLease(sql, line, lease)
      return { sorted, stored }
    }),
  ).catch(async (error) => {
    const isLost = error instanceof MissingValue && !(await holdsLease(ctx.db, lease))
    throw isLost ? new LeaseLost() : error
  })
  ctx.failpoint('inbound.after_commit')
  if (ctx.traces) for (const message of done.stored.messages) ctx.traces.received(message, message.createdAt)
  tell(ctx, line, done.sorted, done.stored)
  return done
}

/** If another process has just stored one of the messages, the second run recognises it as a repeat. */
async function unlessRaced<T>(work: () => Promise<T>): Promise<T> {
  for (let raced = 0; ; raced++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof UniqueViolation) || raced === 3) throw error
    }
  }
}

function tell(ctx: Ctx, line: Line, sorted: SortedInbound, { messages, unrouted }: Stored) {
  const count = (result: string, n: number) => n > 0 && ctx.metrics.received.inc({ result }, n)
  count('new', messages.length)
  count('unrouted', unrouted)
  count('repeat', sorted.repeats)
  count('part', sorted.parts)
  count('echo', sorted.echoes.length)
  for (const proof of sorted.echoes)
    ctx.log.info({ line: line.id, proof }, 'a message of our own came back and was dropped')
  if (sorted.parts > 0) ctx.wakes.wake(topics.parts)
  if (messages.length > 0) ctx.wakes.wake(topics.line(line.id))
}

/** Stores texts whose missing parts did not arrive in time, with a note of the gap. */
export async function storeOverdueParts(ctx: Ctx): Promise<void> {
  await unlessRaced(async () => {
    const done = await ctx.db.tx(async (sql) => {
      const now = ctx.clock.now()
      const wholes = new Map<string, MessagePart[]>()
      for (const part of await listDueParts(sql, now, 1000)) {
        const key = JSON.stringify([part.lineId, part.sender, part.ref, part.total])
        wholes.set(key, [...(wholes.get(key) ?? []), part])
      }
      const stored: { line: Line; stored: Stored }[] = []
      for (const parts of wholes.values()) {
        const line = (await findLineEver(sql, parts[0]!.lineId))!
        const text = await join(sql, parts)
        const fresh = { ...text, providerId: text.providerId ?? ctx.newId().toUpperCase() }
        stored.push({ line, stored: await store(ctx, sql, line, [fresh], now) })
      }
      return stored
    })
    const sorted: SortedInbound = { fresh: [], repeats: 0, echoes: [], parts: 0, unacknowledged: [] }
    for (const { line, stored } of done) tell(ctx, line, sorted, stored)
  })
}

/** Stores new messages with all their effects, in one transaction. */
async function store(
  ctx: Ctx,
  sql: Sql,
  line: Line,
  items: readonly NewInbound[],
  now: number,
): Promise<Stored> {
  const messages: NewMessage[] = []
  const before: NewEvent[] = []
  const after: NewEvent[] = []
  let unrouted = 0
  if (line.kind === 'shared')
    await lockRegistrations(
      sql,
      line.id,
      items.map(({ from }) => from),
    )
  for (const item of items) {
    const approval = await approveByText(sql, line, item, now)
    const accounts = await routeTo(sql, line, item.from, now, item.group)
    if (accounts.length === 0 && !approval) unrouted++
    // On a shared line, a verification code belongs to the account that asked for it.
    for (const accountId of approval ? [approval.accountId] : accounts) {
      const known = item.group && (await groupOfChat(ctx, sql, { accountId, lineId: line.id }, item.group))
      if (known) before.push(...known.events)
      const arrival = { line, accountId, before: messages }
      const message = await toMessage(ctx, sql, arrival, item, known?.group.id ?? null, now)
      messages.push(message)
      const reaction = await reactionEvent(sql, arrival, message)
      if (reaction) after.push(reaction)
    }
    if (approval) after.push(approval)
  }
  before.push(...(await addSenders(ctx, sql, messages, now)))
  await noteSenders(sql, line, messages, now)
  const { replies, events } = await applyConsent(ctx, sql, line, messages, now)
  await appendEvents(sql, before)
  await addMessages(sql, 'message.received', messages)
  await appendEvents(sql, [...after, ...events])
  await addMessages(sql, 'message.created', replies)
  return { messages, unrouted }
}

async function toMessage(
  ctx: Ctx,
  sql: Sql,
  arrival: Arrival,
  item: NewInbound,
  groupId: string | null,
  now: number,
): Promise<NewMessage> {
  const { line, accountId } = arrival
  const reply = await replyOf(sql, arrival, item)
  return {
    ...BLANK_MESSAGE,
    handle: ctx.newId().toUpperCase(),
    accountId,
    lineId: line.id,
    lineNumber: line.number,
    contact: item.from,
    groupId,
    isOutbound: false,
    type: item.extra?.location ? 'location' : groupId === null ? 'message' : 'group',
    status: 'RECEIVED',
    service: item.service,
    content: item.content,
    mediaUrl: item.mediaUrls?.get(accountId) ?? item.mediaUrl ?? '',
    sendStyle: item.sendStyle ?? '',
    replyTo: reply?.replyTo ?? null,
    createdAt: now,
    updatedAt: now,
    sentAt: item.sentAt,
    nextActionAt: null,
    providerId: item.providerId,
    extra: await extraOf(sql, arrival, item, reply?.originator),
  }
}
