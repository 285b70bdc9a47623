import { createRequire } from 'node:module'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { COMMAND_IDS, type Command, TAG } from '../../../src/drivers/smpp/codec/commands.js'
import { createFramer } from '../../../src/drivers/smpp/codec/framer.js'
import { readIncoming } from '../../../src/drivers/smpp/codec/parts.js'
import { decodePdu, encodePdu, type Pdu } from '../../../src/drivers/smpp/codec/pdu.js'
import { reportIn } from '../../../src/drivers/smpp/codec/receipt-text.js'
import { decodeText } from '../../../src/drivers/smpp/codec/text.js'

/** An independent codec, to check ours against. It has no types. */
const require = createRequire(import.meta.url)
// biome-ignore lint/suspicious/noExplicitAny: see above
const { PDU: TheirPdu } = require('smpp') as any

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
