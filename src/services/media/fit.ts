import { createFairTurns } from '../../base/turns.js'
import { AppError } from '../../core/errors.js'
import { classify, imageType, kindOf, SNIFF_BYTES } from '../../core/media/file-kind.js'
import { largestOf, MEDIA_FAULT, type MediaLimits, sizeWords } from '../../core/media/limits.js'
import { copyIdOf, MAX_MEDIA_BYTES, type Media } from '../../core/media/media.js'
import type { NewMessage } from '../../core/messages/message.js'
import type { SendResult } from '../../core/messages/outcome.js'
import { findMediaById } from '../../storage/media/media.js'
import type { Ctx } from '../ctx.js'
import { NotFetched } from '../webhooks/door/failure.js'
import { keepMedia, MediaExists, openUrl, ownMedia, takeMedia, urlOf } from './media.js'
import { removeMedia } from './retention.js'
import { MAX_SHRINK_BYTES } from './shrink.js'

/** The media of a message as its carrier takes it, or the result of a send that must not leave. */
export type Fit = { mediaUrl: string } | { result: SendResult }

export type MediaMessage = Pick<NewMessage, 'handle' | 'accountId' | 'mediaUrl'>

/** Time limit for fetching a file: its conversation waits. */
const FETCH_MS = 15_000
/** Files that this process examines at once, one per account before another gets its second. */
const AT_ONCE = 4
const inTurn = createFairTurns(AT_ONCE)

/**
 * Compares the media of a message with the limits of its carrier, before the message is on the wire. An image that is
 * too large gets a smaller copy, one for each message however often this is repeated. Never throws.
 */
export async function fitMedia(ctx: Ctx, message: MediaMessage, limits: MediaLimits): Promise<Fit> {
  try {
    const copy = await usableCopy(ctx, message, limits)
    return { mediaUrl: copy ?? (await inTurn(message.accountId, () => fitted(ctx, message, limits))) }
  } catch (error) {
    return { result: resultOf(ctx, error) }
  }
}

function resultOf(ctx: Ctx, error: unknown): SendResult {
  const isPassing = error instanceof NotFetched || !(error instanceof AppError) || error.code !== 'invalid'
  if (!(error instanceof AppError))
    ctx.log.warn({ err: error }, 'the media of a message could not be examined')
  const words = error instanceof AppError ? error.message : 'could not be examined'
  return { outcome: isPassing ? 'never-left' : 'refused', code: MEDIA_FAULT, detail: `The media ${words}` }
}

/** The copy that an earlier attempt or another process made. A copy for other limits is removed. */
async function usableCopy(ctx: Ctx, { handle }: MediaMessage, limits: MediaLimits) {
  const copy = await findMediaById(ctx.db, copyIdOf(handle))
  if (!copy) return undefined
  if (copy.size <= largestOf(limits, kindOf(copy.extension).type)) return urlOf(ctx, copy)
  await removeMedia(ctx, [copy.name])
  return undefined
}

async function fitted(ctx: Ctx, message: MediaMessage, limits: MediaLimits): Promise<string> {
  const own = await ownMedia(ctx, message.mediaUrl)
  if (own && own.size <= largestOf(limits, kindOf(own.extension).type)) return message.mediaUrl
  const file = await readFile(ctx, message.mediaUrl, limits, own)
  if (file.size <= largestOf(limits, file.type)) return message.mediaUrl
  if (!imageType(file.body)) throw refusal(file, limits, 'Send another file.')
  if (file.size > MAX_SHRINK_BYTES)
    throw refusal(file, limits, `Images of up to ${sizeWords(MAX_SHRINK_BYTES)} are made smaller.`)
  const small = await ctx.shrink(message.accountId, file.body, limits).catch((error) => {
    throw error instanceof AppError ? refusal(file, limits, `It ${error.message}`) : error
  })
  return storeCopy(ctx, message, small)
}

interface ReadFile {
  type: string
  /** At least this many bytes: a file that cannot be used is not read to its end. */
  size: number
  isWhole: boolean
  /** The whole file, if it may be used. */
  body: Buffer
}

/** Reads a file as far as the decision needs it. */
async function readFile(
  ctx: Ctx,
  url: string,
  limits: MediaLimits,
  own: Media | undefined,
): Promise<ReadFile> {
  const opened = await openUrl(ctx, url, { maxBytes: MAX_MEDIA_BYTES, timeoutMs: FETCH_MS })
  const chunks: Buffer[] = []
  let start: Buffer = Buffer.alloc(0)
  let size = 0
  let isWhole = true
  for await (const chunk of opened.body) {
    chunks.push(chunk)
    size += chunk.length
    if (start.length < SNIFF_BYTES) start = Buffer.concat([start, chunk.subarray(0, SNIFF_BYTES)])
    if (size > mostOf(start, largestOf(limits, typeOf(start)))) {
      isWhole = false
      break
    }
  }
  return {
    type: typeOf(start),
    size: own?.size ?? size,
    isWhole: isWhole || !!own,
    body: Buffer.concat(chunks),
  }

  function typeOf(bytes: Buffer): string {
    return classify(bytes, opened.contentType, opened.fileName).type
  }
}

/** How many bytes of a file are of use. */
function mostOf(start: Buffer, limit: number): number {
  return imageType(start) ? Math.max(limit, MAX_SHRINK_BYTES) : limit
}

function refusal({ type, size, isWhole }: ReadFile, limits: MediaLimits, advice: string): AppError {
  const limit = largestOf(limits, type)
  if (limit === 0)
    return new AppError('invalid', `is ${type}, which the carrier of this line does not take. ${advice}`)
  const measure = isWhole ? sizeWords(size) : `more than ${sizeWords(limit)}`
  const most = `the carrier of this line takes at most ${sizeWords(limit)} of it`
  return new AppError('invalid', `is ${measure} of ${type}; ${most}. ${advice}`)
}

async function storeCopy(ctx: Ctx, { handle, accountId }: MediaMessage, small: Buffer): Promise<string> {
  const id = copyIdOf(handle)
  const body = (async function* () {
    yield small
  })()
  const draft = await takeMedia(ctx, accountId, 'inbound', { body, contentType: '', fileName: '' }, id)
  try {
    return urlOf(ctx, await keepMedia(ctx, draft))
  } catch (error) {
    // Another process made the copy at the same time.
    const theirs = error instanceof MediaExists ? await findMediaById(ctx.db, id) : undefined
    if (!theirs) throw error
    return urlOf(ctx, theirs)
  }
}
