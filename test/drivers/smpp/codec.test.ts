import { createRequire } from 'node:module'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeGsm, encodeGsm } from '../../../src/drivers/smpp/codec/alphabet.js'
import { COMMAND_IDS, type Command, TAG } from '../../../src/drivers/smpp/codec/commands.js'
import { createFramer } from '../../../src/drivers/smpp/codec/framer.js'
import { possibleIds } from '../../../src/drivers/smpp/codec/message-id.js'
import { cut, partsOf, readIncoming } from '../../../src/drivers/smpp/codec/parts.js'
import { decodePdu, encodePdu, type Pdu } from '../../../src/drivers/smpp/codec/pdu.js'
import { patternReader } from '../../../src/drivers/smpp/codec/receipt-pattern.js'
import { reportIn } from '../../../src/drivers/smpp/codec/receipt-text.js'
import { meaningOf } from '../../../src/drivers/smpp/codec/status.js'
import { decodeText, encodeText } from '../../../src/drivers/smpp/codec/text.js'

/** Independent codecs, to check ours against. Neither has types. */
const require = createRequire(import.meta.url)
// biome-ignore lint/suspicious/noExplicitAny: see above
const { PDU: TheirPdu } = require('smpp') as any
// biome-ignore lint/suspicious/noExplicitAny: see above
const { SegmentedMessage } = require('sms-segments-calculator') as any

const GSM7 = { alphabet: 'gsm7', plainPunctuation: false } as const
const latin = (max: number) =>
  fc.string({ unit: fc.constantFrom(...'abcXYZ0189+_-. '.split('')), maxLength: max })
const u8 = fc.integer({ min: 0, max: 255 })

const submit = fc.record({
  command: fc.constantFrom('submit_sm' as const, 'deliver_sm' as const),
  status: fc.constant(0),
  sequence: fc.integer({ min: 1, max: 0x7fffffff }),
  serviceType: latin(5),
  sourceTon: u8,
  sourceNpi: u8,
  source: latin(20),
  destTon: u8,
  destNpi: u8,
  destination: latin(20),
  esmClass: fc.constantFrom(0, 3, 4),
  protocolId: u8,
  priority: u8,
  scheduleTime: fc.constant(''),
  validity: fc.constantFrom('', '000002000000000R'),
  registeredDelivery: u8,
  replaceIfPresent: fc.constantFrom(0, 1),
  dataCoding: fc.constant(2),
  defaultMessageId: u8,
  shortMessage: fc.uint8Array({ maxLength: 255 }).map((octets) => Buffer.from(octets)),
})

