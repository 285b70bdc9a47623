import type { LimitedAccount } from '../../core/accounts/budgets.js'
import { AppError } from '../../core/errors.js'
import { type ImageType, imageType, SNIFF_BYTES } from '../../core/media/file-kind.js'
import { imageSize } from '../../core/media/image-size.js'
import type { Ctx } from '../ctx.js'
import { openUrl } from './media.js'

export interface ImageRules {
  maxBytes: number
  types: readonly ImageType[]
  /** Limit of width times height: a small file may decode to an enormous picture. */
  maxPixels?: number
  redirects?: number
}

/**
 * Fetches an image from a user's URL and checks it by its bytes, which count on the account's memory. Throws an AppError
 * without the field's name, which the caller adds. Null: a line's worker fetches one image after the other.
 */
export async function fetchImage(
  ctx: Ctx,
  account: LimitedAccount | null,
  url: string,
  rules: ImageRules,
): Promise<{ body: Buffer; type: ImageType }> {
  const held = account && ctx.meters.hold(account, 0)
  try {
    const chunks: Buffer[] = []
    const { body: stream } = await openUrl(ctx, url, { maxBytes: rules.maxBytes, redirects: rules.redirects })
    for await (const chunk of stream) {
      held?.grow(chunk.length)
      chunks.push(chunk)
    }
    const body = Buffer.concat(chunks)
    return { body, type: checkImage(body, rules) }
  } finally {
    held?.release()
  }
}

/** Like `fetchImage`, but keeps only the beginning, which tells the type. */
export async function checkImageAt(
  ctx: Ctx,
  url: string,
  rules: Omit<ImageRules, 'maxPixels'>,
): Promise<void> {
  const { body } = await openUrl(ctx, url, rules)
  let start: Buffer = Buffer.alloc(0)
  for await (const chunk of body)
    if (start.length < SNIFF_BYTES) start = Buffer.concat([start, chunk.subarray(0, SNIFF_BYTES)])
  checkImage(start, rules)
}

/** Checks bytes that are already here. */
export function checkImage(body: Buffer, rules: ImageRules): ImageType {
  const type = imageType(body)
  if (!type || !rules.types.includes(type)) {
    const names = rules.types.map((one) => one.slice('image/'.length).toUpperCase()).join(', ')
    throw new AppError('invalid', `is not an image of these types: ${names}`)
  }
  if (rules.maxPixels !== undefined) {
    const size = imageSize(body, type)
    if (!size) throw new AppError('invalid', 'is a damaged image: its size cannot be read')
    if (size.width * size.height > rules.maxPixels) {
      throw new AppError(
        'invalid',
        `is ${size.width} x ${size.height} pixels; at most ${rules.maxPixels} are taken`,
      )
    }
  }
  return type
}
