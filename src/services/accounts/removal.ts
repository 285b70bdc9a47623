import { isRemovable, type RetentionName } from '../../core/accounts/retention.js'
import { findEventFrom } from '../../storage/events/events.js'
import { listOldMediaOf } from '../../storage/media/media.js'
import { countMessages } from '../../storage/messages/messages.js'
import {
  listUnchanged,
  lockFreeMessages,
  removeAttempts,
  removeMessages,
} from '../../storage/messages/removal.js'
import { findFeed, lockFeed } from '../../storage/webhooks/feeds.js'
import {
  eraseDeliveries,
  listAwaited,
  listOldDeliveries,
  removeDeliveries,
} from '../../storage/webhooks/log.js'
import type { Ctx } from '../ctx.js'
import { dropOldest } from '../events/retention.js'
import { findNeededMedia, removeMedia } from '../media/retention.js'

/** A row's place in the order of removal: its time, then its id. */
export interface Place {
  at: number
  id: number | string
}

/** What one transaction has removed. */
export interface RemovedSlice {
  removed: number
  /** The last row that was looked at. */
  place: Place
  /** Whether no further row is over its time. */
  isDone: boolean
}

/** Removes rows of an account up to a time, from a place on, in a transaction of its own. */
type RemoveSlice = (ctx: Ctx, accountId: string, until: number, from: Place) => Promise<RemovedSlice>

/** Each of them has a message, an attempt and 9 indexes, or a delivery with its body. */
const AT_ONCE = 100
const MEDIA_AT_ONCE = 20

/** What a policy removes, by the policy's name. Rows that are under way are left out and looked at again later. */
export const REMOVALS = {
  messages: { policy: 'messages', remove: removeOldMessages },
  media: { policy: 'media', remove: removeOldMedia },
  events: { policy: 'events', remove: removeOldEvents },
  attempts: { policy: 'attempts', remove: removeOldAttempts },
  deliveries: { policy: 'attempts', remove: removeOldDeliveries },
} as const satisfies Record<string, { policy: RetentionName; remove: RemoveSlice }>

async function removeOldMessages(ctx: Ctx, accountId: string, until: number, from: Place) {
  const feed = await findFeed(ctx.db, accountId)
  // Webhooks are made from the message: it stays while events from its time wait.
  const unposted = feed && (await findEventFrom(ctx.db, accountId, feed.seq + 1))
  const before = unposted ? Math.min(until, unposted.at - 1) : until
  const { page, old } = await pageOf(ctx, accountId, before, from)
  if (old.length === 0) return sliceOf(page, from, 0)
  const now = ctx.clock.now()
  const removed = await ctx.db.tx(async (sql) => {
    const free = (await lockFreeMessages(sql, old)).filter((message) => isRemovable(message, before, now))
    const awaited = new Set(
      feed
        ? await listAwaited(
            sql,
            accountId,
            free.map(({ handle }) => handle),
          )
        : [],
    )
    const messages = free.filter(({ handle }) => !awaited.has(handle))
    if (messages.length === 0) return 0
    await removeMessages(
      sql,
      messages.map(({ id }) => id),
    )
    if (feed) {
      const handles = messages.map(({ handle }) => handle)
      // With the commit, after deliveries that are being made from these messages; none is made after it.
      await sql.atCommit(async (last) => {
        await lockFeed(last, accountId)
        await eraseDeliveries(last, accountId, handles, now)
      })
    }
    await countMessages(
      sql,
      messages.filter(({ deletedAt }) => deletedAt === null),
      -1,
    )
    return messages.length
  })
  return sliceOf(page, from, removed)
}

async function removeOldAttempts(ctx: Ctx, accountId: string, until: number, from: Place) {
  const { page, old } = await pageOf(ctx, accountId, until, from)
  const removed = old.length === 0 ? 0 : await ctx.db.tx((sql) => removeAttempts(sql, old))
  return sliceOf(page, from, removed)
}

/** A page of messages in the order of their last changes, and the ids of those for which nothing is under way. */
async function pageOf(ctx: Ctx, accountId: string, until: number, from: Place) {
  const after = { at: from.at, id: Number(from.id) }
  const messages = await listUnchanged(ctx.db.aside(accountId), accountId, until, after, AT_ONCE)
  const now = ctx.clock.now()
  return {
    page: messages.map(({ id, updatedAt: at }) => ({ at, id })),
    old: messages.filter((message) => isRemovable(message, until, now)).map(({ id }) => id),
  }
}

async function removeOldDeliveries(ctx: Ctx, accountId: string, until: number, from: Place) {
  const after = { createdAt: from.at, id: Number(from.id) }
  const rows = await listOldDeliveries(ctx.db.aside(accountId), accountId, until, after, AT_ONCE)
  const ended = rows.filter(({ nextAt }) => nextAt === null).map(({ id }) => id)
  const removed = ended.length === 0 ? 0 : await ctx.db.tx((sql) => removeDeliveries(sql, ended))
  const page = rows.map(({ id, createdAt: at }) => ({ at, id }))
  return sliceOf(page, from, removed)
}

async function removeOldMedia(ctx: Ctx, accountId: string, until: number, from: Place) {
  const after = { at: from.at, name: String(from.id) }
  const rows = await listOldMediaOf(ctx.db, accountId, until, after, MEDIA_AT_ONCE)
  const needed = rows.length > 0 ? await findNeededMedia(ctx, accountId) : new Set()
  const names = rows.map(({ name }) => name).filter((name) => !needed.has(name))
  if (names.length > 0) await removeMedia(ctx, names)
  const page = rows.map(({ at, name: id }) => ({ at, id }))
  return sliceOf(page, from, names.length, MEDIA_AT_ONCE)
}

async function removeOldEvents(ctx: Ctx, accountId: string, until: number) {
  const { removed, at, isDone } = await dropOldest(ctx, accountId, until + 1)
  return { removed, place: { at, id: 0 }, isDone }
}

function sliceOf(page: readonly Place[], from: Place, removed: number, limit = AT_ONCE): RemovedSlice {
  return { removed, place: page.at(-1) ?? from, isDone: page.length < limit }
}
