import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createVault, newSealKey, parseSealKeys, type SealContext, SealError } from './seal.js'

const PLACE: SealContext = { table: 'totp_secrets', column: 'secret', row: 'row-1', account: 'account-1' }
const key = (kid: string) => ({ kid, key: randomBytes(32) })

describe('sealing', () => {
  const vault = createVault([key('k1')])
  const sealed = vault.seal(PLACE, 'JBSWY3DPEHPK3PXP')

  it('writes version, key, iv, text and tag', () => {
    const [version, kid, iv, ct, tag] = sealed.split('.')
    expect([version, kid]).toEqual(['v1', 'k1'])
    expect([iv, ct, tag].map((part) => Buffer.from(part!, 'base64url').length)).toEqual([12, 16, 16])
    expect(vault.seal(PLACE, 'JBSWY3DPEHPK3PXP')).not.toBe(sealed)
    expect(sealed).not.toContain('JBSWY3DP')
  })

  it('opens what it sealed, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(vault.open(PLACE, vault.seal(PLACE, text))).toBe(text)
      }),
    )
  })

  it('fails on a bit flip at every byte of the written form', () => {
    const bytes = Buffer.from(sealed, 'latin1')
    for (let at = 0; at < bytes.length; at++) {
      for (let bit = 0; bit < 8; bit++) {
        const flipped = Buffer.from(bytes)
        flipped[at] = bytes[at]! ^ (1 << bit)
        expect(() => vault.open(PLACE, flipped.toString('latin1')), `byte ${at}, bit ${bit}`).toThrow(
          SealError,
        )
      }
    }
  })

  it('fails on a bit flip at every byte of iv, text and tag', () => {
    const parts = sealed.split('.')
    for (const index of [2, 3, 4]) {
      const bytes = Buffer.from(parts[index]!, 'base64url')
      for (let at = 0; at < bytes.length * 8; at++) {
        const flipped = Buffer.from(bytes)
        flipped[at >> 3] = bytes[at >> 3]! ^ (1 << (at & 7))
        const text = parts.with(index, flipped.toString('base64url')).join('.')
        expect(() => vault.open(PLACE, text)).toThrow(SealError)
      }
    }
  })

  it.each(['table', 'column', 'row', 'account'] as const)('does not open at another %s', (field) => {
    expect(() => vault.open({ ...PLACE, [field]: 'another' }, sealed)).toThrow(SealError)
  })

  it.each([
    ['a shorter tag', (text: string) => text.slice(0, -6)],
    ['no tag', (text: string) => text.replace(/\.[^.]*$/, '.')],
    ['a part too many', (text: string) => `${text}.AAAA`],
    ['a part too few', (text: string) => text.split('.').slice(0, 4).join('.')],
    ['another version', (text: string) => text.replace('v1', 'v2')],
    ['another key name', (text: string) => text.replace('k1', 'k2')],
    ['padding', (text: string) => `${text}==`],
    ['plain text', () => 'JBSWY3DPEHPK3PXP'],
    ['nothing', () => ''],
  ])('does not open %s', (_name, change) => {
    expect(() => vault.open(PLACE, change(sealed))).toThrow(SealError)
  })

  it('seals with the first key of the ring and opens with all', () => {
    const [older, newer] = [key('older'), key('newer')]
    const old = createVault([older]).seal(PLACE, 'x')
    const ring = createVault([newer, older])
    expect(ring.open(PLACE, old)).toBe('x')
    expect(ring.seal(PLACE, 'x').split('.')[1]).toBe('newer')
    expect(() => createVault([newer]).open(PLACE, old)).toThrow(/key older, which is not in the key ring/)
    expect(() => createVault([{ ...newer, kid: 'older' }]).open(PLACE, old)).toThrow(SealError)
  })

  it('signs by purpose and name, good with any key of the ring', () => {
    const [older, newer] = [key('older'), key('newer')]
    const token = createVault([older]).sign('session', 's1')
    const ring = createVault([newer, older])
    expect(ring.isSigned('session', 's1', token)).toBe(true)
    expect(ring.isSigned('session', 's2', token)).toBe(false)
    expect(ring.isSigned('other', 's1', token)).toBe(false)
    expect(ring.isSigned('session', 's1', token.slice(1))).toBe(false)
    expect(ring.isSigned('session', 's1', '')).toBe(false)
    expect(createVault([newer]).isSigned('session', 's1', token)).toBe(false)
  })
})

describe('a key ring', () => {
  const good = randomBytes(32).toString('base64')

  it('is read from commas and lines', () => {
    expect(parseSealKeys(` a:${good} , b:${good}\nc:${good}\n`).map(({ kid }) => kid)).toEqual([
      'a',
      'b',
      'c',
    ])
    expect(parseSealKeys(newSealKey())[0]!.key).toHaveLength(32)
  })

  it.each([
    ['', /no key/],
    [' , ', /no key/],
    [good, /entry 1 must be kid:key/],
    [`a b:${good}`, /entry 1/],
    [`${'x'.repeat(33)}:${good}`, /entry 1/],
    ['a:not base64!', /entry 1/],
    [`a:${randomBytes(31).toString('base64')}`, /the key a must be 32 bytes in base64, and is 31/],
    [`a:${good},a:${good}`, /same name/],
  ])('%# is refused without showing a key', (text, message) => {
    expect(() => parseSealKeys(text)).toThrow(message)
    try {
      parseSealKeys(text)
    } catch (error) {
      expect(String(error)).not.toContain(good)
    }
  })
})
