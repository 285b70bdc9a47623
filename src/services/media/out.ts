import { classify } from '../../core/media/file-kind.js'
import { MAX_MEDIA_BYTES } from '../../core/media/media.js'
import type { MediaBytes } from '../../drivers/inbound.js'
import type { Ctx } from '../ctx.js'
import { openUrl } from './media.js'

/** Opens the media of a message, with a type and a name that a carrier can pass on. */
export async function openMedia(ctx: Ctx, url: string): Promise<MediaBytes> {
  const { body, contentType, fileName, own } = await openUrl(ctx, url, { maxBytes: MAX_MEDIA_BYTES })
  const { extension, type } = classify(new Uint8Array(), contentType, fileName)
  return { body, contentType: type, fileName: `${own ? 'file' : stemOf(fileName)}.${extension}` }
}

/** The last part of a path without its extension and without characters that are special to a file system. */
function stemOf(path: string): string {
  const last = path.slice(path.lastIndexOf('/') + 1).replace(/\.[^.]*$/, '')
  return (
    last
      .replace(/%[0-9a-f]{2}/gi, '_')
      .replace(/[^\w.-]+/g, '_')
      .replace(/^[._]+|[._]+$/g, '')
      .slice(0, 60) || 'file'
  )
}
