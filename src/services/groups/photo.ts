import type { Account } from '../../core/accounts/account.js'
import type { LimitedAccount } from '../../core/accounts/budgets.js'
import type { Ctx } from '../ctx.js'
import { checkImage, fetchImage, type ImageRules } from '../media/images.js'
import { keepMedia, takeMedia, urlOf } from '../media/media.js'

export const MAX_PHOTO_BYTES = 5_000_000

/** Image types and sizes that phones accept as the photo of a group. */
const RULES: ImageRules = {
  maxBytes: MAX_PHOTO_BYTES,
  types: ['image/jpeg', 'image/png', 'image/gif'],
  maxPixels: 25_000_000,
  redirects: 0,
}

/** Fetches a photo and keeps a copy for as long as the group shows it. Returns the URL of the copy. */
export async function copyPhoto(ctx: Ctx, account: LimitedAccount, url: string): Promise<string> {
  return keepPhoto(ctx, account, (await fetchImage(ctx, account, url, RULES)).body)
}

/** Like `copyPhoto`, for bytes that are already here. */
export async function keepPhoto(ctx: Ctx, account: Account, body: Buffer): Promise<string> {
  const incoming = { body: once(body), contentType: checkImage(body, RULES), fileName: '' }
  return urlOf(ctx, await keepMedia(ctx, await takeMedia(ctx, account.id, 'upload', incoming)))
}

async function* once(body: Buffer): AsyncIterable<Buffer> {
  yield body
}
