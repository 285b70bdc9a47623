import { request } from 'undici'
import { parseUrl } from '../../../base/parse-url.js'
import { AppError } from '../../../core/errors.js'
import { urlFault } from '../../../core/url.js'
import { NotFetched } from './failure.js'
import { type Guards, guardedAgent } from './guard.js'

export interface Limits {
  maxBytes: number
  /** Time limit for the whole exchange, from the name lookup to the last byte. */
  timeoutMs?: number
  redirects?: number
}

export interface RemoteFile {
  /** URL after all redirects. */
  url: string
  contentType: string
  /** Throws if it is longer than `maxBytes` or too slow. */
  body: AsyncIterable<Buffer>
}

const TIMEOUT_MS = 30_000
const REDIRECTS = 3

/**
 * Creates a function that GETs a URL and follows redirects. `isClosed` tells a stopping server from an unreachable
 * address.
 */
export function createOpen(guards: Guards, isClosed: () => boolean) {
  const { rules } = guards
  const agent = guardedAgent(guards)

  /** One error for every network failure. */
  function networkError(): AppError {
    if (isClosed()) return new AppError('unavailable', 'The server is stopping', { retryAfterMs: 1000 })
    return unreachable()
  }

  async function ask(url: string, signal: AbortSignal) {
    // The library obeys the signal only once it is connected.
    const late = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', reject, { once: true })
    })
    const asked = request(url, {
      dispatcher: agent,
      signal,
      // A new connection for each request: no account uses a connection that another account opened.
      reset: true,
      headers: { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'Trunkline' },
    })
    try {
      return await Promise.race([asked, late])
    } catch {
      throw networkError()
    }
  }

  async function open(start: string, limits: Limits): Promise<RemoteFile> {
    const signal = AbortSignal.timeout(limits.timeoutMs ?? TIMEOUT_MS)
    let url = start
    for (let hop = 0; ; hop++) {
      const fault = urlFault(url, rules)
      if (fault) throw invalidUrl(hop === 0 ? fault : `leads to a URL that ${fault}`)
      const { statusCode, headers, body } = await ask(url, signal)
      const reject = (error: AppError) => {
        body.on('error', () => {}).destroy()
        return error
      }
      const { location } = headers
      if (statusCode >= 300 && statusCode < 400 && typeof location === 'string') {
        if (hop >= (limits.redirects ?? REDIRECTS)) throw reject(invalidUrl('redirects too often'))
        const next = parseUrl(location, url)
        if (!next) throw reject(invalidUrl('redirects to something that is no URL'))
        if (url.startsWith('https:') && next.protocol !== 'https:')
          throw reject(invalidUrl('redirects away from https'))
        reject(unreachable())
        next.hash = ''
        url = next.href
        continue
      }
      if (statusCode !== 200) throw reject(noFile(statusCode))
      // A few compressed bytes can expand to any size.
      if ((headers['content-encoding'] ?? 'identity') !== 'identity')
        throw reject(invalidUrl('answered with a compressed body'))
      if (Number(headers['content-length'] ?? 0) > limits.maxBytes) throw reject(tooLarge(limits.maxBytes))
      const contentType = String(headers['content-type'] ?? '')
        .split(';', 1)[0]!
        .trim()
        .toLowerCase()
      return { url, contentType, body: bounded(body, limits.maxBytes, networkError) }
    }
  }

  return { open, close: () => agent.destroy() }
}

async function* bounded(
  body: AsyncIterable<Buffer>,
  maxBytes: number,
  networkError: () => AppError,
): AsyncIterable<Buffer> {
  let size = 0
  try {
    for await (const chunk of body) {
      size += chunk.length
      if (size > maxBytes) throw tooLarge(maxBytes)
      yield chunk
    }
  } catch (error) {
    throw error instanceof AppError ? error : networkError()
  }
}

/** One text for blocked and unreachable addresses: a difference would reveal what is in our network. */
function unreachable(): AppError {
  return new NotFetched('could not be fetched: the address cannot be reached or is not allowed')
}

function noFile(status: number): AppError {
  const words = `answered ${status} instead of the file`
  return status >= 500 || status === 429 || status === 408 ? new NotFetched(words) : invalidUrl(words)
}

function invalidUrl(what: string): AppError {
  return new AppError('invalid', what)
}

function tooLarge(maxBytes: number): AppError {
  return new AppError('invalid', `is larger than ${Math.floor(maxBytes / 1_000_000)} MB`)
}
