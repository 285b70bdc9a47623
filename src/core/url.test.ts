import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { urlFault } from './url.js'

const PUBLIC_ONLY = { allowLoopback: false }
const WITH_LOOPBACK = { allowLoopback: true }

/** Hosts that lead inside, in the spellings that have fooled guards before. */
const LOOPBACK = [
  'localhost',
  'LOCALHOST',
  '%6cocalhost',
  '127.0.0.1',
  '127.0.0.1.',
  '127.1',
  '127.255.255.254',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '017700000001',
  '①②⑦.⓪.⓪.①',
  '１２７.０.０.１',
  '127。0。0。1',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
]
const RESERVED = [
  '0',
  '0.0.0.0',
  '10.0.0.1',
  '10.255.255.255',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '3232235777',
  '0xc0a80101',
  '0300.0250.1.1',
  '100.64.0.1',
  '169.254.169.254',
  '0xa9fea9fe',
  '192.0.0.1',
  '192.0.2.1',
  '198.18.0.1',
  '198.51.100.7',
  '203.0.113.9',
  '192.88.99.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '[::]',
  '[::127.0.0.1]',
  '[::ffff:10.0.0.1]',
  '[::ffff:a9fe:a9fe]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b:1::1]',
  '[2002:7f00:1::]',
  '[2001::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[fe80::1]',
  '[fec0::1]',
  '[100::1]',
  '[2001:db8::1]',
  '[3fff::1]',
  '[5f00::1]',
  '[ff02::1]',
  'intranet',
  'localhost.',
  'localhost..',
  'app.localhost',
  'printer.local',
  'printer.local.',
  'metadata.google.internal',
  'router.home.arpa',
]

describe('urlFault', () => {
  it.each([
    'https://example.com',
    'https://example.com/hook?x=1&y=2',
    'https://example.com:8443/hook',
    'https://EXAMPLE.com/',
    'https://bücher.example/',
    'https://8.8.8.8/',
    'https://[2606:4700::1111]/',
    'https://local.example.com/',
  ])('takes %s', (url) => {
    expect(urlFault(url, PUBLIC_ONLY)).toBeUndefined()
    expect(urlFault(url, WITH_LOOPBACK)).toBeUndefined()
  })

  it.each([
    ['', 'must be a URL'],
    ['example.com', 'must be a URL'],
    ['//example.com/', 'must be a URL'],
    ['https://', 'must be a URL'],
    ['https://exa mple.com/', 'must not contain spaces or backslashes'],
    ['https:\\\\example.com', 'must not contain spaces or backslashes'],
    [' https://example.com', 'must not contain spaces or backslashes'],
    ['https://example.com/\n', 'must not contain spaces or backslashes'],
    ['http://example.com/', 'must be an https URL'],
    ['ftp://example.com/', 'must be an https URL'],
    ['file:///etc/passwd', 'must be an https URL'],
    ['data:text/plain,x', 'must be an https URL'],
    ['javascript:alert(1)', 'must be an https URL'],
    ['https://user@example.com/', 'must not contain credentials'],
    ['https://user:secret@example.com/', 'must not contain credentials'],
    ['https://example.com/#top', 'must not contain a fragment'],
    ['https://[fe80::1%25eth0]/', 'must be a URL'],
    [`https://example.com/${'x'.repeat(2048)}`, 'must be at most 2048 characters'],
  ])('refuses %j', (url, fault) => {
    expect(urlFault(url, PUBLIC_ONLY)).toBe(fault)
    expect(urlFault(url, WITH_LOOPBACK)).toBe(fault)
  })

  it.each([...LOOPBACK, ...RESERVED])('refuses the host %s', (host) => {
    expect(URL.canParse(`https://${host}/`)).toBe(true)
    expect(urlFault(`https://${host}/`, PUBLIC_ONLY)).toBe('must not point to a private or reserved address')
    expect(urlFault(`http://${host}/`, PUBLIC_ONLY)).toBe('must be an https URL')
  })

  it.each(LOOPBACK)('takes the host %s where loopback is allowed, with and without TLS', (host) => {
    expect(urlFault(`http://${host}:3000/hook`, WITH_LOOPBACK)).toBeUndefined()
    expect(urlFault(`https://${host}:3000/hook`, WITH_LOOPBACK)).toBeUndefined()
  })

  it.each(RESERVED)('does not take %s for loopback', (host) => {
    expect(urlFault(`https://${host}/`, WITH_LOOPBACK)).toBe(
      'must not point to a private or reserved address',
    )
    expect(urlFault(`http://${host}/`, WITH_LOOPBACK)).toBe('must be an https URL')
  })

  it('sees through every way to write a private address', () => {
    const byte = fc.integer({ min: 0, max: 255 })
    const inside = fc.oneof(
      fc.tuple(fc.constantFrom(0, 10, 127), byte, byte, byte),
      fc.tuple(fc.constant(192), fc.constant(168), byte, byte),
      fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), byte, byte),
      fc.tuple(fc.constant(169), fc.constant(254), byte, byte),
      fc.tuple(fc.constant(100), fc.integer({ min: 64, max: 127 }), byte, byte),
    )
    const spellings: ((a: number[]) => string)[] = [
      (a) => a.join('.'),
      (a) => `${a.join('.')}.`,
      (a) => String(a.reduce((sum, part) => sum * 256 + part, 0)),
      (a) => `0x${a.reduce((sum, part) => sum * 256 + part, 0).toString(16)}`,
      (a) => a.map((part) => `0${part.toString(8)}`).join('.'),
      (a) => a.map((part) => `0x${part.toString(16)}`).join('.'),
      (a) => `${a[0]}.${a.slice(1).reduce((sum, part) => sum * 256 + part, 0)}`,
      (a) => `[::ffff:${a.join('.')}]`,
    ]
    fc.assert(
      fc.property(inside, fc.constantFrom(...spellings), (address, spell) => {
        expect(urlFault(`https://${spell(address)}/`, PUBLIC_ONLY)).toBe(
          'must not point to a private or reserved address',
        )
      }),
      { numRuns: 2000 },
    )
  })

  it('never throws', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.webUrl(),
          fc.string().map((s) => `https://${s}`),
        ),
        (text) => {
          const fault = urlFault(text, PUBLIC_ONLY)
          if (fault === undefined) expect(new URL(text).protocol).toBe('https:')
        },
      ),
      { numRuns: 1000 },
    )
  })
})
