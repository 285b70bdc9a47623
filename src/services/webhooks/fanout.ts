import type { Account } from '../../core/accounts/account.js'
import type { Event } from '../../core/events/event.js'
import { isAboutMessage } from '../../core/events/message-events.js'
import type { Group } from '../../core/groups/group.js'
import type { Message, NewMessage } from '../../core/messages/message.js'
import { isPosted, type PostedEvent, type WebhookType, webhookTypeOf } from '../../core/webhooks/types.js'
import { callbackLane, type WebhookEndpoint, webhookIdOf } from '../../core/webhooks/webhook.js'
import { MissingValue } from '../../storage/engine/db.js'
import { listEvents } from '../../storage/events/events.js'
import { listGone, requireKept } from '../../storage/messages/messages.js'
import { insertDeliveries, type NewDelivery } from '../../storage/webhooks/deliveries.js'
import { moveFeed, type WebhookFeed } from '../../storage/webhooks/feeds.js'
import type { Ctx } from '../ctx.js'
import { findSubjects } from '../events/subjects.js'
import { currentEndpointsOf } from './webhooks.js'

/** An event with the objects that its webhook body is made from. */
export interface WebhookSource {
  event: PostedEvent
  webhookId: string
  account: Account
  message?: Omit<Message, 'id'>
  group?: Group
}

/** The webhook body of an event, and its line. Undefined if its message was deleted. */
export type RenderWebhook = (source: WebhookSource) => { body: object; lineNumber: string | null } | undefined

export interface FanOut {
  feed: WebhookFeed
  /** The lanes of the new deliveries. */
  lanes: string[]
  /** Number of new deliveries. */
  added: number
  more: boolean
}

/**
 * Turns the next events of an account into deliveries. The deliveries and the position in the log are written
 * together, so each event becomes exactly one delivery for each of its receivers. The transactions that write events
 * know nothing of receivers.
 */
export async function fanOut(
  ctx: Ctx,
  feed: WebhookFeed,
  render: RenderWebhook,
): Promise<FanOut | undefined> {
  const { accountId } = feed
  const most = ctx.portion()
  const events = await listEvents(ctx.db, accountId, feed.seq, most)
  const last = events.at(-1)
  if (!last) return { feed, lanes: [], added: 0, more: false }
  const account = await ctx.directory.account(accountId)
  const made = account ? await deliveriesOf(ctx, account, events, render) : []
  ctx.failpoint('webhook.before_fanout')
  const handles = new Set(events.filter(isAboutMessage).map(({ subject }) => subject))
  const wanted = await saveKept(ctx, feed, last.seq, made, handles)
  ctx.failpoint('webhook.after_fanout')
  if (!wanted) return undefined
  const lanes = [...new Set(wanted.map(({ lane }) => lane))]
  return { feed: { accountId, seq: last.seq }, lanes, added: wanted.length, more: events.length === most }
}

/**
 * Saves deliveries with the new position of the feed, in one step that nobody waits for; without those of deleted
 * messages. Undefined if another process has moved the feed.
 */
async function saveKept(
  ctx: Ctx,
  { accountId, seq }: WebhookFeed,
  to: number,
  made: readonly NewDelivery[],
  handles: ReadonlySet<string>,
): Promise<readonly NewDelivery[] | undefined> {
  for (let wanted = made; ; ) {
    const posted = [...new Set(wanted.map(({ subject }) => subject))].filter((subject) =>
      handles.has(subject),
    )
    try {
      await ctx.db.write(async (sql) => {
        await moveFeed(sql, accountId, seq, to)
        // After the feed's lock, for which a deletion or removal waits, so none goes unseen.
        await requireKept(sql, posted)
        await insertDeliveries(sql, wanted)
      })
      return wanted
    } catch (error) {
      if (!(error instanceof MissingValue)) throw error
      const gone = new Set(await listGone(ctx.db, posted))
      if (gone.size === 0) return undefined
      wanted = wanted.filter(({ subject }) => !gone.has(subject))
    }
  }
}

async function deliveriesOf(
  ctx: Ctx,
  account: Account,
  events: readonly Event[],
  render: RenderWebhook,
): Promise<NewDelivery[]> {
  const endpoints = new Map<WebhookType, WebhookEndpoint[]>()
  for (const endpoint of await currentEndpointsOf(ctx, account.id)) {
    endpoints.set(endpoint.type, [...(endpoints.get(endpoint.type) ?? []), endpoint])
  }
  const sources = await withSubjects(
    ctx,
    account,
    events.filter(isPosted).filter(({ type }) => {
      const posted = webhookTypeOf(type)
      // An outbound message may have a status callback.
      return posted === 'outbound' || endpoints.has(posted)
    }),
    recentMessages(ctx, events),
  )
  const now = ctx.clock.now()
  const lanes = new Map<string, string>()
  return sources.flatMap((source): NewDelivery[] => {
    const { event, message } = source
    const type = webhookTypeOf(event.type)
    const callback = type === 'outbound' ? message?.statusCallback : null
    const listeners = endpoints.get(type) ?? []
    const rendered = callback || listeners.length > 0 ? render(source) : undefined
    if (!rendered) return []
    const { lineNumber } = rendered
    const body = JSON.stringify(rendered.body)
    const delivery = {
      accountId: account.id,
      eventSeq: event.seq,
      eventType: event.type,
      subject: event.subject,
      body,
      nextAt: now,
      createdAt: now,
    }
    const made: NewDelivery[] = listeners
      .filter(({ numbers }) => !numbers || (lineNumber !== null && numbers.includes(lineNumber)))
      .map(({ id, url }) => ({ ...delivery, lane: id, endpointId: id, type, url }))
    if (callback) {
      const lane = lanes.get(callback) ?? callbackLane(account.id, callback)
      lanes.set(callback, lane)
      made.push({ ...delivery, lane, endpointId: null, type: 'status_callback', url: callback })
    }
    return made
  })
}

/** Messages that this process has just accepted and need not read. */
function recentMessages(ctx: Ctx, events: readonly Event[]): Map<string, NewMessage> {
  const known = new Map<string, NewMessage>()
  for (const { subject } of events) {
    const message = ctx.acceptance.recent(subject)
    if (message?.groupId === null) known.set(subject, message)
  }
  return known
}

export async function withSubjects(
  ctx: Ctx,
  account: Account,
  events: readonly PostedEvent[],
  known: ReadonlyMap<string, NewMessage> = new Map(),
): Promise<WebhookSource[]> {
  const { messages, groups } = await findSubjects(
    ctx.db,
    events.filter(({ subject }) => !known.has(subject)),
  )
  return events.map((event) => {
    const message = isAboutMessage(event)
      ? (messages.get(event.subject) ?? known.get(event.subject))
      : undefined
    const webhookId = webhookIdOf(event, ctx.db.incarnations)
    return { event, webhookId, account, message, group: groups.get(message?.groupId ?? '') }
  })
}
