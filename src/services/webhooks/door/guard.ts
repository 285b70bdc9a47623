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

/** Who answers for names and certificates; tests that must not leave the machine bring their own. */
export interface Guards {
  rules: UrlRules
  lookup?: Lookup
  /** Trusted instead of the public authorities. */
  ca?: string
  /** From the name to the end of the TLS handshake. */
  connectMs?: number
}

const CONNECT_MS = 5000
/** No honest name has more addresses, and we would try them one by one. */
const MAX_ADDRESSES = 64
/** An idle connection is not worth more; the name is asked for again after it. */
const KEEP_ALIVE_MS = 10_000
const MAX_HEADER_BYTES = 16_384

/**
 * A client whose every connection was checked. Its callers watch the time of a whole exchange, which the library
 * cannot: its own timers begin again with each byte.
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
 * Checks the addresses that a name leads to, an address that stands in the URL itself (nobody looks that up), and
 * once more the one that the connection has reached.
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

/** Resolves a name and refuses all its addresses when one of them is not public: it could be the one used. */
function guardedLookup(rules: UrlRules, lookup: Lookup): Lookup {
  return (hostname, options, callback) =>
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, [])
      const isOdd = addresses.length === 0 || addresses.length > MAX_ADDRESSES
      if (isOdd || addresses.some(({ address }) => addressFault(hostname, address, rules)))
        return callback(new BlockedAddress('the name leads to a blocked address'), [])
      if ((options as { all?: boolean }).all) return callback(null, addresses)
      // Node asks for one address only when it was told not to try several.
      const [{ address, family }] = addresses as [LookupAddress]
      const one = callback as unknown as (error: null, address: string, family: number) => void
      one(null, address, family)
    })
}
