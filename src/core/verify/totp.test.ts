import { describe, expect, it } from 'vitest'
import { readOtpauth } from './otpauth.js'
import { type Algorithm, fromBase32, plainSecret, secondsLeft, toBase32, totpCode } from './totp.js'

/** Appendix B of RFC 6238. */
const SEEDS: Record<Algorithm, Buffer> = {
  SHA1: Buffer.from('12345678901234567890'),
  SHA256: Buffer.from('12345678901234567890123456789012'),
  SHA512: Buffer.from('1234567890123456789012345678901234567890123456789012345678901234'),
}
const VECTORS: [number, Algorithm, string][] = [
  [59, 'SHA1', '94287082'],
  [59, 'SHA256', '46119246'],
  [59, 'SHA512', '90693936'],
  [1111111109, 'SHA1', '07081804'],
  [1111111109, 'SHA256', '68084774'],
  [1111111109, 'SHA512', '25091201'],
  [1111111111, 'SHA1', '14050471'],
  [1111111111, 'SHA256', '67062674'],
  [1111111111, 'SHA512', '99943326'],
  [1234567890, 'SHA1', '89005924'],
  [1234567890, 'SHA256', '91819424'],
  [1234567890, 'SHA512', '93441116'],
  [2000000000, 'SHA1', '69279037'],
  [2000000000, 'SHA256', '90698825'],
  [2000000000, 'SHA512', '38618901'],
  [20000000000, 'SHA1', '65353130'],
  [20000000000, 'SHA256', '77737706'],
  [20000000000, 'SHA512', '47863826'],
]

describe('codes', () => {
  it.each(VECTORS)('at %d with %s are those of RFC 6238', (seconds, algorithm, code) => {
    const settings = { algorithm, digits: 8, period: 30 }
    expect(totpCode(SEEDS[algorithm], settings, seconds)).toBe(code)
    expect(totpCode(SEEDS[algorithm], { ...settings, digits: 6 }, seconds)).toBe(code.slice(2))
  })

  it('change at the boundary second', () => {
    const at = (seconds: number) =>
      totpCode(SEEDS.SHA1, { algorithm: 'SHA1', digits: 8, period: 30 }, seconds)
    expect(at(30)).toBe('94287082')
    expect(at(59)).toBe('94287082')
    expect(at(29)).not.toBe(at(30))
    expect(at(60)).not.toBe(at(59))
    expect([0, 1, 29, 30, 59].map((seconds) => secondsLeft(30, seconds))).toEqual([30, 29, 1, 30, 1])
  })
})

describe('base32', () => {
  it('is that of RFC 4648, without padding', () => {
    const texts = {
      f: 'MY',
      fo: 'MZXQ',
      foo: 'MZXW6',
      foob: 'MZXW6YQ',
      fooba: 'MZXW6YTB',
      foobar: 'MZXW6YTBOI',
    }
    for (const [text, encoded] of Object.entries(texts)) {
      expect(toBase32(Buffer.from(text))).toBe(encoded)
      expect(fromBase32(encoded).toString()).toBe(text)
    }
    const all = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
    expect(fromBase32(toBase32(all)).equals(all)).toBe(true)
  })

  it.each([
    ['JBSWY3DPEHPK3PXP', 'JBSWY3DPEHPK3PXP'],
    ['jbsw y3dp ehpk 3pxp', 'JBSWY3DPEHPK3PXP'],
    ['JBSW-Y3DP-EHPK-3PXP', 'JBSWY3DPEHPK3PXP'],
    ['MZXW6YTBOI======', 'MZXW6YTBOI'],
    ['\tMZXW6YTBOI\n', 'MZXW6YTBOI'],
    // Random letters instead of random bytes leave bits over; every authenticator drops them.
    ['MZXW6YTBOJ', 'MZXW6YTBOJ'],
  ])('%j is tolerated', (text, plain) => expect(plainSecret(text)).toBe(plain))

  it.each([
    ['empty', ''],
    ['only padding', '===='],
    ['one byte', 'MY'],
    ['a one', 'JBSWY3DPEHPK3PX1'],
    ['an eight', 'JBSWY3DPEHPK3PX8'],
    ['a zero', 'JBSWY3DPEHPK3PX0'],
    ['padding inside', 'JBSW=Y3DPEHPK3PXP'],
    ['an impossible length', 'JBSWY3DPE'],
    ['10 KB', 'A'.repeat(10_240)],
    ['257 bytes', toBase32(Buffer.alloc(257))],
    ['an accent', 'JBSWY3DPÉHPK3PXP'],
    ['a dotless i, which upper case would turn into I', 'JBSWY3DPıHPK3PXP'],
  ])('%s is refused', (_name, text) => expect(plainSecret(text)).toBeUndefined())
})

