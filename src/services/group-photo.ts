import type { Account } from '../core/account.js'
import type { Ctx } from '../ctx.js'
import { fetchImage, type ImageRules } from './images.js'
import { keepMedia, takeMedia, urlOf } from './media.js'

/** What phones take as the photo of a group. */
const RULES: ImageRules = {
  maxBytes: 5_000_000,
  types: ['image/jpeg', 'image/png', 'image/gif'],
  maxPixels: 25_000_000,
  redirects: 0,
}

/** Fetches a photo and keeps a copy, so that it is there as long as the group shows it. Answers its address. */
export async function copyPhoto(ctx: Ctx, account: Account, url: string): Promise<string> {
  const { body, type } = await fetchImage(ctx, url, RULES)
  const incoming = { body: once(body), contentType: type, fileName: '' }
  return urlOf(ctx, await keepMedia(ctx, await takeMedia(ctx, account.id, 'upload', incoming)))
}

async function* once(body: Buffer): AsyncIterable<Buffer> {
  yield body
}
