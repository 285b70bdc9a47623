import { inTime, inTimeEach } from '../../../base/in-time.js'
import { urlRules } from '../../../config.js'
import { AppError } from '../../../core/errors.js'
import type { Line } from '../../../core/lines/line.js'
import { urlFault } from '../../../core/url.js'
import type { Inbound } from '../../../drivers/inbound.js'
import { findInbound } from '../../../storage/messages/messages.js'
import { createTurns } from '../../batch.js'
import type { Ctx } from '../../ctx.js'
import { keepMedia, rehost, takeMedia, urlOf } from '../../media/media.js'
import { ownerOf } from './owner.js'

/** Longer than any driver of ours tries; the rest is for those that never give up. */
const PATIENCE = { openMs: 20 * 60_000, pieceMs: 5 * 60_000 }

/**
 * Takes over the media of inbound messages before they are stored, so that whoever hears of a message can read
 * its media. Meanwhile only later messages of the same person wait. A message whose media cannot be had is stored
 * all the same, with the address it came with.
 */
export function withMedia(
  ctx: Ctx,
  line: Line,
  patience = PATIENCE,
): (message: Inbound, store: (message: Inbound) => Promise<void>) => Promise<void> {
  const busy = new Map<string, { inTurn: ReturnType<typeof createTurns>; waiting: number }>()

  async function takeOver(message: Inbound): Promise<Inbound> {
    const { mediaUrl: url = '', media, providerId, fromMe } = message
    if ((!url && !media) || fromMe) return message
    if (providerId && (await findInbound(ctx.db, line.id, providerId))) return message
    const accountId = await ownerOf(ctx.db, line, message.from, message.group)
    if (!accountId) return message
    try {
      return {
        ...message,
        mediaUrl: await (media ? keep(ctx, accountId, media, patience) : rehost(ctx, accountId, url)),
      }
    } catch (error) {
      // Our own trouble passes: the carrier still has the message and brings it again.
      if (error instanceof AppError && error.code === 'unavailable') throw error
      const reason = error instanceof AppError ? error.message : 'it could not be stored'
      ctx.log.warn({ line: line.id, reason }, 'inbound media stays where it is')
      // An address that we would not call is none to hand on.
      return { ...message, mediaUrl: url && !urlFault(url, urlRules(ctx.config)) ? url : '' }
    }
  }

  return (message, store) => {
    const before = busy.get(message.from)
    if (!message.mediaUrl && !message.media && !before) return store(message)
    const person = before ?? { inTurn: createTurns(), waiting: 0 }
    busy.set(message.from, person)
    person.waiting++
    const stored = person.inTurn(async () => store(await takeOver(message)))
    return ctx
      .errand(() => stored)
      .finally(() => {
        if (--person.waiting === 0) busy.delete(message.from)
      })
  }
}

/** A driver that never comes to an end would hold up its person's messages for ever. */
async function keep(
  ctx: Ctx,
  accountId: string,
  media: NonNullable<Inbound['media']>,
  { openMs, pieceMs }: typeof PATIENCE,
): Promise<string> {
  const opened = await inTime(media(), openMs, 'the media was not opened')
  const body = inTimeEach(opened.body, pieceMs)
  const draft = await takeMedia(ctx, accountId, 'inbound', { ...opened, body })
  return urlOf(ctx, await keepMedia(ctx, draft))
}