describe('PDUs', () => {
  it('another codec reads our PDUs field by field', () => {
    fc.assert(
      fc.property(submit, (pdu) => {
        const theirs = TheirPdu.fromBuffer(encodePdu(pdu))
        expect(theirs).toMatchObject({
          command: pdu.command,
          sequence_number: pdu.sequence,
          service_type: pdu.serviceType,
          source_addr_ton: pdu.sourceTon,
          source_addr: pdu.source,
          dest_addr_npi: pdu.destNpi,
          destination_addr: pdu.destination,
          esm_class: pdu.esmClass,
          registered_delivery: pdu.registeredDelivery,
          data_coding: pdu.dataCoding,
        })
        expect(Buffer.from(theirs.short_message.message)).toEqual(pdu.shortMessage)
      }),
    )
  })

  it('we read the PDUs of another codec', () => {
    fc.assert(
      fc.property(submit, latin(60), u8, (pdu, id, state) => {
        const theirs = new TheirPdu('deliver_sm', {
          sequence_number: pdu.sequence,
          source_addr: pdu.source,
          destination_addr: pdu.destination,
          esm_class: 4,
          data_coding: 2,
          short_message: pdu.shortMessage,
          receipted_message_id: id,
          message_state: state,
        }).toBuffer()
        const ours = decodePdu(theirs) as Pdu
        expect(ours).toMatchObject({
          command: 'deliver_sm',
          source: pdu.source,
          destination: pdu.destination,
          shortMessage: pdu.shortMessage,
        })
        expect(ours.tlvs!.get(TAG.messageState)).toEqual(Buffer.from([state]))
        expect(ours.tlvs!.get(TAG.receiptedMessageId)!.toString('latin1')).toBe(`${id}\0`)
      }),
    )
  })

  it('every command survives a round trip', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...(Object.keys(COMMAND_IDS) as Command[])),
        fc.integer({ min: 0, max: 0xffffffff }),
        fc.integer({ min: 0, max: 0xffffffff }),
        latin(8),
        (command, status, sequence, text) => {
          const pdu = { command, status, sequence, systemId: text, messageId: text, source: text }
          const octets = encodePdu(pdu)
          const again = decodePdu(octets) as Pdu
          expect(again).toMatchObject({ command, status, sequence })
          expect(encodePdu(again)).toEqual(octets)
        },
      ),
    )
  })

  it('a string that is too long for its field is an error', () => {
    const pdu: Pdu = { command: 'bind_transceiver', status: 0, sequence: 1 }
    expect(() => encodePdu({ ...pdu, password: 'x'.repeat(65) })).toThrow(
      'password: must have at most 64 characters',
    )
    expect(() => encodePdu({ ...pdu, systemId: 'a\0b' })).toThrow('systemId')
    expect(() => encodePdu({ ...pdu, command: 'submit_sm', shortMessage: Buffer.alloc(256) })).toThrow('255')
  })

  it('arbitrary octets do no harm', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.values(COMMAND_IDS), 0x77, 0),
        fc.uint8Array({ maxLength: 300 }),
        (commandId, body) => {
          const octets = Buffer.concat([Buffer.alloc(16), body])
          octets.writeUInt32BE(octets.length, 0)
          octets.writeUInt32BE(commandId, 4)
          const pdu = decodePdu(octets)
          if (!pdu.command) return
          const { octets: text } = readIncoming(pdu)
          reportIn(pdu, decodeText(text, pdu.dataCoding ?? 0, 'gsm7'))
        },
      ),
      { numRuns: 2000 },
    )
  })
})

describe('framing', () => {
  const pdus = [1, 2, 3].map((sequence) =>
    encodePdu({ command: 'submit_sm', status: 0, sequence, shortMessage: Buffer.alloc(sequence * 40, 65) }),
  )

  it('PDUs come out whole, however the stream is split', () => {
    const stream = Buffer.concat(pdus)
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: stream.length }), { maxLength: 30 }), (cuts) => {
        const frame = createFramer()
        const places = [0, ...[...cuts].sort((a, b) => a - b), stream.length]
        const out = places.slice(1).flatMap((to, i) => frame(stream.subarray(places[i], to)).pdus)
        expect(out).toEqual(pdus)
      }),
    )
  })

  it.each([0, 4, 15, 70_001, 0xffffffff])(
    'a length of %d ends the stream, after the whole PDUs before it',
    (length) => {
      const bad = Buffer.alloc(16)
      bad.writeUInt32BE(length, 0)
      bad.writeUInt32BE(9, 12)
      const frame = createFramer()
      expect(frame(Buffer.concat([pdus[0]!, bad, pdus[1]!]))).toEqual({
        pdus: [pdus[0]],
        broken: { length, sequence: 9 },
      })
      expect(frame(pdus[1]!)).toEqual({ pdus: [] })
    },
  )
})

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