describe('otpauth URIs', () => {
  const read = (uri: string) => readOtpauth(uri)
  const SECRET = 'JBSWY3DPEHPK3PXP'

  it.each([
    [
      `otpauth://totp/GitHub:agent@example.com?secret=${SECRET}&issuer=GitHub`,
      {
        label: 'agent@example.com',
        issuer: 'GitHub',
        secret: SECRET,
        algorithm: 'SHA1',
        digits: 6,
        period: 30,
      },
    ],
    [
      `otpauth://totp/ACME%20Co%3A%20john.doe@email.com?secret=${SECRET}&algorithm=sha256&digits=8&period=60`,
      { label: 'john.doe@email.com', issuer: 'ACME Co', algorithm: 'SHA256', digits: 8, period: 60 },
    ],
    [`otpauth://totp/Old:me?secret=${SECRET}&issuer=New`, { label: 'me', issuer: 'New' }],
    [`otpauth://totp/me+work@example.com?secret=${SECRET}`, { label: 'me+work@example.com', issuer: null }],
    [`otpauth://totp/x?secret=${SECRET}&issuer=Two+Words`, { issuer: 'Two Words' }],
    [`otpauth://totp/?secret=${SECRET}&issuer=Only`, { label: 'Only', issuer: 'Only' }],
    [`OTPAUTH://TOTP/x?SECRET=${SECRET.toLowerCase()}`, { label: 'x', secret: SECRET }],
    [`otpauth://totp/x?secret=${SECRET}&image=https%3A%2F%2Fexample.com%2Fi.png&counter=1`, { label: 'x' }],
    [`otpauth://totp/%E2%9C%93?secret=jbsw%20y3dp%20ehpk%203pxp%3D%3D`, { label: '✓', secret: SECRET }],
  ])('%s', (uri, expected) => expect(read(uri)).toMatchObject(expected))

  it.each([
    [`otpauth://hotp/x?secret=${SECRET}&counter=0`, /hotp/],
    [`https://totp/x?secret=${SECRET}`, /otpauth:\/\/totp/],
    [`otpauth://steam/x?secret=${SECRET}`, /otpauth:\/\/totp/],
    [`otpauth://user@totp/x?secret=${SECRET}`, /otpauth:\/\/totp/],
    [`otpauth:totp/x?secret=${SECRET}`, /otpauth:\/\/totp/],
    ['', /otpauth:\/\/totp/],
    ['otpauth://totp/x', /has no secret/],
    ['otpauth://totp/x?secret=', /has no secret/],
    ['otpauth://totp/x?secret=JBSWY3DPEHPK3PX1', /not base32/],
    [`otpauth://totp/x?secret=${SECRET}&secret=${SECRET}`, /secret is given more than once/],
    [`otpauth://totp/x?secret=${SECRET}&%73ecret=${SECRET}`, /secret is given more than once/],
    [`otpauth://totp/x?secret=${SECRET}&Digits=6&digits=8`, /digits is given more than once/],
    [`otpauth://totp/?secret=${SECRET}`, /no label/],
    [`otpauth://totp/%00?secret=${SECRET}`, /control/],
    [`otpauth://totp/a%0d%0ab?secret=${SECRET}`, /control/],
    [`otpauth://totp/%ff?secret=${SECRET}`, /UTF-8/],
    [`otpauth://totp/%ED%A0%80?secret=${SECRET}`, /UTF-8/],
    [`otpauth://totp/100%?secret=${SECRET}`, /UTF-8/],
    [`otpauth://totp/${'x'.repeat(201)}?secret=${SECRET}`, /200 characters/],
    [`otpauth://totp/x?secret=${SECRET}&algorithm=MD5`, /algorithm must be/],
    [`otpauth://totp/x?secret=${SECRET}&digits=7`, /digits must be 6 or 8/],
    [`otpauth://totp/x?secret=${SECRET}&digits=6.0`, /digits/],
    [`otpauth://totp/x?secret=${SECRET}&period=0`, /period/],
    [`otpauth://totp/x?secret=${SECRET}&period=-1`, /period/],
    [`otpauth://totp/x?secret=${SECRET}&period=1.5`, /period/],
    [`otpauth://totp/x?secret=${SECRET}&period=86401`, /period/],
    [`otpauth://totp/x?secret=${SECRET}&period=1000000000`, /period/],
    [`otpauth://totp/x?secret=${SECRET}#fragment`, /otpauth/],
  ])('%s is refused', (uri, fault) =>
    expect(read(uri)).toMatchObject({ fault: expect.stringMatching(fault) }),
  )
})
