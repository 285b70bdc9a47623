import { AppError } from '../../core/errors.js'
import { NoAnswer } from '../../core/no-answer.js'
import type { MediaBytes } from '../host.js'
import { inPath, type Mac } from './mac.js'
import type { Attachment } from './rows.js'

const DOWNLOAD_MS = 5 * 60_000
/** The Mac fetches a file from Apple's servers first, and may take ten minutes for that. */
const FETCH_MS = 11 * 60_000
const MAX_BYTES = 200_000_000

/** The bytes of something a person sent. A Mac that is gone for a moment is asked again; a file that is gone is not. */
export async function download(mac: Mac, attachment: Attachment): Promise<MediaBytes> {
  const path = `/attachment/${inPath(attachment.guid)}/download`
  const there = await attempt(mac, path, DOWNLOAD_MS)
  const body = there ?? (await attempt(mac, `${path}/force`, FETCH_MS))
  if (!body) throw new AppError('not_found', 'is not on the Mac')
  return { body, contentType: attachment.mimeType, fileName: attachment.name }
}

async function attempt(
  mac: Mac,
  path: string,
  timeoutMs: number,
): Promise<AsyncIterable<Buffer> | undefined> {
  const answer = await mac.open({ path, timeoutMs, maxBytes: MAX_BYTES }).catch((error) => {
    throw passing(error)
  })
  if (answer.status === 200) return whole(answer.body)
  for await (const _ of whole(answer.body));
  return undefined
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
