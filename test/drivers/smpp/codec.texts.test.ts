import { createRequire } from 'node:module'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeGsm, encodeGsm } from '../../../src/drivers/smpp/codec/alphabet.js'
import { cut, partsOf, readIncoming } from '../../../src/drivers/smpp/codec/parts.js'
import { decodeText, encodeText } from '../../../src/drivers/smpp/codec/text.js'

/** An independent codec, to check ours against. It has no types. */
const require = createRequire(import.meta.url)
// biome-ignore lint/suspicious/noExplicitAny: see above
const { SegmentedMessage } = require('sms-segments-calculator') as any

const GSM7 = { alphabet: 'gsm7', plainPunctuation: false } as const

describe('texts', () => {
  it.each([
    [
      'all of the basic alphabet',
      '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./09:;<=>?¡AZÄÖÑÜ§¿azäöñüà',
    ],
    ['all of the extension', '\f^{}\\[~]|€'],
  ])('GSM: %s', (_name, text) => {
    expect(decodeGsm(encodeGsm(text)!)).toBe(text)
  })

  it('GSM: other characters cannot be encoded, and an unknown escape is a space', () => {
    for (const sign of ['ç', '`', '\t', '中', '👋', '\u001b']) expect(encodeGsm(`a${sign}`)).toBeUndefined()
    expect(decodeGsm(Buffer.from([0x61, 0x1b, 0x62, 0x1b]))).toBe('a b ')
  })

  it('every text survives a round trip in every alphabet', () => {
    const anything = fc.string({ unit: 'binary', maxLength: 400 }).map((text) => text.toWellFormed())
    const settings = fc.constantFrom('gsm7', 'latin1', 'ascii', 'utf8')
    fc.assert(
      fc.property(anything, settings, fc.constantFrom('udh', 'sar'), (text, alphabet, how) => {
        const encoded = encodeText(text, { alphabet, plainPunctuation: false } as never)
        const joined = partsOf(encoded, how as 'udh', 777)
          .map((part) => readIncoming({ command: 'deliver_sm', status: 0, sequence: 1, ...part }))
          .map(({ octets }) => decodeText(octets, encoded.dataCoding, alphabet as never))
          .join('')
        expect(joined).toBe(text)
      }),
      { numRuns: 500 },
    )
  })

  it('splits into as many parts as other libraries, without breaking a character', () => {
    const signs = fc.constantFrom(...'aZ9 €^{é中👋', '👨‍👩‍👧')
    fc.assert(
      fc.property(fc.string({ unit: signs, minLength: 1, maxLength: 500 }), (raw) => {
        const text = raw.toWellFormed()
        const encoded = encodeText(text, GSM7)
        const theirs = new SegmentedMessage(text)
        expect(encoded.dataCoding === 0 ? 'GSM-7' : 'UCS-2').toBe(theirs.encodingName)
        expect(cut(encoded)).toHaveLength(theirs.segmentsCount)
        for (const piece of cut(encoded))
          expect(decodeText(piece, encoded.dataCoding, 'gsm7')).not.toContain('\ufffd')
      }),
      { numRuns: 500 },
    )
  })

  it.each([
    [160, 1],
    [161, 2],
    [306, 2],
    [307, 3],
  ])('%d plain characters are %d parts', (length, parts) => {
    expect(cut(encodeText('a'.repeat(length), GSM7))).toHaveLength(parts)
  })

  it('plain_punctuation keeps curly quotes from doubling the parts', () => {
    const text = `“It’s ${'long '.repeat(28)}…”`
    expect(encodeText(text, GSM7).dataCoding).toBe(8)
    const plain = encodeText(text, { ...GSM7, plainPunctuation: true })
    expect(plain.dataCoding).toBe(0)
    expect(decodeGsm(plain.octets)).toBe(`"It's ${'long '.repeat(28)}..."`)
    // Quotes stay where replacing them saves nothing.
    expect(decodeText(encodeText('“中”', { ...GSM7, plainPunctuation: true }).octets, 8, 'gsm7')).toBe('“中”')
  })

  it.each([
    [0x00, 'default'],
    [0x01, 'default'],
    [0x03, 'latin1'],
    [0x08, 'ucs2'],
    [0x10, 'default'],
    [0x18, 'ucs2'],
    [0xf0, 'default'],
    [0xf1, 'default'],
    [0xf5, 'latin1'],
    [0xe0, 'ucs2'],
  ])('data_coding %d is read as %s', (dataCoding, form) => {
    const octets = { default: Buffer.from([0]), latin1: Buffer.from([0xe9]), ucs2: Buffer.from([0x4e, 0x2d]) }
    const text = { default: '@', latin1: 'é', ucs2: '中' }
    const name = form as keyof typeof text
    expect(decodeText(octets[name], dataCoding, 'gsm7')).toBe(text[name])
  })

  it('replaces half a surrogate pair and drops half a unit at the end', () => {
    expect(decodeText(Buffer.from([0x4e, 0x2d, 0x4e]), 8, 'gsm7')).toBe('中')
    expect(decodeText(Buffer.from([0xd8, 0x3d, 0x00, 0x61]), 8, 'gsm7')).toBe('\ufffda')
  })
})

describe('positions of parts', () => {
  const header = (...octets: number[]) => ({
    command: 'deliver_sm' as const,
    status: 0,
    sequence: 1,
    esmClass: 0x40,
    shortMessage: Buffer.from([...octets, 0x61]),
  })
  it.each([
    ['8-bit reference', header(5, 0, 3, 7, 2, 1), { ref: '8:7', n: 1, total: 2 }],
    ['16-bit reference', header(6, 8, 4, 1, 2, 3, 2), { ref: '16:258', n: 2, total: 3 }],
    ['another element before it', header(9, 0x24, 2, 1, 1, 0, 3, 9, 2, 2), { ref: '8:9', n: 2, total: 2 }],
    ['a place beyond the last', header(5, 0, 3, 7, 2, 3), undefined],
    ['a place of zero', header(5, 0, 3, 7, 2, 0), undefined],
    ['no concatenation', header(4, 0x24, 2, 1, 1), undefined],
  ])('%s', (_name, pdu, part) => {
    expect(readIncoming(pdu)).toEqual({ octets: Buffer.from('a'), part })
  })

  it('ignores a header longer than the message', () => {
    expect(readIncoming(header(200)).octets).toHaveLength(2)
  })

  it('reads a long text from message_payload', () => {
    const [part] = partsOf(encodeText('x'.repeat(400), GSM7), 'payload', 1)
    const { octets, part: place } = readIncoming({ command: 'deliver_sm', status: 0, sequence: 1, ...part })
    expect([octets.length, place]).toEqual([400, undefined])
  })
})
