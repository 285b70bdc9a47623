import { Socket } from 'node:net'
import type { Multipart } from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import { AppError } from '../../core/errors.js'
import { MAX_MEDIA_BYTES } from '../../core/media/media.js'
import type { Ctx } from '../../services/ctx.js'
import { type MediaDraft, takeMedia } from '../../services/media/media.js'
import { aboutField } from '../http/fields.js'
import { bePatientWith } from '../http/socket-errors.js'

/** Limits of a form except the size of its file, which is counted while it is written. */
export const FORM_LIMITS = {
  limits: { fileSize: Number.POSITIVE_INFINITY, files: 2, fields: 20, fieldSize: 65_536, headerPairs: 20 },
  throwFileSizeLimit: false,
  // Some clients omit the file name.
  isPartAFile: (field: string | undefined, type: string | undefined, name: string | undefined) =>
    name !== undefined ||
    type === 'application/octet-stream' ||
    (field === 'file' && type !== undefined && type !== 'text/plain'),
}

/** Room for the form around the file. */
const MAX_BODY_BYTES = MAX_MEDIA_BYTES + (1 << 20)
const IDLE_MS = 30_000
const TOTAL_MS = 15 * 60_000
const DRAIN_MS = 30_000

/** Reads the one file of a multipart form onto the disk. */
export async function receiveFile(ctx: Ctx, request: FastifyRequest, accountId: string): Promise<MediaDraft> {
  if (!request.isMultipart()) throw needsForm()
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES)
    throw new AppError('too_large', 'file: is larger than 100 MB')
  const hurry = takeTime(request)
  let draft: MediaDraft | undefined
  try {
    for (const parts = request.parts(); ; ) {
      const { value: part, done } = await parts.next().catch(refuseForm)
      if (done) break
      checkPart(part, draft)
      if (part.type === 'field') continue
      const incoming = {
        body: untilBroken(part.file),
        contentType: part.mimetype,
        fileName: part.filename ?? '',
      }
      draft = await aboutField('file', takeMedia(ctx, accountId, 'upload', incoming))
    }
    if (!draft) throw new AppError('invalid', 'missing required parameter: file')
    return draft
  } catch (error) {
    await draft?.discard()
    // Discards the rest of the body: a client that is still sending would not read the answer.
    request.raw.unpipe().resume()
    hurry()
    throw error
  }
}

export function needsForm(): AppError {
  return new AppError('unsupported_media_type', 'Content-Type must be multipart/form-data')
}

function checkPart(part: Multipart, draft: MediaDraft | undefined): void {
  if (part.type === 'field') {
    if (part.fieldname === 'file') throw new AppError('invalid', 'file: must be a file, not a text')
  } else if (part.fieldname !== 'file')
    throw new AppError('invalid', 'missing required parameter: file (there is a file under another name)')
  else if (draft) throw new AppError('invalid', 'file: given more than once; one file per request')
}

function refuseForm(error: Error & { code?: string }): never {
  const what = error.code?.startsWith('FST_') ? error.message : 'it is broken or incomplete'
  throw new AppError('invalid', `The multipart form cannot be read: ${what}`)
}

/** Turns errors of reading the form into 400, so that errors of the storage stay 500. */
async function* untilBroken(file: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  try {
    yield* file
  } catch (error) {
    refuseForm(error as Error)
  }
}

/**
 * A large file on a slow connection takes longer than the request timeout. Instead of that timeout, an idle timeout and
 * a long total one apply. The returned function shortens the time for the rest of the body.
 */
function takeTime({ raw }: FastifyRequest): () => void {
  const { socket } = raw
  if (!(socket instanceof Socket)) return () => {}
  const noMore = bePatientWith(socket)
  const giveUp = () => void socket.destroy()
  let timer = setTimeout(giveUp, TOTAL_MS)
  socket.setTimeout(IDLE_MS, giveUp)
  raw.once('close', () => {
    noMore()
    clearTimeout(timer)
    socket.removeListener('timeout', giveUp)
  })
  return () => {
    if (raw.complete) return
    clearTimeout(timer)
    timer = setTimeout(giveUp, DRAIN_MS)
  }
}
