import { createHash } from 'node:crypto'
import { DEFAULT_LIMITS, overBudget } from '../../core/accounts/budgets.js'
import { AppError } from '../../core/errors.js'
import type { Line } from '../../core/lines/line.js'
import { classify, SNIFF_BYTES } from '../../core/media/file-kind.js'
import {
  keptMs,
  MAX_MEDIA_BYTES,
  MEDIA_NAME_LENGTH,
  type Media,
  type MediaSource,
  mediaUrl,
  parseMediaUrl,
} from '../../core/media/media.js'
import { findTotal } from '../../storage/accounts/budgets.js'
import { CommitUnknown, type Sql } from '../../storage/engine/db.js'
import { requireCurrent } from '../../storage/lines/lines.js'
import type { NewBlob } from '../../storage/media/blobs.js'
import { findMedia, insertMedia } from '../../storage/media/media.js'
import { requireAccount } from '../accounts/present.js'
import type { Ctx } from '../ctx.js'
import type { Limits, RemoteFile } from '../webhooks/door/get.js'

/** A stream of bytes, with its claimed type and name. */
export interface FileStream {
  body: AsyncIterable<Buffer>
  contentType: string
  fileName: string
}

/** Media whose bytes are on disk, without a row yet. A transaction keeps it, or it is discarded. */
export interface MediaDraft {
  media: Media
  /** Hash of the bytes. */
  digest: string
  keep(sql: Sql): Promise<void>
  discard(): Promise<void>
}

/** There is media with the id of a draft. */
export class MediaExists extends Error {}

/** How many bytes of media an account may store, and how many more. */
export async function mediaRoom(ctx: Ctx, accountId: string): Promise<{ limit: number; room: number }> {
  const { media: limit } = (await ctx.directory.account(accountId))?.limits ?? DEFAULT_LIMITS
  return { limit, room: limit - (await findTotal(ctx.db, accountId, 'media')) }
}

/** Writes a stream to disk without holding it in memory. */
export async function takeMedia(
  ctx: Ctx,
  accountId: string,
  source: MediaSource,
  incoming: FileStream,
  id = ctx.newId(),
): Promise<MediaDraft> {
  // Inbound media is part of what the reserve of the disk is for.
  const full = source === 'upload' ? ctx.disk.refusal() : undefined
  if (full) throw full
  const { limit, room } = await mediaRoom(ctx, accountId)
  const name = ctx.random.text(MEDIA_NAME_LENGTH)
  const blob = await ctx.blobs.create(name)
  const discard = () =>
    blob.discard().catch((error) => ctx.log.warn({ err: error }, 'unfinished media stays until it is swept'))
  try {
    const { start, size, digest } = await write(ctx, blob, bounded(incoming.body, room, limit))
    if (size === 0) throw new AppError('invalid', 'is empty')
    await blob.finish()
    ctx.failpoint('media.before_keep')
    const { extension } = classify(start, incoming.contentType, incoming.fileName)
    const createdAt = ctx.clock.now()
    const media = { id, name, accountId, source, extension, size, createdAt }
    return {
      media,
      digest,
      async keep(sql) {
        await requireAccount(sql, accountId)
        if (!(await insertMedia(sql, media))) throw new MediaExists()
        // Others may have stored media since this one began.
        if ((await findTotal(sql, accountId, 'media')) > limit) throw overBudget('media', limit)
        await blob.keep(sql)
      },
      discard,
    }
  } catch (error) {
    await discard()
    throw error
  }
}

/** Refuses more bytes than the account has room for, before they fill the disk. */
async function* bounded(body: AsyncIterable<Buffer>, room: number, limit: number): AsyncIterable<Buffer> {
  let left = room
  for await (const chunk of body) {
    left -= chunk.length
    if (left < 0) throw overBudget('media', limit)
    yield chunk
  }
}

