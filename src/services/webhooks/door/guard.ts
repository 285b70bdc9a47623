import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import { isIP } from 'node:net'
import { Agent, buildConnector } from 'undici'
import { addressFault, type UrlRules } from '../../../core/url.js'
import { BlockedAddress } from './failure.js'

export type Lookup = (
  hostname: string,
  options: object,
  callback: (error: Error | null, addresses: LookupAddress[]) => void,
) => void

/** Name lookup and certificates; tests that must not use the network replace them. */
export interface Guards {
  rules: UrlRules
  lookup?: Lookup
  /** CA certificate to trust instead of the public ones. */
  ca?: string
  /** Time limit from the name lookup to the end of the TLS handshake. */
  connectMs?: number
}

const CONNECT_MS = 5000
/** Addresses are tried one by one, and no legitimate name has this many. */
const MAX_ADDRESSES = 64
/** After this time an idle connection closes, and the name is looked up again. */
const KEEP_ALIVE_MS = 10_000
const MAX_HEADER_BYTES = 16_384

/**
 * An HTTP client that checks every connection. Its callers limit the time of a whole exchange, which the library
 * cannot: its own timers restart with each byte.
 */
export function guardedAgent(guards: Guards): Agent {
  return new Agent({
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: guardedConnector(guards),
  })
}

/**
 * Checks all addresses of a name, an IP address in the URL (which is not looked up), and the remote address of the
 * finished connection.
 */
function guardedConnector({ rules, lookup, ca, connectMs }: Guards): buildConnector.connector {
  const connect = buildConnector({
    timeout: connectMs ?? CONNECT_MS,
    lookup: guardedLookup(rules, lookup ?? (systemLookup as unknown as Lookup)) as never,
    rejectUnauthorized: true,
    ...(ca ? { ca } : {}),
  })
  return (options, callback) => {
    const host = options.hostname.replace(/^\[|\]$/g, '')
    if (isIP(host) !== 0 && addressFault(host, host, rules))
      return callback(new BlockedAddress('the URL names a blocked address'), null)
    connect(options, (error, socket) => {
      if (socket && addressFault(host, socket.remoteAddress ?? '', rules)) {
        socket.destroy()
        return callback(new BlockedAddress('the connection reached a blocked address'), null)
      }
      if (error) callback(error, null)
      else callback(null, socket!)
    })
  }
}

/** Resolves a name, and refuses all its addresses if one of them is not public, because any of them may be used. */
function guardedLookup(rules: UrlRules, lookup: Lookup): Lookup {
  return (hostname, options, callback) =>
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, [])
      const isOdd = addresses.length === 0 || addresses.length > MAX_ADDRESSES
      if (isOdd || addresses.some(({ address }) => addressFault(hostname, address, rules)))
        return callback(new BlockedAddress('the name leads to a blocked address'), [])
      if ((options as { all?: boolean }).all) return callback(null, addresses)
      // Node asks for a single address only if it must not try several.
      const [{ address, family }] = addresses as [LookupAddress]
      const one = callback as unknown as (error: null, address: string, family: number) => void
      one(null, address, family)
    })
}
