import { type Static, Type } from 'typebox'
import { AppError } from '../../core/errors.js'
import type { Ctx } from '../../services/ctx.js'
import { type MediaDraft, takeMedia } from '../../services/media/media.js'
import { aboutField } from '../http/fields.js'
import { string } from '../http/schemas.js'

/** A file that is picked on the phone. */
export const PhoneMedia = Type.Object(
  {
    name: string('Name of the file, with its extension', { minLength: 1, maxLength: 255 }),
    base64: string('Its bytes, at most 10 MB', { minLength: 1 }),
  },
  { description: 'A file picked on the phone, instead of media_url' },
)

const MAX_BYTES = 10_000_000
export const PHONE_MEDIA_BODY = 16 << 20

/** Stores the file where the line can fetch it, as a carrier does. */
export function mediaOnPhone(
  ctx: Ctx,
  accountId: string,
  { name, base64 }: Static<typeof PhoneMedia>,
): Promise<MediaDraft> {
  if (!isBase64(base64)) throw new AppError('invalid', 'media.base64: must be base64')
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length > MAX_BYTES) throw new AppError('too_large', 'media.base64: is larger than 10 MB')
  const incoming = { body: inOnePiece(bytes), contentType: '', fileName: name }
  return aboutField('media.base64', takeMedia(ctx, accountId, 'inbound', incoming))
}

/** Searches for invalid characters: a pattern for the whole text would overflow the stack. */
function isBase64(text: string): boolean {
  const digits = text.slice(0, text.length - (/={0,2}$/.exec(text.slice(-2))?.[0].length ?? 0))
  return digits !== '' && !/[^A-Za-z0-9+/]/.test(digits)
}

async function* inOnePiece(bytes: Buffer): AsyncIterable<Buffer> {
  yield bytes
}
