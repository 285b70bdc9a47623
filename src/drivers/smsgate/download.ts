import { AppError } from '../../core/errors.js'
import { NoAnswer } from '../../core/lines/no-answer.js'
import type { MediaBytes } from '../inbound.js'
import type { Phone } from './phone.js'
import type { Attachment, InboxRow } from './rows.js'

/** Opens a received file. A phone that fails for the moment is asked again; a file that it does not have is not. */
export async function download(phone: Phone, row: InboxRow, file: Attachment): Promise<MediaBytes> {
  const path = `/inbox/${encodeURIComponent(row.id)}/attachments/${file.partId}`
  const { status, body } = await phone.open(path).catch((error) => {
    throw awayIf(error)
  })
  if (status === 404) throw new AppError('not_found', 'is not on the phone any more')
  if (status !== 200) throw new AppError('unavailable', `cannot be read: HTTP ${status}`)
  return { body: readThrough(body), contentType: file.contentType, fileName: file.name || `${file.partId}` }
}

async function* readThrough(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* body
  } catch (error) {
    throw awayIf(error)
  }
}

function awayIf(error: unknown): unknown {
  return error instanceof NoAnswer ? new AppError('unavailable', `cannot be read: ${error.message}`) : error
}
