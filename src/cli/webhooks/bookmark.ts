import { randomBytes } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { makePrivateFolder } from '../../base/private-files.js'
import { ApiError } from '../client.js'

/** The file in which a listener keeps its position. */
export interface Bookmark {
  /** Sequence number of the last event that the receiver accepted; undefined before the first connection. */
  after?: number
  /** Signs webhooks unless --secret-file names another secret. Generated once. */
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
  // Starting from any other place could lose events silently.
  throw new ApiError(`The file ${file} is not a bookmark. Remove it, or use another file with --bookmark.`)
}

/** Replaces the file atomically. */
export function writeBookmark(file: string, bookmark: Bookmark): void {
  try {
    makePrivateFolder(dirname(file))
    writeFileSync(`${file}.new`, `${JSON.stringify(bookmark)}\n`, { mode: 0o600 })
    renameSync(`${file}.new`, file)
  } catch (error) {
    throw new ApiError(`The bookmark ${file} cannot be written: ${(error as Error).message}`)
  }
}
