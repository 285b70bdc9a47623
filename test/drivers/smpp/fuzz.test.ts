import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { createClock } from '../../../src/base/clock.js'
import type { Receipt } from '../../../src/core/messages/outcome.js'
import type { Inbound } from '../../../src/drivers/inbound.js'
import { COMMAND_IDS, TAG } from '../../../src/drivers/smpp/codec/commands.js'
import { createFramer } from '../../../src/drivers/smpp/codec/framer.js'
import { decodePdu, encodePdu, MAX_PDU, type Pdu } from '../../../src/drivers/smpp/codec/pdu.js'
import { createDoubts } from '../../../src/drivers/smpp/doubts.js'
import { createReceiver } from '../../../src/drivers/smpp/inbound.js'
import { type DeliveryAnswer, openSession } from '../../../src/drivers/smpp/session.js'
import { createSmsc } from '../../peers/smsc.js'

const PDUS = 1_000_000
const SOCKET_PDUS = 5000

/** Reproducible random numbers. */
function seededRandom(seed: number) {
  let state = seed
  return (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 0x100000000) * below)
  }
}

const receiptOctets = Buffer.from(
  'id:0123ab sub:001 dlvrd:001 submit date:2611151029 done date:2611151030 stat:DELIVRD err:000 text:Hello',
)
const sm = { source: '12025550101', sourceTon: 1, destination: '12025550100' }
/** Valid PDUs to mutate. */
const VALID: Omit<Pdu, 'status' | 'sequence'>[] = [
  { command: 'deliver_sm', ...sm, shortMessage: Buffer.from('Hello there') },
  {
    command: 'deliver_sm',
    ...sm,
    dataCoding: 8,
    shortMessage: Buffer.from('Gr\u00fc\u00dfe 👋', 'utf16le').swap16(),
  },
  { command: 'deliver_sm', ...sm, esmClass: 0x40, shortMessage: Buffer.from([5, 0, 3, 7, 3, 2, 65, 66, 67]) },
  { command: 'deliver_sm', ...sm, esmClass: 0x40, shortMessage: Buffer.from([6, 8, 4, 1, 7, 3, 2, 65, 66]) },
  { command: 'deliver_sm', ...sm, esmClass: 4, shortMessage: receiptOctets },
  {
    command: 'deliver_sm',
    ...sm,
    esmClass: 4,
    tlvs: new Map([
      [TAG.receiptedMessageId, Buffer.from('AB12\0')],
      [TAG.messageState, Buffer.from([2])],
      [TAG.userMessageReference, Buffer.from([1, 2])],
      [0x1401, Buffer.from('own')],
    ]),
  },
  { command: 'data_sm', ...sm, tlvs: new Map([[TAG.messagePayload, Buffer.alloc(300, 65)]]) },
  { command: 'submit_sm_resp', messageId: 'ID1' },
  { command: 'bind_transceiver_resp', systemId: 'smsc' },
  { command: 'enquire_link' },
  { command: 'generic_nack' },
  { command: 'alert_notification', ...sm },
]
const ENCODED = VALID.map((pdu, i) => encodePdu({ ...pdu, status: 0, sequence: i + 1 }))

const NOISE = Buffer.from(Array.from({ length: 65_536 }, seededRandom(1).bind(null, 256)))

/** A mutated PDU whose length field is mostly right, because a wrong one ends the connection. */
function mutated(roll: (below: number) => number): Buffer {
  const original = ENCODED[roll(ENCODED.length)]!
  let octets: Buffer
  switch (roll(7)) {
    case 0: {
      const from = roll(NOISE.length - 100)
      octets = Buffer.from(NOISE.subarray(from, from + 16 + roll(80)))
      if (roll(2)) octets.writeUInt32BE(COMMAND_IDS.deliver_sm, 4)
      break
    }
    case 1:
      octets = Buffer.from(original.subarray(0, 16 + roll(original.length - 15)))
      break
    case 2:
      octets = Buffer.from(original)
      for (let n = 1 + roll(4); n > 0; n--) {
        const at = roll(octets.length)
        octets[at] = octets[at]! ^ (1 << roll(8))
      }
      break
    case 3:
      // Wrong lengths inside the PDU.
      octets = Buffer.from(original)
      if (octets.length > 20) octets[16 + roll(octets.length - 16)] = [0, 1, 127, 128, 254, 255][roll(6)]!
      break
    case 4: {
      const tlv = Buffer.alloc(4 + roll(12))
      tlv.writeUInt16BE(roll(0x10000), 0)
      tlv.writeUInt16BE(roll(3) ? tlv.length - 4 : roll(0x10000), 2)
      octets = Buffer.concat([original, tlv])
      break
    }
    case 5: {
      const other = ENCODED[roll(ENCODED.length)]!
      octets = Buffer.concat([
        original.subarray(0, 16 + roll(original.length - 15)),
        other.subarray(16 + roll(other.length - 15)),
      ])
      break
    }
    default:
      octets = Buffer.from(original)
      if (octets.length > 40) octets.fill(roll(256), 40, 40 + roll(octets.length - 40))
  }
  octets.writeUInt32BE(octets.length, 0)
  return octets
}