async function write(ctx: Ctx, blob: NewBlob, body: AsyncIterable<Buffer>) {
  const hash = createHash('sha256')
  let start: Buffer = Buffer.alloc(0)
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > MAX_MEDIA_BYTES) throw new AppError('too_large', 'is larger than 100 MB')
    if (start.length < SNIFF_BYTES) start = Buffer.concat([start, chunk.subarray(0, SNIFF_BYTES)])
    hash.update(chunk)
    await blob.write(chunk)
    ctx.failpoint('media.writing')
  }
  return { start, size, digest: hash.digest('base64') }
}

/** The public URL. */
export function urlOf(ctx: Ctx, media: Pick<Media, 'name' | 'extension'>): string {
  return mediaUrl(baseOf(ctx), media)
}

function baseOf(ctx: Ctx): string {
  const base = ctx.publicUrl()
  if (base === '') throw new AppError('unavailable', 'The server has no address yet', { retryAfterMs: 1000 })
  return base
}

/** Finds media by the parts of its URL, unless it has expired. */
export async function servedMedia(
  ctx: Ctx,
  file: { name: string; extension: string },
): Promise<(Media & { expiresAt: number | null }) | undefined> {
  const media = await findMedia(ctx.db, file.name)
  if (!media || media.extension !== file.extension) return undefined
  const kept = keptMs(media.source, ctx.config.mediaDays)
  const expiresAt = kept === undefined ? null : media.createdAt + kept
  return expiresAt !== null && expiresAt <= ctx.clock.now() ? undefined : { ...media, expiresAt }
}

/** The media of ours that a URL names; undefined for a URL that leads elsewhere. */
export async function ownMedia(ctx: Ctx, url: string): Promise<Media | undefined> {
  const file = parseMediaUrl(ctx.publicUrl(), url)
  if (!file) return undefined
  const own = await servedMedia(ctx, file)
  if (!own) throw new AppError('invalid', 'is no media we have')
  return own
}

/** Opens a URL that a user chose. Our own media is read from storage: our public URL may be unreachable from here. */
export async function openUrl(
  ctx: Ctx,
  url: string,
  limits: Limits,
): Promise<RemoteFile & { fileName: string; own?: Media }> {
  const own = await ownMedia(ctx, url)
  if (own) {
    if (own.size > limits.maxBytes)
      throw new AppError('invalid', `is larger than ${Math.floor(limits.maxBytes / 1_000_000)} MB`)
    const body = ctx.blobs.read(own.name, 0, own.size)
    return { url, contentType: '', body, fileName: `x.${own.extension}`, own }
  }
  const opened = await ctx.door.open(url, limits)
  return { ...opened, fileName: new URL(opened.url).pathname }
}

/** Downloads a URL as media. */
export async function fetchMedia(
  ctx: Ctx,
  accountId: string,
  source: MediaSource,
  url: string,
  timeoutMs?: number,
): Promise<MediaDraft> {
  const opened = await openUrl(ctx, url, { maxBytes: MAX_MEDIA_BYTES, timeoutMs })
  return takeMedia(ctx, accountId, source, opened)
}

/** Keeps a draft in its own transaction; inbound media only while the world of its line is current. */
export async function keepMedia(ctx: Ctx, draft: MediaDraft, line?: Line): Promise<Media> {
  try {
    await ctx.db.tx(async (sql) => {
      await draft.keep(sql)
      if (line) await requireCurrent(sql, [line])
    })
    return draft.media
  } catch (error) {
    // The commit may have succeeded; if not, retention removes the file later.
    if (!(error instanceof CommitUnknown)) await draft.discard()
    throw error
  }
}

/** The sender's conversation waits for this download, so the limit is short. */
const REHOST_MS = 15_000

/** Copies inbound media to our storage. Media that this account already has stays where it is. */
export async function rehost(ctx: Ctx, accountId: string, url: string, line: Line): Promise<string> {
  const file = parseMediaUrl(baseOf(ctx), url)
  if (file && (await servedMedia(ctx, file))?.accountId === accountId) return url
  const draft = await fetchMedia(ctx, accountId, 'inbound', url, REHOST_MS)
  return urlOf(ctx, await keepMedia(ctx, draft, line))
}
