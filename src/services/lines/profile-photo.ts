import { AppError } from '../../core/errors.js'
import type { Ctx } from '../ctx.js'
import { fetchImage } from '../media/images.js'

const RULES = { maxBytes: 5_000_000, types: ['image/jpeg', 'image/png'], maxPixels: 25_000_000 } as const

/** Refuses photos that the carrier could not use. */
export async function checkPhoto(ctx: Ctx, url: string): Promise<void> {
  try {
    await ctx.errand(() => fetchImage(ctx, null, url, RULES))
  } catch (error) {
    throw error instanceof AppError ? new AppError('invalid', `photoUrl: ${error.message}`) : error
  }
}
