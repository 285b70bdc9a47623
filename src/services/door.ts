import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import { isIP } from 'node:net'
import { Agent, buildConnector, type Dispatcher, request } from 'undici'
import { AppError } from '../core/errors.js'
import { addressFault, type UrlRules, urlFault } from '../core/url.js'

/**
 * The one way out for every URL that a user chose. The URL is checked as text, every address its name leads to
 * is checked when the connection is made, and the connection goes to the very address that was checked.
 */
export interface Door {
  /** GETs a URL. The body may be read to `maxBytes`; redirects are followed and checked hop by hop. */
  open(url: string, limits: Limits): Promise<Opened>
  /** The same, read into memory. */
  download(url: string, limits: Limits): Promise<Downloaded>
  /** POSTs to a URL. Redirects are answers like any other; of the answer's body only the beginning is read. */
  post(url: string, message: Posting): Promise<Posted>
  close(): Promise<void>
}

export interface Limits {
  maxBytes: number
  /** For everything, from the name to the last byte. */
  timeoutMs?: number
  redirects?: number
}

export interface Opened {
  /** Where the redirects ended. */
  url: string
  contentType: string
  /** Ends with an error when it is longer than allowed or too slow. */
  body: AsyncIterable<Buffer>
}

export interface Downloaded {
  url: string
  contentType: string
  body: Buffer
}

export interface Posting {
  headers: Record<string, string>
  body: string | Buffer
  timeoutMs?: number
}

export interface Posted {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Buffer
}

export type Lookup = (
  hostname: string,
  options: object,
  callback: (error: Error | null, addresses: LookupAddress[]) => void,
) => void

const TIMEOUT_MS = 30_000
const POST_TIMEOUT_MS = 45_000
const POST_ANSWER_BYTES = 65_536
const REDIRECTS = 3
/** A name that moved is asked for again: no connection lives longer than this. */
const KEEP_ALIVE_MS = 10_000

/** `ca` is trusted instead of the public authorities: for tests that must not leave the machine. */
export function createDoor(
  rules: UrlRules,
  lookup: Lookup = systemLookup as unknown as Lookup,
  ca?: string,
): Door {
  const agent = new Agent({
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    connect: guardedConnector(rules, lookup, ca),
  })
  let closed = false

  /** Everything that goes wrong on the way, in the same words. */
  function trouble(): AppError {
    if (closed) return new AppError('unavailable', 'The server is stopping', { retryAfterMs: 1000 })
    return unreachable()
  }

  async function ask(url: string, signal: AbortSignal, options: Partial<Dispatcher.RequestOptions>) {
    // The library hears the signal only when it is connected.
    const late = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', reject, { once: true })
    })
    try {
      return await Promise.race([request(url, { dispatcher: agent, signal, ...options }), late])
    } catch {
      throw trouble()
    }
  }

  async function open(start: string, limits: Limits): Promise<Opened> {
    const signal = AbortSignal.timeout(limits.timeoutMs ?? TIMEOUT_MS)
    let url = start
    for (let hop = 0; ; hop++) {
      const fault = urlFault(url, rules)
      if (fault) throw refused(hop === 0 ? fault : `leads to a URL that ${fault}`)
      const { statusCode, headers, body } = await ask(url, signal, {
        // A connection of its own each time: nobody gets one that another account opened.
        reset: true,
        headers: { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'Trunkline' },
      })
      const reject = (error: AppError) => {
        body.on('error', () => {}).destroy()
        return error
      }
      const { location } = headers
      if (statusCode >= 300 && statusCode < 400 && typeof location === 'string') {
        if (hop >= (limits.redirects ?? REDIRECTS)) throw reject(refused('redirects too often'))
        const next = URL.canParse(location, url) ? new URL(location, url) : undefined
        if (!next) throw reject(refused('redirects to something that is no URL'))
        if (url.startsWith('https:') && next.protocol !== 'https:')
          throw reject(refused('redirects away from https'))
        reject(unreachable())
        next.hash = ''
        url = next.href
        continue
      }
      if (statusCode !== 200) throw reject(refused(`answered ${statusCode} instead of the file`))
      // A few compressed bytes can unfold into anything.
      if ((headers['content-encoding'] ?? 'identity') !== 'identity')
        throw reject(refused('answered with a compressed body'))
      if (Number(headers['content-length'] ?? 0) > limits.maxBytes) throw reject(tooLarge(limits.maxBytes))
      const contentType = String(headers['content-type'] ?? '')
        .split(';', 1)[0]!
        .trim()
        .toLowerCase()
      return { url, contentType, body: bounded(body, limits.maxBytes, trouble) }
    }
  }

  return {
    open,
    async download(start, limits) {
      const { body, ...rest } = await open(start, limits)
      const chunks: Buffer[] = []
      for await (const chunk of body) chunks.push(chunk)
      return { ...rest, body: Buffer.concat(chunks) }
    },
    async post(url, { headers, body, timeoutMs = POST_TIMEOUT_MS }) {
      const fault = urlFault(url, rules)
      if (fault) throw refused(fault)
      const signal = AbortSignal.timeout(timeoutMs)
      const answer = await ask(url, signal, { method: 'POST', headers, body })
      const start = await beginning(answer.body, POST_ANSWER_BYTES).catch(() => {
        throw trouble()
      })
      return { status: answer.statusCode, headers: answer.headers, body: start }
    },
    close() {
      closed = true
      return agent.destroy()
    },
  }
}

