import { parseUrl } from '../../base/parse-url.js'

const LOCAL =
  /^(localhost|.*\.local|.*\.localhost|127\..*|10\..*|192\.168\..*|172\.(1[6-9]|2\d|3[01])\..*|0\.0\.0\.0|\[.*\]|[^.]*)$/i

/**
 * Whether a carrier can call this address. Carriers refuse a send whose callback address is not public or has an
 * underscore in its name; a test server on this machine can call this machine.
 */
export function canBeCalled(url: string, by: string): boolean {
  const host = parseUrl(url)?.hostname ?? ''
  if (host === '' || host.includes('_')) return false
  return !LOCAL.test(host) || LOCAL.test(parseUrl(by)?.hostname ?? '')
}

const LOOPBACK = /^(localhost|.*\.localhost|127\..*|\[::1\])$/i

/** Why a carrier at `by` cannot call this address; undefined if it can. */
export function calledFault(url: string, by: string): string | undefined {
  const host = parseUrl(url)?.hostname ?? ''
  if (host === '') return 'the server has no address'
  if (host.includes('_')) return `its name ${host} has an underscore, which carriers refuse`
  const caller = parseUrl(by)?.hostname ?? ''
  if (LOOPBACK.test(host) && !LOOPBACK.test(caller))
    return `its address ${host} is known to this machine only`
  return canBeCalled(url, by) ? undefined : `its address ${host} is not public`
}

export function isOnInternet(url: string): boolean {
  return !LOCAL.test(parseUrl(url)?.hostname ?? '')
}

/** The host in an address, without path and query, which may contain secrets. */
export function hostOf(url: string): string {
  return /^https?:\/\/(?:[^/?#]*@)?([^/?#]+)/i.exec(url)?.[1] ?? 'another address'
}
