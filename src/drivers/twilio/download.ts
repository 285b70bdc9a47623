import { AppError } from '../../core/errors.js'
import { fileAway, openPatiently } from '../../core/lines/patience.js'
import type { DriverHost } from '../host.js'
import type { MediaBytes } from '../inbound.js'
import type { Api } from './api.js'

/**
 * Opens a received file. Twilio answers with the bytes or with the address of a store, which must not see the
 * credentials: the host fetches it like any address of a stranger. While that fails the message waits, because neither
 * the webhook is acknowledged nor the list read on.
 */
export function download(
  api: Api,
  host: Pick<DriverHost, 'media'>,
  path: string,
  isGivenUp: () => boolean,
): Promise<MediaBytes> {
  return openPatiently(async () => {
    const { status, headers, body } = await api.open(path)
    if (status === 200) return { body, contentType: one(headers['content-type']), fileName: 'file' }
    for await (const _ of body);
    const location = one(headers.location)
    if (status === 404 || status === 410) throw new AppError('not_found', 'is not at Twilio any more')
    if (status < 300 || status > 399 || location === '') throw fileAway(`HTTP ${status}`, isGivenUp)
    return host.media(location)
  }, isGivenUp)
}

const one = (header: string | string[] | undefined) => [header ?? ''].flat()[0] ?? ''
