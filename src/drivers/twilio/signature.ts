import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { parse, stringify } from 'node:querystring'
import { parseUrl } from '../../base/parse-url.js'

/** A webhook of Twilio, as far as its signature covers it. */
export interface SignedRequest {
  /** The URL that Twilio called, as it was given to Twilio. */
  url: string
  /** Parameters of a form; none for any other body. */
  params: URLSearchParams
  body: Buffer
}

/**
 * Whether one of the tokens signed the request. Twilio signs the URL and the sorted parameters. It is not consistent
 * about ports and about how a query is written, so its own library accepts several spellings of the URL.
 */
export function isSigned(
  { url, params, body }: SignedRequest,
  signature: string,
  tokens: readonly string[],
): boolean {
  const digest = parseUrl(url)?.searchParams.get('bodySHA256')
  // A body that is no form is covered by its digest in the URL.
  if (digest && !isEqual(digest.toLowerCase(), createHash('sha256').update(body).digest('hex'))) return false
  const tail = digest ? '' : joined(params)
  return tokens.some((token) =>
    spellingsOf(url).some((one) =>
      isEqual(
        signature,
        createHmac('sha1', token)
          .update(one + tail)
          .digest('base64'),
      ),
    ),
  )
}

/** Names in order, each with its values; a repeated value counts once. */
function joined(params: URLSearchParams): string {
  const values = new Map<string, Set<string>>()
  for (const [name, value] of params) values.set(name, (values.get(name) ?? new Set()).add(value))
  return [...values.keys()]
    .sort()
    .flatMap((name) => [...values.get(name)!].sort().map((value) => name + value))
    .join('')
}

function spellingsOf(url: string): string[] {
  const normal = parseUrl(url)?.href ?? url
  const both = [withoutPort(normal), withPort(normal)]
  return [...new Set([withoutPort(url), withPort(url), ...both, ...both.map(withLegacyQuery)])]
}

const AUTHORITY = /^(https?:\/\/)((?:[^/?#]*@)?)(\[[^\]/?#]*\]|[^:/?#]*)(:\d*)?/i

function withoutPort(url: string): string {
  return url.replace(AUTHORITY, '$1$2$3')
}

function withPort(url: string): string {
  return url.replace(AUTHORITY, (_, scheme: string, user: string, host: string, port?: string) => {
    return `${scheme}${user}${host}${port || (scheme.toLowerCase() === 'https://' ? ':443' : ':80')}`
  })
}

function withLegacyQuery(url: string): string {
  const at = url.indexOf('?')
  return at < 0 || at === url.length - 1 ? url : `${url.slice(0, at)}?${stringify(parse(url.slice(at + 1)))}`
}

function isEqual(a: string, b: string): boolean {
  const [x, y] = [Buffer.from(a), Buffer.from(b)]
  return x.length === y.length && timingSafeEqual(x, y)
}
