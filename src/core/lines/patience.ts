import { createBoundedMap } from '../../base/bounded-map.js'
import { AppError } from '../errors.js'
import { NoAnswer } from './no-answer.js'

const MOST_REMEMBERED = 5000
/** Files that cannot be fetched for this long are given up; their message is then stored without them. */
const PATIENCE_MS = 3_600_000

/** Whether the files of a message have been tried for too long. The first question about an id starts its time. */
export function createPatience(clock: { now(): number }): (id: string) => boolean {
  const triedAt = createBoundedMap<string, number>(MOST_REMEMBERED)
  return (id) => {
    const now = clock.now()
    const since = triedAt.get(id)
    if (since === undefined) triedAt.set(id, now)
    return now - (since ?? now) > PATIENCE_MS
  }
}

/** Why a file cannot be read: `unavailable` makes its message wait, `not_found` stores the message without it. */
export function fileAway(why: string, isGivenUp: () => boolean): AppError {
  return new AppError(isGivenUp() ? 'not_found' : 'unavailable', `cannot be read: ${why}`)
}

/** Opens a received file. While that fails the message waits, until it is given up. */
export async function openPatiently<File extends { body: AsyncIterable<Buffer> }>(
  open: () => Promise<File>,
  isGivenUp: () => boolean,
): Promise<File> {
  const failed = (error: unknown) => {
    if (error instanceof NoAnswer) return fileAway(error.message, isGivenUp)
    return error instanceof AppError && error.code === 'invalid' ? fileAway(error.message, isGivenUp) : error
  }
  try {
    const file = await open()
    return { ...file, body: readThrough(file.body, failed) }
  } catch (error) {
    throw failed(error)
  }
}

async function* readThrough(
  body: AsyncIterable<Buffer>,
  failed: (error: unknown) => unknown,
): AsyncGenerator<Buffer> {
  try {
    yield* body
  } catch (error) {
    throw failed(error)
  }
}
