import { parseUrl } from '../../base/parse-url.js'

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const DNS_NAME = new RegExp(`^(?=.{1,253}$)${LABEL}(?:\\.${LABEL})*$`)

/**
 * The fault of the origin of a site that may frame a page, or undefined. It must be the exact origin that browsers
 * compare, with a host name: the only IP address that CSP accepts is 127.0.0.1.
 */
export function originFault(text: string): string | undefined {
  const exact = 'must be an exact origin like https://www.example.com: scheme, host and port, nothing else'
  const url = parseUrl(text)
  if (!url) return exact
  const { protocol, hostname, origin } = url
  const local = hostname === 'localhost' || hostname === '127.0.0.1'
  if (protocol !== 'https:' && !(protocol === 'http:' && local))
    return 'must start with https://; http:// is for localhost and 127.0.0.1 only'
  if (/^[\d.]+$/.test(hostname) ? !local : hostname.startsWith('['))
    return 'must have a host name; the only address that browsers accept here is 127.0.0.1'
  if (!DNS_NAME.test(hostname)) return 'must have an exact host name, without wildcards'
  return origin === text ? undefined : `${exact}. Did you mean ${origin}?`
}
