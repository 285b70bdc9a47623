import { describe, expect, it } from 'vitest'
import { checkTrustedProxies } from './trusted-proxies.js'

describe('addresses of trusted proxies', () => {
  it('takes addresses and networks of both families', () => {
    const proxies = ['127.0.0.1', '::1', '10.42.0.0/16', 'fd00::/8', '192.0.2.7/32', '2001:db8::1/128']
    expect(checkTrustedProxies(proxies)).toEqual(proxies)
    expect(checkTrustedProxies([])).toEqual([])
  })

  it.each([
    ['1', 'not how many'],
    ['true', 'no address or network'],
    ['loopback', 'no address or network'],
    ['proxy.example.com', 'no address or network'],
    ['10.0.0', 'no address or network'],
    ['0x7f.0.0.1', 'no address or network'],
    ['10.0.0.0/8/8', 'no address or network'],
    ['10.0.0.0/33', 'from 1 to 32'],
    ['10.0.0.0/', 'from 1 to 32'],
    ['10.0.0.0/255.0.0.0', 'from 1 to 32'],
    ['fd00::/129', 'from 1 to 128'],
    ['0.0.0.0/0', 'everybody'],
    ['::/0', 'everybody'],
  ])('refuses %s in words', (proxy, words) => {
    expect(() => checkTrustedProxies(['127.0.0.1', proxy])).toThrow(`has "${proxy}", `)
    expect(() => checkTrustedProxies([proxy])).toThrow(words)
  })
})
