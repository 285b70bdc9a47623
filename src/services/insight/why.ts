import { firstIdAt } from '../../base/ids.js'
import { AppError } from '../../core/errors.js'
import type { Event } from '../../core/events/event.js'
import type { LineFacts, MessageFacts, QueueFacts } from '../../core/insight/why/facts.js'
import type { Story } from '../../core/insight/why/story.js'
import { tellStory } from '../../core/insight/why/why.js'
import type { Line } from '../../core/lines/line.js'
import { dayOf, lookBackOf, shareOf, windowOf } from '../../core/lines/pacing.js'
import { copyIdOf } from '../../core/media/media.js'
import { conversationOf, type Message } from '../../core/messages/message.js'
import { findEventFrom, findLastSeq, listEventsAbout } from '../../storage/events/events.js'
import { findSentOn } from '../../storage/lines/days.js'
import { findLineEver, listLineMembers } from '../../storage/lines/lines.js'
import { findLineHealth } from '../../storage/lines/states.js'
import { findMediaById } from '../../storage/media/media.js'
import { type Attempt, listAttempts, listWireTimes } from '../../storage/messages/attempts.js'
import { findHold } from '../../storage/messages/holds.js'
import { findLastHeard, findMessage, findMessagesById } from '../../storage/messages/messages.js'
import { countBefore } from '../../storage/messages/queue.js'
import { isInDoubt } from '../../storage/messages/recovery.js'
import { findPhone } from '../../storage/sim/phones.js'
import type { Delivery, DeliveryAttempt } from '../../storage/webhooks/deliveries.js'
import { listAttemptsOf, listDeliveries } from '../../storage/webhooks/log.js'
import type { Ctx } from '../ctx.js'
import { seqNear } from '../events/start.js'
import { type Actor, isWithin } from '../messages/outbound.js'

/** The story of a message, for an actor who may see it. */
export async function explainMessage(ctx: Ctx, actor: Actor, handle: string): Promise<Story> {
  return tellStory((await factsOf(ctx, actor, await visibleMessage(ctx, actor, handle))).facts)
}

/** Like `why`, with all facts behind the answer. */
export interface Timeline {
  message: Message
  story: Story
  /** Events of the message, oldest first. */
  events: Event[]
  attempts: Attempt[]
  /** Oldest first; empty for actors who may not know where webhooks go. */
  deliveries: { delivery: Delivery; posts: DeliveryAttempt[] }[]
}

export async function readTimeline(ctx: Ctx, actor: Actor, handle: string): Promise<Timeline> {
  const message = await visibleMessage(ctx, actor, handle)
  const { facts, events, attempts, deliveries } = await factsOf(ctx, actor, message)
  const shown = actor.numbers === null ? deliveries : []
  const posts = await listAttemptsOf(
    ctx.db,
    shown.map((one) => one.id),
    POSTS,
  )
  return {
    message,
    story: tellStory(facts),
    events: events.filter((event) => event.subject === handle),
    attempts,
    deliveries: shown.map((delivery) => ({
      delivery,
      posts: posts.filter((post) => post.deliveryId === delivery.id),
    })),
  }
}

async function visibleMessage(ctx: Ctx, actor: Actor, handle: string): Promise<Message> {
  const message = await findMessage(ctx.db, handle, actor.account.id)
  if (!message || !isWithin(actor, message.lineNumber))
    throw new AppError('not_found', 'There is no message with this handle')
  return message
}

const DELIVERIES = 200
const POSTS = 1000

interface Sources {
  facts: MessageFacts
  events: Event[]
  attempts: Attempt[]
  deliveries: Delivery[]
}

async function factsOf(ctx: Ctx, actor: Actor, message: Message): Promise<Sources> {
  const line = await findLineEver(ctx.db, message.lineId)
  const [attempts, events, lineNow, queue, hold, inDoubt, heard, phone, copy, newestFirst] =
    await Promise.all([
      listAttempts(ctx.db, message.id),
      eventsAround(ctx, message),
      knownLine(ctx, message, line),
      queueBefore(ctx, message),
      findHold(ctx.db, { ...message, conversation: conversationOf(message) }),
      message.nextActionAt !== null && isInDoubt(ctx.db, message.id),
      heardFrom(ctx, message),
      simulatedPhone(ctx, message, line),
      message.mediaUrl === '' ? undefined : findMediaById(ctx.db, copyIdOf(message.handle)),
      listDeliveries(ctx.db, message.accountId, { subject: message.handle }, undefined, DELIVERIES),
    ])
  const deliveries = newestFirst.deliveries.toReversed()
  const facts: MessageFacts = {
    now: ctx.clock.now(),
    message,
    attempts,
    events,
    line: lineNow,
    queue,
    hold: hold ?? null,
    isInDoubt: inDoubt,
    heard,
    phone,
    copy: copy ?? null,
    isMediaUnchecked:
      message.isOutbound &&
      message.mediaUrl !== '' &&
      line?.driver === 'simulator' &&
      line.config.media !== 'checked',
    // A token with only some lines must not learn where the account's webhooks go.
    deliveries: deliveries.map((one) => ({ ...one, url: actor.numbers === null ? one.url : null })),
  }
  return { facts, events, attempts, deliveries }
}

