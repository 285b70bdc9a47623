/** A file that is served under an unguessable URL. */
export interface Media {
  /** `mediaObjectId` in the API. */
  id: string
  /** The secret part of the file's URL. */
  name: string
  accountId: string
  /** Uploaded by the account, or received on one of its lines, or made here for a carrier. */
  source: MediaSource
  extension: string
  size: number
  createdAt: number
}

export type MediaSource = 'upload' | 'inbound'

export const MAX_MEDIA_BYTES = 100_000_000
/** 131 bits cannot be guessed. */
export const MEDIA_NAME_LENGTH = 22

const DAY_MS = 86_400_000
/** Received media is kept for 30 days, as the interface specifies. */
const INBOUND_DAYS = 30

/** Id of the smaller copy that was made of a message's media for its carrier. It is kept like received media. */
export function copyIdOf(handle: string): string {
  return `copy-${handle}`
}

/** How long media of this source is kept; undefined is for ever. `uploadDays` is a setting; 0 is for ever. */
export function keptMs(source: MediaSource, uploadDays: number): number | undefined {
  if (source === 'inbound') return INBOUND_DAYS * DAY_MS
  return uploadDays > 0 ? uploadDays * DAY_MS : undefined
}

/** Names of the media whose URLs are in a text. */
export function mediaNamesIn(text: string): string[] {
  return [...text.matchAll(/\/media\/([0-9A-Za-z]{22})\./g)].map(([, name]) => name!)
}

/** The media's name and extension in a URL of this server, or undefined. */
export function parseMediaUrl(base: string, url: string): { name: string; extension: string } | undefined {
  if (base === '' || !url.startsWith(`${base}/media/`)) return undefined
  return parseMediaFile(url.slice(base.length + '/media/'.length))
}

export function parseMediaFile(file: string): { name: string; extension: string } | undefined {
  const match = /^([0-9A-Za-z]{22})\.([0-9a-z]{1,8})$/.exec(file)
  return match ? { name: match[1]!, extension: match[2]! } : undefined
}

export function mediaUrl(base: string, media: Pick<Media, 'name' | 'extension'>): string {
  return `${base}/media/${media.name}.${media.extension}`
}
