import { AppError } from '../../core/errors.js'
import { type ImageType, imageType } from '../../core/media/file-kind.js'
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
 * Fetches an image from a user's URL and checks it by its bytes. Throws an AppError without the field's name, which
 * the caller adds.
 */
export async function fetchImage(
  ctx: Ctx,
  url: string,
  rules: ImageRules,
): Promise<{ body: Buffer; type: ImageType }> {
  const chunks: Buffer[] = []
  const { body: stream } = await openUrl(ctx, url, { maxBytes: rules.maxBytes, redirects: rules.redirects })
  for await (const chunk of stream) chunks.push(chunk)
  const body = Buffer.concat(chunks)
  return { body, type: checkImage(body, rules) }
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