/** Events that one read of the log may cover: a busy account has many, and no index leads to those of one message. */
const SPAN = 5000
const OVERLAP_MS = 1000

/**
 * Reads the log around the message's creation and its last change, and the latest events, which have what came after,
 * such as a read receipt.
 */
async function eventsAround(ctx: Ctx, message: Message): Promise<Event[]> {
  const { accountId, createdAt, updatedAt, handle, lineId } = message
  const last = await findLastSeq(ctx.db, accountId)
  const oldest = (await findEventFrom(ctx.db, accountId, 1))?.seq
  if (oldest === undefined) return []
  const near = (time: number) => seqNear(ctx, accountId, time - OVERLAP_MS, oldest, last)
  const starts = [await near(createdAt), await near(updatedAt), last - SPAN + 1]
  const subjects = [handle, lineId, conversationOf(message)]
  const found = new Map<number, Event>()
  let readTo = starts[0]! - 1
  for (const start of starts) {
    const from = Math.max(start, readTo + 1)
    const to = Math.min(start + SPAN - 1, last)
    if (from > to) continue
    for (const event of await listEventsAbout(ctx.db, accountId, subjects, from, to))
      found.set(event.seq, event)
    readTo = to
  }
  return [...found.values()]
}

async function knownLine(ctx: Ctx, message: Message, line: Line | undefined): Promise<LineFacts> {
  const health = await findLineHealth(ctx.db, message.lineId)
  const { dailyLimit: limit, ...rate } = line ?? { pace: 0, paceUnit: 'second' as const, dailyLimit: 0 }
  const { pace, paceUnit } = rate
  const members = line?.kind === 'shared' && limit > 0 ? await listLineMembers(ctx.db, line.id) : []
  const dailyLimit = limit === 0 ? 0 : shareOf(limit, members.length)
  const sent =
    limit === 0 ? new Map<string, number>() : await findSentOn(ctx.db, message.lineId, dayOf(ctx.clock.now()))
  const sentByAll = [...sent.values()].reduce((sum, n) => sum + n, 0)
  const since = ctx.clock.now() - lookBackOf(rate)
  const recent =
    pace === 0 || message.nextActionAt === null
      ? []
      : (await listWireTimes(ctx.db, message.lineId, firstIdAt(since))).filter((at) => at > since)
  return {
    state: health?.state ?? null,
    detail: health?.detail ?? null,
    since: health?.changedAt ?? null,
    blockedAt: line?.blockedAt ?? null,
    pace,
    paceUnit,
    isAtPace: pace > 0 && recent.length >= windowOf(rate).size,
    dailyLimit,
    isShared: members.length > 1,
    isAtDailyLimit: limit > 0 && (sentByAll >= limit || (sent.get(message.accountId) ?? 0) >= dailyLimit),
  }
}

/** Waiting messages ahead of it that are examined. */
const LOOKED_AT = 5000

async function queueBefore(ctx: Ctx, message: Message): Promise<QueueFacts> {
  if (message.nextActionAt === null) return { inConversation: 0, firstHandle: null, onLine: 0 }
  const { firstId, ...before } = await countBefore(ctx.db, message, conversationOf(message), LOOKED_AT)
  const first = firstId === null ? undefined : (await findMessagesById(ctx.db, [firstId])).get(firstId)
  const isVisible = first && first.deletedAt === null
  return { ...before, firstHandle: isVisible ? first.handle : null }
}

async function heardFrom(ctx: Ctx, message: Message): Promise<MessageFacts['heard']> {
  if (!message.isOutbound || message.service !== 'WhatsApp') return null
  const [before, last] = await Promise.all([
    findLastHeard(ctx.db, message, message.createdAt),
    findLastHeard(ctx.db, message, ctx.clock.now()),
  ])
  return { before, last }
}

/** Only a simulated network shows the other side. */
async function simulatedPhone(
  ctx: Ctx,
  message: Message,
  line: Line | undefined,
): Promise<{ power: boolean } | null> {
  if (line?.driver !== 'simulator' || message.groupId !== null) return null
  return (await findPhone(ctx.db, message.accountId, message.contact)) ?? null
}
