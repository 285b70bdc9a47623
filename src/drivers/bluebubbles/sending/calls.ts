import type { DriverHost } from '../../host.js'
import type { MediaBytes } from '../../inbound.js'
import { brokenOff, MediaFault, neverLeft, type Taken, takenOf } from '../answers.js'
import type { Chats } from '../chats.js'
import { fieldsOf, textOf } from '../json.js'
import type { Lanes } from '../lanes.js'
import { type Call, type Mac, MacFault } from '../mac.js'
import type { Statuses } from '../reading/statuses.js'
import type { Finder } from './lookup.js'
import { fileName, formOf } from './upload.js'

/** What sending needs of its line. */
export interface SendDeps {
  mac: Mac
  host: DriverHost
  chats: Chats
  lanes: Lanes
  finder: Finder
  statuses: Statuses
  number: string
}

/** The server waits two minutes for the helper and one for the row. */
export const TEXT_TIMEOUT_MS = 200_000
/** It gives up on a file after five minutes, and the file has to get there before. */
export const FILE_TIMEOUT_MS = 12 * 60_000

/** Posts what sends a message, and reads what the server says about it. */
export async function sending(mac: Mac, call: Call, rowIn?: (data: unknown) => unknown): Promise<Taken> {
  try {
    return takenOf(await mac.call({ method: 'POST', timeoutMs: TEXT_TIMEOUT_MS, ...call }), rowIn)
  } catch (error) {
    return { failed: brokenOff(error) }
  }
}

/** One file without a text. */
export async function sendFile(
  { mac, host }: Pick<SendDeps, 'mac' | 'host'>,
  url: string,
  fields: Record<string, string | number>,
): Promise<Taken> {
  const file = await opened(host, url)
  const name = fileName(url, file.contentType)
  const texts = Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, String(value)]))
  const form = formOf('attachment', name, file, { ...texts, name, method: 'private-api' })
  const taken = await sending(mac, { path: '/message/attachment', body: form, timeoutMs: FILE_TIMEOUT_MS })
  if ('row' in taken || form.isComplete()) return taken
  // The server has at most a part of the form, and cannot have sent that.
  if (form.trouble()) throw new MediaFault(form.trouble())
  return taken.failed.outcome === 'unknown'
    ? { failed: neverLeft('upload_cut', `The file did not get to the Mac: ${taken.failed.detail}`) }
    : taken
}

function opened(host: DriverHost, url: string): Promise<MediaBytes> {
  return host.media(url).catch((error) => {
    throw new MediaFault(error)
  })
}

/** Brings a file to the Mac, for a message that follows. */
export async function upload({ mac, host }: SendDeps, url: string) {
  const file = await opened(host, url)
  const name = fileName(url, file.contentType)
  const form = formOf('attachment', name, file, {})
  const said = await mac
    .call({ method: 'POST', path: '/attachment/upload', body: form, timeoutMs: FILE_TIMEOUT_MS })
    .catch((error) => {
      throw form.trouble() ? new MediaFault(form.trouble()) : error
    })
  const path = textOf(fieldsOf(said.data).path)
  if (said.status !== 200 || path === '') throw new MacFault(said, 'The file was not taken')
  return { attachment: path, name }
}
