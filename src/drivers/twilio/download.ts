import { AppError } from '../../core/errors.js'
import { NoAnswer } from '../../core/lines/no-answer.js'
import type { DriverHost } from '../host.js'
import type { MediaBytes } from '../inbound.js'
import type { Api } from './api.js'

/**
 * Opens a received file. Twilio answers with the bytes or with the address of a store, which must not see the
 * credentials: the host fetches it like any address of a stranger. While that fails the message waits, because neither
 * the webhook is acknowledged nor the list read on.
 */
export async function download(
  api: Api,
  host: Pick<DriverHost, 'media'>,
  path: string,
  isGivenUp: () => boolean,
): Promise<MediaBytes> {
  const away = (why: string) =>
    new AppError(isGivenUp() ? 'not_found' : 'unavailable', `cannot be read: ${why}`)
  const failed = (error: unknown) => {
    if (error instanceof NoAnswer) return away(error.message)
    return error instanceof AppError && error.code === 'invalid' ? away(error.message) : error
  }
  try {
    const { status, headers, body } = await api.open(path)
    if (status === 200)
      return { body: readThrough(body, failed), contentType: one(headers['content-type']), fileName: 'file' }
    for await (const _ of body);
    const location = one(headers.location)
    if (status === 404 || status === 410) throw new AppError('not_found', 'is not at Twilio any more')
    if (status < 300 || status > 399 || location === '') throw away(`HTTP ${status}`)
    return await host.media(location)
  } catch (error) {
    throw failed(error)
  }
}

const one = (header: string | string[] | undefined) => [header ?? ''].flat()[0] ?? ''

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
