import ipaddr from 'ipaddr.js'

/** Checks addresses and networks of proxies, such as `127.0.0.1` and `10.42.0.0/16`. Throws with words about a wrong one. */
export function checkTrustedProxies(proxies: readonly string[]): readonly string[] {
  for (const proxy of proxies) {
    const fault = faultOf(proxy)
    if (fault) throw new Error(`has "${proxy}", ${fault}`)
  }
  return proxies
}

function faultOf(proxy: string): string | undefined {
  // A count of proxies cannot tell a proxy from a client that connects directly and forges the header.
  if (/^\d+$/.test(proxy)) return 'a number. Name the addresses of your proxies, not how many there are'
  const [address, bits, ...rest] = proxy.split('/')
  const isAddress = ipaddr.IPv4.isValidFourPartDecimal(address!) || ipaddr.IPv6.isValid(address!)
  if (!isAddress || rest.length > 0)
    return 'which is no address or network. Use addresses like 127.0.0.1 or networks like 10.42.0.0/16, separated by commas'
  if (bits === undefined) return undefined
  const most = address!.includes(':') ? 128 : 32
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > most) return `whose network has no length from 1 to ${most}`
  return Number(bits) === 0 ? 'which is everybody: any client could forge its address' : undefined
}
