import { inTime, inTimeEach } from '../../../base/in-time.js'
import { createKeyedTurns } from '../../../base/turns.js'
import { AppError } from '../../../core/errors.js'
import type { Line } from '../../../core/lines/line.js'
import { urlFault } from '../../../core/url.js'
import type { Inbound } from '../../../drivers/inbound.js'
import { isCurrent } from '../../../storage/lines/lines.js'
import { listInbound } from '../../../storage/messages/messages.js'
import type { Ctx } from '../../ctx.js'
import { keepMedia, rehost, takeMedia, urlOf } from '../../media/media.js'
import { ownerOf } from './owner.js'

/** Longer than any built-in driver takes; a driver that never gives up is cut off. */
const PATIENCE = { openMs: 20 * 60_000, pieceMs: 5 * 60_000 }

/**
 * Stores the media of inbound messages before the messages, so that a client that is told of a message can fetch its
 * media. Only later messages of the same sender wait. A message whose media cannot be fetched is stored with the
 * original address.
 */
export function withMedia(
  ctx: Ctx,
  line: Line,
  patience = PATIENCE,
): (message: Inbound, store: (message: Inbound) => Promise<void>) => Promise<void> {
  const senders = createKeyedTurns()

  async function takeOver(message: Inbound): Promise<Inbound> {
    const { mediaUrl: url = '', media, providerId, fromMe } = message
    if ((!url && !media) || fromMe) return message
    if (providerId && (await listInbound(ctx.db, line.id, providerId)).length > 0) return message
    const accountId = await ownerOf(ctx.db, line, message.from, message.group)
    if (!accountId) return message
    try {
      return {
        ...message,
        mediaUrl: await (media
          ? keep(ctx, accountId, line, media, patience)
          : rehost(ctx, accountId, url, line)),
      }
    } catch (error) {
      // A fault of ours is temporary: the carrier was not acknowledged and delivers the message again.
      if (error instanceof AppError && error.code === 'unavailable') throw error
      const reason = error instanceof AppError ? error.message : 'it could not be stored'
      // Media of a world that was reset or removed is gone with it, and so is the message.
      if (await isCurrent(ctx.db, line))
        ctx.log.warn({ line: line.id, reason }, 'inbound media stays where it is')
      // A URL that the guarded door refuses is not passed on either.
      return { ...message, mediaUrl: url && !urlFault(url, ctx.urlRules) ? url : '' }
    }
  }

  return (message, store) => {
    if (!message.mediaUrl && !message.media && !senders.isBusy(message.from)) return store(message)
    return ctx.errand(() => senders.inTurn(message.from, async () => store(await takeOver(message))))
  }
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
