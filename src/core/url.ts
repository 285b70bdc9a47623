import ipaddr from 'ipaddr.js'
import { parseUrl } from '../base/parse-url.js'
import { trimEnd } from './trim-end.js'

const MAX_LENGTH = 2048
const ROUTED_IPV6 = ipaddr.parseCIDR('2000::/3')

export interface UrlRules {
  /** Whether loopback may be called: in a harmless world, for a developer's own receiver. */
  allowLoopback: boolean
  /** Private hosts that the operator allows, over plain HTTP, too. */
  allowHosts?: readonly string[]
}

/**
 * The fault of a URL that Trunkline is asked to call, or undefined. This checks the URL when it is configured;
 * the resolved address is checked again at every connection.
 */
export function urlFault(text: string, rules: UrlRules): string | undefined {
  if (text.length > MAX_LENGTH) return `must be at most ${MAX_LENGTH} characters`
  if (/[\s\\]/.test(text)) return 'must not contain spaces or backslashes'
  const url = parseUrl(text)
  if (!url) return 'must be a URL'
  const local = isAllowed(url.hostname, rules)
  if (url.protocol !== 'https:' && !(local && url.protocol === 'http:')) return 'must be an https URL'
  if (url.username || url.password) return 'must not contain credentials'
  if (url.hash) return 'must not contain a fragment'
  if (!local && !isPublicHost(url.hostname)) return 'must not point to a private or reserved address'
  if (!local && isServicePort(url.port)) return 'must not name a port of another service'
  return undefined
}

/** The fault of a resolved address, or undefined. */
export function addressFault(hostname: string, address: string, rules: UrlRules): string | undefined {
  if (rules.allowHosts?.includes(hostname)) return undefined
  const parsed = ipaddr.isValid(address) ? ipaddr.process(address) : undefined
  // `localhost` is allowed only because it resolves to loopback.
  if (isAllowed(hostname, rules)) return parsed?.range() === 'loopback' ? undefined : 'not loopback'
  return parsed && isPublicAddress(parsed) ? undefined : 'not public'
}

/** Hosts that the operator allows, and loopback in a harmless world. */
function isAllowed(hostname: string, rules: UrlRules): boolean {
  return (rules.allowLoopback && isLoopback(hostname)) || (rules.allowHosts?.includes(hostname) ?? false)
}

/** Web servers use port 443 and ports above 1024. Other services listen below 1024 and on these ports. */
const SERVICE_PORTS = new Set([
  '1433',
  '1521',
  '2049',
  '3306',
  '3389',
  '5432',
  '5900',
  '6379',
  '9200',
  '11211',
  '27017',
])
function isServicePort(port: string): boolean {
  return port !== '' && (Number(port) < 1024 || SERVICE_PORTS.has(port))
}

/** Of a host name or an address, which may stand in brackets or be mapped to IPv6. */
export function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  return host === 'localhost' || (ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback')
}

function isPublicHost(hostname: string): boolean {
  const host = trimEnd(hostname.replace(/^\[|\]$/g, ''), '.')
  if (ipaddr.isValid(host)) return isPublicAddress(ipaddr.process(host))
  return host.includes('.') && !/(^|\.)(localhost|local|internal|home\.arpa)$/.test(host)
}

/** The library calls every unnamed IPv6 range unicast, even ::127.0.0.1; only 2000::/3 is routed. */
function isPublicAddress(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || address.match(ROUTED_IPV6))
}