/**
 * Checks the addresses that a name leads to, an address that stands in the URL itself (nobody looks that up), and
 * once more the one that the connection has reached.
 */
function guardedConnector(rules: UrlRules, lookup: Lookup, ca?: string): buildConnector.connector {
  const connect = buildConnector({
    timeout: 10_000,
    lookup: guardedLookup(rules, lookup) as never,
    rejectUnauthorized: true,
    ...(ca ? { ca } : {}),
  })
  return (options, callback) => {
    const host = options.hostname.replace(/^\[|\]$/g, '')
    if (isIP(host) !== 0 && addressFault(host, host, rules))
      return callback(new Error('blocked address'), null)
    connect(options, (error, socket) => {
      if (socket && addressFault(host, socket.remoteAddress ?? '', rules)) {
        socket.destroy()
        return callback(new Error('blocked address'), null)
      }
      if (error) callback(error, null)
      else callback(null, socket!)
    })
  }
}

/** Resolves a name and refuses all its addresses when one of them is not public: it could be the one used. */
function guardedLookup(rules: UrlRules, lookup: Lookup): Lookup {
  return (hostname, options, callback) =>
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, [])
      const bad = addresses.some(({ address }) => addressFault(hostname, address, rules))
      if (bad || addresses.length === 0) return callback(new Error('blocked address'), [])
      if ((options as { all?: boolean }).all) return callback(null, addresses)
      // Node asks for one address only when it was told not to try several.
      const [{ address, family }] = addresses as [LookupAddress]
      const one = callback as unknown as (error: null, address: string, family: number) => void
      one(null, address, family)
    })
}

async function* bounded(
  body: AsyncIterable<Buffer>,
  maxBytes: number,
  trouble: () => AppError,
): AsyncIterable<Buffer> {
  let size = 0
  try {
    for await (const chunk of body) {
      size += chunk.length
      if (size > maxBytes) throw tooLarge(maxBytes)
      yield chunk
    }
  } catch (error) {
    throw error instanceof AppError ? error : trouble()
  }
}

async function beginning(body: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    size += chunk.length
    if (size >= maxBytes) break
  }
  return Buffer.concat(chunks).subarray(0, maxBytes)
}

/** The same words for a blocked address and a dead one: the difference would tell what is inside our network. */
function unreachable(): AppError {
  return new AppError('invalid', 'could not be fetched: the address cannot be reached or is not allowed')
}

function refused(what: string): AppError {
  return new AppError('invalid', what)
}

function tooLarge(maxBytes: number): AppError {
  return new AppError('invalid', `is larger than ${Math.floor(maxBytes / 1_000_000)} MB`)
}
