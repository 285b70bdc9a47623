import { AppError } from '../../../core/errors.js'
import { NoAnswer } from '../../../core/lines/no-answer.js'
import type { MediaBytes } from '../../inbound.js'
import { fieldsOf, parsed, textOf } from '../json.js'
import { inPath, isEnvelope, type Mac } from '../mac.js'
import type { Attachment } from './rows.js'

const DOWNLOAD_MS = 5 * 60_000
/** The Mac fetches a file from Apple's servers first, and may take ten minutes for that. */
const FETCH_MS = 11 * 60_000
const MAX_BYTES = 200_000_000
const MAX_FAULT_BYTES = 100_000
const FORCE = '/force'
const HELPER_AWAY = /helper is not connected/i

/** The bytes of something a person sent. A Mac that is gone for a moment is asked again; a file that is gone is not. */
export async function download(mac: Mac, attachment: Attachment): Promise<MediaBytes> {
  const path = `/attachment/${inPath(attachment.guid)}/download`
  const body = (await attempt(mac, path, DOWNLOAD_MS)) ?? (await attempt(mac, `${path}${FORCE}`, FETCH_MS))
  if (!body) throw new AppError('not_found', 'is not on the Mac')
  return { body, contentType: attachment.mimeType, fileName: attachment.name }
}

/** The bytes, or nothing when the Mac itself says that it does not have them. */
async function attempt(
  mac: Mac,
  path: string,
  timeoutMs: number,
): Promise<AsyncIterable<Buffer> | undefined> {
  const { status, body } = await mac.open({ path, timeoutMs, maxBytes: MAX_BYTES }).catch((error) => {
    throw passing(error)
  })
  if (status === 200) return whole(body)
  const said = fieldsOf(parsed(await beginningOf(whole(body))))
  const isAway = HELPER_AWAY.test(textOf(fieldsOf(said.error).message))
  if (isEnvelope(said) && !isAway && [400, 404, 500].includes(status)) return undefined
  // Not every server can fetch.
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

async function* whole(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* body
  } catch (error) {
    throw passing(error)
  }
}

/** The Mac broke off while it handed out a file. */
export class CutOff extends AppError {
  constructor(reason: string) {
    super('unavailable', `cannot be read: ${reason}`)
  }
}

function passing(error: unknown): unknown {
  return error instanceof NoAnswer ? new CutOff(error.message) : error
}
