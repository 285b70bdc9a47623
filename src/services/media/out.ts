import { AppError } from '../../core/errors.js'
import { classify } from '../../core/media/file-kind.js'
import { MAX_MEDIA_BYTES } from '../../core/media/media.js'
import { trimEnd } from '../../core/trim-end.js'
import type { MediaBytes } from '../../drivers/inbound.js'
import type { Ctx } from '../ctx.js'
import { openUrl } from './media.js'

/** Opens the media of a message, with a type and a name that a carrier can pass on. */
export async function openMedia(ctx: Ctx, url: string, only?: 'image'): Promise<MediaBytes> {
  const { body, contentType, fileName, own } = await openUrl(ctx, url, { maxBytes: MAX_MEDIA_BYTES })
  const peeked = only && (await peek(body))
  const { extension, type } = classify(peeked?.start ?? new Uint8Array(), contentType, fileName)
  if (peeked && !type.startsWith(`${only}/`)) {
    await peeked.whole.return()
    throw new AppError('invalid', `is no ${only} but ${type}; a carousel takes images only`)
  }
  return {
    body: peeked?.whole ?? body,
    contentType: type,
    fileName: `${own ? 'file' : stemOf(fileName)}.${extension}`,
  }
}

/** The first bytes of a stream, and the stream with them. */
async function peek(body: AsyncIterable<Buffer>) {
  const rest = body[Symbol.asyncIterator]()
  const first = await rest.next()
  async function* whole(): AsyncGenerator<Buffer, void, void> {
    try {
      for (let next = first; !next.done; next = await rest.next()) yield next.value
    } finally {
      await rest.return?.()
    }
  }
  return { start: first.done ? Buffer.alloc(0) : first.value, whole: whole() }
}

/** The last part of a path without its extension and without characters that are special to a file system. */
function stemOf(path: string): string {
  const last = path.slice(path.lastIndexOf('/') + 1).replace(/\.[^.]*$/, '')
  const plain = last.replace(/%[0-9a-f]{2}/gi, '_').replace(/[^\w.-]+/g, '_')
  return trimEnd(plain.replace(/^[._]+/, ''), '._').slice(0, 60) || 'file'
}
