import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { ApiError } from '../client.js'

/** What a listener must know again after it was killed. */
export interface Bookmark {
  /** The last event that its receiver has taken. Unknown until the server has said where the end is. */
  after?: number
  /** Signs, unless the caller gives another. Made once, so that the receiver need be told once. */
  secret: string
}

export function readBookmark(file: string): Bookmark {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOENT') throw new ApiError(`The file ${file} cannot be read`)
    return { secret: `whsec_${randomBytes(32).toString('base64')}` }
  }
  try {
    const { after, secret } = JSON.parse(text) as Bookmark
    if (typeof secret === 'string' && (after === undefined || Number.isSafeInteger(after)))
      return after === undefined ? { secret } : { after, secret }
  } catch {}
  // Going on from anywhere else could lose events in silence.
  throw new ApiError(`The file ${file} is no bookmark. Remove it, or name another with --bookmark.`)
}

/** In one step: whoever is killed in the middle leaves the old one. */
export function writeBookmark(file: string, bookmark: Bookmark): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(`${file}.new`, `${JSON.stringify(bookmark)}\n`, { mode: 0o600 })
    renameSync(`${file}.new`, file)
  } catch (error) {
    throw new ApiError(`The bookmark ${file} cannot be written: ${(error as Error).message}`)
  }
}