describe('receipts', () => {
  const pdu = (fields: Partial<Pdu> = {}): Pdu => ({
    command: 'deliver_sm',
    status: 0,
    sequence: 1,
    esmClass: 4,
    ...fields,
  })
  const TAKEN = Date.UTC(2026, 10, 15, 10, 29)

  it.each([
    [
      'id:0123ab sub:001 dlvrd:001 submit date:2611151029 done date:2611151030 stat:DELIVRD err:000 text:Hello',
      { id: '0123ab', status: 'DELIVERED', code: '000', submittedAt: TAKEN, text: 'Hello' },
    ],
    [
      'id:7 stat:UNDELIV err:27 submit date:261115102900',
      { id: '7', status: 'ERROR', code: '27', submittedAt: TAKEN },
    ],
    ['ID:7 Stat:expired ERR:1 Text:stat:DELIVRD', { id: '7', status: 'ERROR', code: '1' }],
    ['stat:ACCEPTD id:9', { id: '9', status: 'SENT' }],
    ['id:9 stat:UNKNOWN', { id: '9', status: undefined }],
    ['id:c0ffee00-1111-4222-8333-444455556666 stat:REJECTD err:69', { status: 'ERROR', code: '69' }],
    ['id:5,sub:001,dlvrd:001,stat:DELIVRD,err:000', { id: '5', status: 'DELIVERED' }],
  ])('%s', (text, report) => {
    expect(reportIn(pdu(), text)).toMatchObject(report)
  })

  it('optional parameters win over the text', () => {
    const tlvs = new Map([
      [TAG.receiptedMessageId, Buffer.from('REAL\0')],
      [TAG.messageState, Buffer.from([5])],
      [TAG.networkErrorCode, Buffer.from([3, 0, 42])],
    ])
    expect(reportIn(pdu({ tlvs }), 'id:other stat:DELIVRD err:000')).toMatchObject({
      id: 'REAL',
      status: 'ERROR',
      code: '42',
    })
  })

  it('does not take a text that looks like a receipt for one', () => {
    expect(reportIn(pdu({ esmClass: 0 }), 'id:7 stat:DELIVRD')).toBeUndefined()
    expect(reportIn(pdu({ esmClass: 0x40 }), 'id:7 stat:DELIVRD')).toBeUndefined()
  })

  it('does not take a notification without information for a message', () => {
    expect(reportIn(pdu(), 'nothing to read here')).toBe('nothing')
    for (const esmClass of [0x08, 0x10, 0x18]) expect(reportIn(pdu({ esmClass }), 'Read')).toBe('nothing')
  })

  it('never reports an intermediate notification as an error', () => {
    expect(reportIn(pdu({ esmClass: 0x20 }), 'id:7 stat:UNDELIV')).toMatchObject({ id: '7', status: 'SENT' })
    expect(reportIn(pdu({ esmClass: 0x20 }), 'id:7 stat:ENROUTE')).toMatchObject({ status: 'SENT' })
  })

  it("reads receipts by the line's pattern, and drops a slow pattern", async () => {
    let slow = 0
    const read = patternReader(
      'line',
      'ref=(?<id>\\w+) is (?<stat>\\w+)(?: \\((?<err>\\d+)\\))?',
      () => slow++,
    )
    const report = 'ref=ab12 is undeliv (17)'
    expect(reportIn(pdu(), report, await read(report))).toMatchObject({
      id: 'ab12',
      status: 'ERROR',
      code: '17',
    })
    expect(await read('id:7 stat:DELIVRD')).toBeUndefined()
    const endless = patternReader('line', '(?<id>(a+)+)$', () => slow++)
    const text = `id:7 stat:DELIVRD ${'a'.repeat(60)}!`
    expect(await endless(text)).toBeUndefined()
    expect(await endless(text)).toBeUndefined()
    // The second text was not even tried on it.
    expect(slow).toBe(1)
  })
})

describe('ids', () => {
  it.each([
    ['1A2B', '6699'],
    ['0000006699', '1a2b'],
    ['0xNOT', '0xnot'],
    ['00042', '42'],
  ])('%s may be %s', (reported, answered) => {
    expect(possibleIds(reported, 'any')).toContain(answered)
  })
  it('compares ids literally with ids: none', () => {
    expect(possibleIds('0042', 'none')).toEqual(['0042'])
    expect(possibleIds('16', 'dec_to_hex')).not.toContain('22')
    expect(possibleIds('16', 'hex_to_dec')).toContain('22')
    // A configured form comes first.
    expect(possibleIds('16', 'dec_to_hex')[0]).toBe('10')
    expect(possibleIds('16', 'any')[0]).toBe('16')
  })
})

it.each([
  [0, 'ok'],
  [0x58, 'slower'],
  [0x14, 'slower'],
  [0x08, 'slower'],
  [0x0b, 'never'],
  [0x0a, 'never'],
  [0x45, 'later'],
  [0x04, 'unbound'],
  [0x0e, 'never'],
  [0x400, 'never'],
  [0xffffffff, 'never'],
])('status %d asks for: %s', (status, verdict) => {
  expect(meaningOf(status).verdict).toBe(verdict)
})
