import { firstIdAt } from '../../base/ids.js'
import { storable } from '../../base/storable.js'
import { createTurns } from '../../base/turns.js'
import { typingEvent } from '../../core/lines/events.js'
import { topics } from '../../core/topics.js'
import type { DriverHost } from '../../drivers/host.js'
import { appendEvents } from '../../storage/events/events.js'
import { findCursor, saveCursor } from '../../storage/lines/cursors.js'
import { requireCurrent } from '../../storage/lines/lines.js'
import { listUnmatchedReceipts } from '../../storage/messages/receipts.js'
import { findSends, listOpenSends } from '../../storage/messages/sends.js'
import { takeCall } from '../calls/carrier-calls.js'
import { optedOutAtCarrier } from '../contacts/consent.js'
import type { Ctx } from '../ctx.js'
import { recordGroupNews } from '../groups/state.js'
import { openMedia } from '../media/out.js'
import type { DispatchLine } from '../messages/dispatch-line.js'
import { ownerOf } from '../messages/inbound/owner.js'
import { blockedByCarrier } from './blocks.js'
import type { LineHttpClient } from './http.js'

const OPEN_SENDS_MS = 24 * 3_600_000
/** Without further news, typing counts as stopped after this time. */
const TYPING_MS = 60_000
export const CALLBACK = 'callback'

/** The part of a driver's host that does not need the line's runner. */
export function hostFor(
  ctx: Ctx,
  { line, lease }: Pick<DispatchLine, 'line' | 'lease'>,
  client: LineHttpClient,
): Omit<DriverHost, 'receive' | 'acknowledged' | 'receipt' | 'read' | 'state'> {
  const typing = new Map<string, () => void>()
  /** Saves on two connections of the database could land in the wrong order. */
  const inTurn = createTurns()
  /** Part of the callback URL, which drivers ask for with every send. */
  let secret: string | undefined

  async function tellTyping(from: string, isTyping: boolean) {
    await ctx.db.tx(async (sql) => {
      const accountId = await ownerOf(sql, line, from)
      if (!accountId) return
      await appendEvents(sql, [typingEvent(accountId, line, from, isTyping, ctx.clock.now())])
      await requireCurrent(sql, [line])
    })
  }

  return {
    group: (news) => recordGroupNews(ctx, line, storable(news)),
    async typing(news) {
      const { from, isTyping } = storable(news)
      const known = typing.get(from)
      known?.()
      typing.delete(from)
      if (isTyping)
        typing.set(
          from,
          ctx.clock.after(TYPING_MS, () => {
            typing.delete(from)
            void ctx.errand(() => tellTyping(from, false).catch(() => {}))
          }),
        )
      if (isTyping !== (known !== undefined)) await tellTyping(from, isTyping)
    },
    locationsChanged: () => ctx.wakes.wake(topics.places(line.id)),
    call: (news) => takeCall(ctx, line, news),
    optedOut: ({ number }) => optedOutAtCarrier(ctx, line, storable(number)),
    blocked: (detail) => blockedByCarrier(ctx, line, storable(detail)),
    cursor: {
      load: () => findCursor(ctx.db, line.id),
      save: (value) => inTurn(() => saveCursor(ctx.db, lease, value)),
    },
    media: (url, only) => openMedia(ctx, url, only),
    openSends: ({ unread = false } = {}) =>
      listOpenSends(ctx.db, line.id, firstIdAt(ctx.clock.now() - OPEN_SENDS_MS), unread),
    parkedReceipts: () => listUnmatchedReceipts(ctx.db, line.id, ctx.clock.now() - OPEN_SENDS_MS),
    knownSends: async (ids) => [...(await findSends(ctx.db, line.id, ids)).keys()],
    ring: () => ctx.wakes.wake(topics.ring(line.id)),
    callbackUrl() {
      const base = ctx.publicUrl()
      secret ??= ctx.vault.sign(CALLBACK, line.id)
      return base && `${base}/callbacks/${line.id}/${secret}`
    },
    http: client.http,
    clock: ctx.clock,
    log: ctx.log,
  }
}