/** Finds the text of a deliver_sm strictly by the standard, as an independent check. */
function strictly(octets: Buffer) {
  let at = 16
  const text = () => {
    const from = at
    while (at < octets.length && octets[at] !== 0) at++
    return octets.toString('latin1', from, at++)
  }
  const byte = () => (at < octets.length ? octets[at++]! : 0)
  const isData = octets.readUInt32BE(4) === COMMAND_IDS.data_sm
  text()
  const sourceTon = byte()
  byte()
  const source = text()
  byte()
  byte()
  text()
  const esmClass = byte()
  if (!isData) {
    byte()
    byte()
    text()
    text()
    byte()
    byte()
  } else byte()
  const dataCoding = byte()
  if (!isData) byte()
  return { source, sourceTon, esmClass, dataCoding }
}

describe('hostile PDUs', () => {
  it(`${PDUS.toLocaleString('en')} PDUs through framer, codec and receiver: no crash, no hang, no wrong message`, async () => {
    const roll = seededRandom(6)
    const heard: { message?: Inbound; receipt?: Receipt }[] = []
    const clock = createClock(1_000_000)
    const receive = createReceiver({
      host: {
        receive: async (message) => void heard.push({ message }),
        receipt: async (receipt) => void heard.push({ receipt }),
        acknowledged: async () => {},
        clock,
        log: { info() {}, warn() {} },
      },
      settings: {},
      doubts: createDoubts(clock.now),
    })
    let frame = createFramer()
    let messages = 0
    let receipts = 0
    let broken = 0
    for (let done = 0; done < PDUS; ) {
      const batch = Array.from({ length: 200 }, () => mutated(roll))
      const stream = Buffer.concat(batch)
      // One in twenty streams has a wrong length somewhere.
      const lie = roll(20) === 0 ? roll(batch.length) : -1
      if (lie >= 0) {
        const at = batch.slice(0, lie).reduce((sum, octets) => sum + octets.length, 0)
        stream.writeUInt32BE([0, 3, 15, MAX_PDU + 1, 0xffffffff][roll(5)]!, at)
      }
      const cut = roll(stream.length)
      const framed = [frame(stream.subarray(0, cut)), frame(stream.subarray(cut))]
      const pdus = framed.flatMap((one) => one.pdus)
      expect(pdus.length).toBe(lie < 0 ? batch.length : lie)
      if (framed.some((one) => one.broken)) {
        broken++
        frame = createFramer()
      }
      for (const octets of pdus) {
        const pdu = decodePdu(octets)
        if (pdu.command !== 'deliver_sm' && pdu.command !== 'data_sm') continue
        heard.length = 0
        const { status } = await receive(pdu)
        if (status !== 0 || heard.length > 1) throw new Error(`${status} ${heard.length}`)
        const strict = strictly(octets)
        const [one] = heard
        if (one?.message) {
          messages++
          const { from, content, part } = one.message
          const isReceipt = (strict.esmClass & 0x3c) !== 0
          const digits = strict.source.replace(/[\s().-]/g, '')
          const isFrom = from === strict.source || from === `+${digits}` || from === digits
          const isPlaced = !part || (part.n >= 1 && part.n <= part.total && part.total <= 255)
          if (isReceipt || !isFrom || !content.isWellFormed() || !isPlaced)
            throw new Error(`${octets.toString('hex')} became ${JSON.stringify(one.message)}`)
        } else if (one?.receipt) {
          receipts++
          const { providerId, status: news } = one.receipt
          const hasId =
            providerId !== undefined && providerId.length > 0 && providerId.length <= octets.length
          if (!hasId || !['SENT', 'DELIVERED', 'ERROR'].includes(news))
            throw new Error(octets.toString('hex'))
        }
      }
      done += batch.length
    }
    expect(messages).toBeGreaterThan(PDUS / 20)
    expect(receipts).toBeGreaterThan(PDUS / 50)
    expect(broken).toBeGreaterThan(100)
  })

  it('every PDU truncated at every length', async () => {
    for (const octets of ENCODED) {
      for (let length = 16; length <= octets.length; length++) {
        const short = Buffer.from(octets.subarray(0, length))
        short.writeUInt32BE(length, 0)
        expect(() => decodePdu(short)).not.toThrow()
      }
    }
  })

  it(`${SOCKET_PDUS.toLocaleString('en')} PDUs through a connection: it stays usable or ends`, async () => {
    const roll = seededRandom(66)
    const smsc = await createSmsc()
    const clock = createClock(1_000_000)
    let sent = 0
    let connections = 0
    while (sent < SOCKET_PDUS) {
      let ended = ''
      const session = openSession({
        bind: 'transceiver',
        login: { systemId: 'x', password: 'y' },
        open: () => connect(smsc.port, '127.0.0.1'),
        window: 10,
        responseMs: 30_000,
        enquireMs: 30_000,
        clock,
        deliver: async (): Promise<DeliveryAnswer> => ({ status: 0 }),
        closed: (reason) => {
          ended = reason
        },
      })
      await session.bound
      connections++
      for (let i = 0; i < 10 && !ended && sent < SOCKET_PDUS; i++) {
        const batch = Array.from({ length: 20 }, () => mutated(roll))
        const stream = Buffer.concat(batch)
        if (roll(40) === 0) stream.writeUInt32BE(5, 0)
        smsc.raw(stream)
        sent += batch.length
        // A usable connection answers; an unusable one has ended.
        const reply = await session.request({ command: 'submit_sm', shortMessage: Buffer.from('Hello') })
        if (!reply.answer && !ended) throw new Error(`it neither works nor ends: ${reply.reason}`)
      }
      if (!ended) await session.stop()
      smsc.cut()
      smsc.heard.length = 0
    }
    expect(connections).toBeGreaterThan(5)
    await smsc.close()
  })
})
