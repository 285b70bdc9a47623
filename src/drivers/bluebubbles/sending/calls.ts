import { fieldsOf, textOf } from '../../../core/fields.js'
import type { DriverHost } from '../../host.js'
import type { MediaBytes } from '../../inbound.js'
import { failureDuringSend, MediaFault, neverLeft, readSendAnswer, type SendAnswer } from '../answers.js'
import type { Chats } from '../chats.js'
import type { Lanes } from '../lanes.js'
import { type Call, type Mac, MacFault } from '../mac.js'
import type { Statuses } from '../reading/statuses.js'
import type { Finder } from './lookup.js'
import { fileName, formOf } from './upload.js'

/** Parts of a line's connection that sending uses. */
export interface SendDeps {
  mac: Mac
  host: DriverHost
  chats: Chats
  lanes: Lanes
  finder: Finder
  statuses: Statuses
  number: string
}

/** The server waits up to two minutes for the helper and one for the row. */
export const TEXT_TIMEOUT_MS = 200_000
/** The server gives up on a file after five minutes; the upload before that takes time as well. */
export const FILE_TIMEOUT_MS = 12 * 60_000

/** Makes the request that sends a message, and reads its answer. */
export async function requestSend(
  mac: Mac,
  call: Call,
  rowIn?: (data: unknown) => unknown,
): Promise<SendAnswer> {
  try {
    return readSendAnswer(await mac.call({ method: 'POST', timeoutMs: TEXT_TIMEOUT_MS, ...call }), rowIn)
  } catch (error) {
    return { failed: failureDuringSend(error) }
  }
}

/** Sends one file without text. */
export async function sendFile(
  { mac, host }: Pick<SendDeps, 'mac' | 'host'>,
  url: string,
  fields: Record<string, string | number>,
): Promise<SendAnswer> {
  const file = await openMedia(host, url)
  const name = fileName(url, file.contentType)
  const texts = Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, String(value)]))
  const form = formOf('attachment', name, file, { ...texts, name, method: 'private-api' })
  const sent = await requestSend(mac, { path: '/message/attachment', body: form, timeoutMs: FILE_TIMEOUT_MS })
  if ('row' in sent || form.isComplete()) return sent
  // The server got an incomplete form, so it cannot have sent the file.
  if (form.trouble()) throw new MediaFault(form.trouble())
  return sent.failed.outcome === 'unknown'
    ? { failed: neverLeft('upload_cut', `The file did not reach the Mac: ${sent.failed.detail}`) }
    : sent
}

function openMedia(host: DriverHost, url: string, only?: 'image'): Promise<MediaBytes> {
  return host.media(url, only).catch((error) => {
    throw new MediaFault(error)
  })
}

/** Uploads a file for a message that follows. */
export async function upload({ mac, host }: SendDeps, url: string, only?: 'image') {
  const file = await openMedia(host, url, only)
  const name = fileName(url, file.contentType)
  const form = formOf('attachment', name, file, {})
  const answer = await mac
    .call({ method: 'POST', path: '/attachment/upload', body: form, timeoutMs: FILE_TIMEOUT_MS })
    .catch((error) => {
      throw form.trouble() ? new MediaFault(form.trouble()) : error
    })
  const path = textOf(fieldsOf(answer.data).path)
  if (answer.status !== 200 || path === '') throw new MacFault(answer, 'The upload failed')
  return { attachment: path, name }
}
