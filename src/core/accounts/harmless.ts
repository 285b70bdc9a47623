import { parseUrl } from '../../base/parse-url.js'
import { isLoopback } from '../url.js'

/**
 * The published development keys, and URLs with loopback addresses, are allowed only in a harmless world: nothing but
 * this machine reaches it, and it reaches no real phone.
 */
export interface Surroundings {
  /** Address that the server listens on. */
  host: string
  publicUrl: string | null
  hasRealLines: boolean
}

/** What makes the world more than harmless; empty in a harmless world. */
export function harmsOf({ host, publicUrl, hasRealLines }: Surroundings): string[] {
  return [
    ...(isLoopback(host) ? [] : [`the server listens on ${host}`]),
    ...(publicUrl === null || isLoopbackUrl(publicUrl) ? [] : [`TRUNKLINE_PUBLIC_URL is ${publicUrl}`]),
    ...(hasRealLines ? ['a line reaches real phones'] : []),
  ]
}

export function isSimulated({ driver }: { driver: string }): boolean {
  return driver === 'simulator'
}

/** Creates keys of one's own, for every text that tells the user to. */
export const INIT = 'trunkline init'

export function keysEnded(harms: readonly string[], command: string = INIT): string {
  return `The development keys have ended, because ${harms.join(' and ')}. Create your own keys with: ${command}`
}

function isLoopbackUrl(url: string): boolean {
  return isLoopback(parseUrl(url)?.hostname ?? '')
}

interface Arrival {
  headers: Readonly<Record<string, unknown>>
  httpVersion: string
  /** Address of the other end of the connection. */
  address: string | undefined
}

const FORWARDING = /^(?:forwarded|x-forwarded\b.*|via|x-real-ip)$/

/**
 * How a request shows that another machine or a proxy sent it. HTTP/1.0 is what nginx speaks to its upstream unless
 * told otherwise, and no current client does.
 */
export function originOutside({ headers, httpVersion, address }: Arrival): string | undefined {
  // The usual address first: this runs for every request with a development key.
  if (address !== '127.0.0.1' && !isLoopback(address ?? ''))
    return `it comes from ${address || 'an unknown address'}`
  if (httpVersion.startsWith('1.0') || httpVersion.startsWith('0.'))
    return 'it speaks HTTP/1.0, as proxies do'
  const header = Object.keys(headers).find((name) => FORWARDING.test(name))
  return header && `a proxy has added the header ${header}`
}
