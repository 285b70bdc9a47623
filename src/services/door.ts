import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import { Agent, request } from 'undici'
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

export type Lookup = (
  hostname: string,
  options: object,
  callback: (error: Error | null, addresses: LookupAddress[]) => void,
) => void

const TIMEOUT_MS = 30_000
const REDIRECTS = 3
/** A name that moved is asked for again: no connection lives longer than this. */
const KEEP_ALIVE_MS = 10_000

export function createDoor(rules: UrlRules, lookup: Lookup = systemLookup as unknown as Lookup): Door {
  const agent = new Agent({
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    connect: { timeout: 10_000, lookup: guarded(rules, lookup) as never },
  })

  async function open(start: string, limits: Limits): Promise<Opened> {
    const signal = AbortSignal.timeout(limits.timeoutMs ?? TIMEOUT_MS)
    let url = start
    for (let hop = 0; ; hop++) {
      const fault = urlFault(url, rules)
      if (fault) throw refused(hop === 0 ? fault : `leads to a URL that ${fault}`)
      const answer = await request(url, {
        dispatcher: agent,
        signal,
        headers: { accept: '*/*', 'user-agent': 'Trunkline' },
      }).catch(() => {
        throw unreachable()
      })
      const { location } = answer.headers
      if (answer.statusCode >= 300 && answer.statusCode < 400 && typeof location === 'string') {
        await answer.body.dump().catch(() => {})
        if (hop >= (limits.redirects ?? REDIRECTS)) throw refused('redirects too often')
        const next = URL.canParse(location, url) ? new URL(location, url) : undefined
        if (!next) throw refused('redirects to something that is no URL')
        if (url.startsWith('https:') && next.protocol !== 'https:') throw refused('redirects away from https')
        next.hash = ''
        url = next.href
        continue
      }
      if (answer.statusCode !== 200) {
        await answer.body.dump().catch(() => {})
        throw refused(`answered ${answer.statusCode} instead of the file`)
      }
      if (Number(answer.headers['content-length'] ?? 0) > limits.maxBytes) {
        answer.body.destroy()
        throw tooLarge(limits.maxBytes)
      }
      const contentType = String(answer.headers['content-type'] ?? '')
        .split(';', 1)[0]!
        .trim()
        .toLowerCase()
      return { url, contentType, body: bounded(answer.body, limits.maxBytes) }
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
    close: () => agent.close(),
  }
}

/** Resolves a name and refuses all its addresses when one of them is not public: it could be the one used. */
function guarded(rules: UrlRules, lookup: Lookup): Lookup {
  return (hostname, options, callback) =>
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, [])
      const bad = addresses.some(({ address }) => addressFault(hostname, address, rules))
      if (bad || addresses.length === 0) return callback(new Error('blocked address'), [])
      callback(null, addresses)
    })
}

async function* bounded(body: AsyncIterable<Buffer>, maxBytes: number): AsyncIterable<Buffer> {
  let size = 0
  try {
    for await (const chunk of body) {
      size += chunk.length
      if (size > maxBytes) throw tooLarge(maxBytes)
      yield chunk
    }
  } catch (error) {
    throw error instanceof AppError ? error : unreachable()
  }
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
