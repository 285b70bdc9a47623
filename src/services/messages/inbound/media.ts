import { inTime, inTimeEach } from '../../../base/in-time.js'
import { createKeyedTurns } from '../../../base/turns.js'
import { AppError } from '../../../core/errors.js'
import type { Line } from '../../../core/lines/line.js'
import { urlFault } from '../../../core/url.js'
import type { Inbound } from '../../../drivers/inbound.js'
import { isCurrent } from '../../../storage/lines/lines.js'
import { listInbound } from '../../../storage/messages/messages.js'
import type { Ctx } from '../../ctx.js'
import { keepMedia, mediaRoom, rehost, takeMedia, urlOf } from '../../media/media.js'
import { ownersOf } from './owner.js'

/** Longer than any built-in driver takes; a driver that never gives up is cut off. */
const PATIENCE = { openMs: 20 * 60_000, pieceMs: 5 * 60_000 }

/** A message whose media is in store: a copy for each account, so that no account's store or removal is another's. */
export type HousedInbound = Inbound & { mediaUrls?: ReadonlyMap<string, string> }

/**
 * Stores the media of inbound messages before the messages, so that a client that is told of a message can fetch its
 * media. Only later messages of the same sender wait. A message whose media cannot be fetched is stored with the
 * original address.
 */
export function withMedia(
  ctx: Ctx,
  line: Line,
  patience = PATIENCE,
): (message: Inbound, store: (message: HousedInbound) => Promise<void>) => Promise<void> {
  const senders = createKeyedTurns()

  async function takeOver(message: Inbound): Promise<HousedInbound> {
    const { mediaUrl: url = '', media, providerId, fromMe } = message
    if ((!url && !media) || fromMe) return message
    if (providerId && (await listInbound(ctx.db, line.id, providerId)).length > 0) return message
    const accounts = await ownersOf(ctx.db, line, message.from, message.group)
    if (accounts.length === 0) return message
    // The account with the most room first: the driver opens its media only once.
    const [first, ...others] = accounts.length === 1 ? accounts : await byRoom(ctx, accounts)
    const mediaUrl = await housed(first!, url, () =>
      media ? keep(ctx, first!, line, media, patience) : rehost(ctx, first!, url, line),
    )
    const mediaUrls = new Map([[first!, mediaUrl]])
    for (const account of others)
      mediaUrls.set(
        account,
        mediaUrl === '' ? '' : await housed(account, url, () => rehost(ctx, account, mediaUrl, line)),
      )
    return { ...message, mediaUrl, mediaUrls }
  }

  /** The URL of the stored copy, or the original address if it cannot be stored. */
  async function housed(accountId: string, url: string, store: () => Promise<string>): Promise<string> {
    try {
      return await store()
    } catch (error) {
      // A fault of ours is temporary: the carrier was not acknowledged and delivers the message again.
      if (error instanceof AppError && error.code === 'unavailable') throw error
      const reason = error instanceof AppError ? error.message : 'it could not be stored'
      // Media of a world that was reset or removed is gone with it, and so is the message.
      if (await isCurrent(ctx.db, line))
        ctx.log.warn({ line: line.id, account: accountId, reason }, 'inbound media stays where it is')
      // A URL that the guarded door refuses is not passed on either.
      return url && !urlFault(url, ctx.urlRules) ? url : ''
    }
  }

  return (message, store) => {
    if (!message.mediaUrl && !message.media && !senders.isBusy(message.from)) return store(message)
    return ctx.errand(() => senders.inTurn(message.from, async () => store(await takeOver(message))))
  }
}

async function byRoom(ctx: Ctx, accounts: readonly string[]): Promise<string[]> {
  const rooms = new Map<string, number>()
  for (const id of accounts) rooms.set(id, (await mediaRoom(ctx, id)).room)
  return accounts.toSorted((a, b) => rooms.get(b)! - rooms.get(a)!)
}

/** A driver that never finishes would block the sender's messages for ever. */
async function keep(
  ctx: Ctx,
  accountId: string,
  line: Line,
  media: NonNullable<Inbound['media']>,
  { openMs, pieceMs }: typeof PATIENCE,
): Promise<string> {
  const opened = await inTime(media(), openMs, 'the media was not opened')
  const body = inTimeEach(opened.body, pieceMs)
  const draft = await takeMedia(ctx, accountId, 'inbound', { ...opened, body })
  return urlOf(ctx, await keepMedia(ctx, draft, line))
}
