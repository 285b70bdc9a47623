import { AppError } from '../../../core/errors.js'
import { fieldsOf, parseJson, textOf } from '../../../core/fields.js'
import { NoAnswer } from '../../../core/lines/no-answer.js'
import type { MediaBytes } from '../../inbound.js'
import { inPath, isEnvelope, type Mac } from '../mac.js'
import type { Attachment } from './rows.js'

const DOWNLOAD_TIMEOUT_MS = 5 * 60_000
/** The Mac downloads the file from Apple first, which may take ten minutes. */
const FETCH_TIMEOUT_MS = 11 * 60_000
const MAX_BYTES = 200_000_000
const MAX_FAULT_BYTES = 100_000
const FORCE = '/force'
const HELPER_AWAY = /helper is not connected/i

/** Opens a received file. A Mac that fails for the moment is asked again (CutOff); a missing file is not. */
export async function download(mac: Mac, attachment: Attachment): Promise<MediaBytes> {
  const path = `/attachment/${inPath(attachment.guid)}/download`
  const body =
    (await attempt(mac, path, DOWNLOAD_TIMEOUT_MS)) ??
    (await attempt(mac, `${path}${FORCE}`, FETCH_TIMEOUT_MS))
  if (!body) throw new AppError('not_found', 'is not on the Mac')
  return { body, contentType: attachment.mimeType, fileName: attachment.name }
}

/** The bytes; undefined if the Mac says that it does not have the file. */
async function attempt(
  mac: Mac,
  path: string,
  timeoutMs: number,
): Promise<AsyncIterable<Buffer> | undefined> {
  const { status, body } = await mac.open({ path, timeoutMs, maxBytes: MAX_BYTES }).catch((error) => {
    throw asCutOff(error)
  })
  if (status === 200) return readThrough(body)
  const answer = fieldsOf(parseJson(await beginningOf(readThrough(body))))
  const isAway = HELPER_AWAY.test(textOf(fieldsOf(answer.error).message))
  if (isEnvelope(answer) && !isAway && [400, 404, 500].includes(status)) return undefined
  // Not every server has the /force call.
  if (status === 404 && path.endsWith(FORCE)) return undefined
  throw new CutOff(isAway ? 'the helper is not connected' : `HTTP ${status}`)
}

async function beginningOf(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    if (size < MAX_FAULT_BYTES) chunks.push(chunk)
    size += chunk.length
  }
  return Buffer.concat(chunks)
}

async function* readThrough(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* body
  } catch (error) {
    throw asCutOff(error)
  }
}

/** The Mac failed while it sent a file; the download is worth a retry. */
export class CutOff extends AppError {
  constructor(reason: string) {
    super('unavailable', `cannot be read: ${reason}`)
  }
}

function asCutOff(error: unknown): unknown {
  return error instanceof NoAnswer ? new CutOff(error.message) : error
}
