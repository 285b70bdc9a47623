import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TAG } from '../../../src/drivers/smpp/codec/commands.js'
import { encodePdu } from '../../../src/drivers/smpp/codec/pdu.js'
import { shortRef } from '../../../src/drivers/smpp/codec/short-ref.js'
import { meaningOf } from '../../../src/drivers/smpp/codec/status.js'
import { smpp } from '../../../src/drivers/smpp/smpp.js'
import { createSmsc, type Smsc, type SubmitReaction } from '../../peers/smsc.js'
import { ADA, type StubLine, soon, stubLine } from './line.js'

const LONG = 'The quick brown fox jumps over the lazy dog. '.repeat(9).slice(0, 400)

describe('sending over SMPP', () => {
  let smsc: Smsc
  let line: StubLine
  beforeEach(async () => {
    smsc = await createSmsc()
  })
  afterEach(async () => {
    await smsc.close()
    await line.close()
  })
  const start = async (config: Record<string, unknown> = {}) => {
    line = await stubLine(smsc.port, config)
    await line.online()
  }
  const submits = () => smsc.heard.filter(({ command }) => command === 'submit_sm')
  /** Sets the carrier's reactions to the next submits; then it accepts everything. */
  const acts = (...list: SubmitReaction[]) => {
    let n = 0
    smsc.options.submit = () => list[n++] ?? { answer: 0 }
  }
  const settled = async <T>(sent: Promise<T>, stepMs = 1000) => {
    let isDone = false
    void sent.then(() => {
      isDone = true
    })
    for (let i = 0; i < 2000 && !isDone; i++) await line.moved(stepMs)
    return sent
  }

  it('submits both numbers, a receipt request and our reference', async () => {
    await start({ validity_minutes: 2 * 1440 + 3 * 60 + 4, service_type: 'CMT' })
    expect(await line.send('Hello', { ref: 'a-ref' })).toEqual({
      outcome: 'accepted',
      providerId: 'ID1',
      status: 'SENT',
    })
    expect(submits()[0]).toMatchObject({
      source: '12025550100',
      sourceTon: 1,
      sourceNpi: 1,
      destination: ADA.slice(1),
      destTon: 1,
      destNpi: 1,
      registeredDelivery: 1,
      dataCoding: 0,
      serviceType: 'CMT',
      validity: '000002030400000R',
      shortMessage: Buffer.from('Hello'),
    })
    expect(submits()[0]!.tlvs!.get(TAG.userMessageReference)!.readUInt16BE(0)).toBe(shortRef('a-ref'))
  })

  it('follows the settings plus and receipts', async () => {
    await start({ plus: true, receipts: false, source_ton: 5, source_npi: 0 })
    await line.send('Hello')
    expect(submits()[0]).toMatchObject({
      source: '+12025550100',
      sourceTon: 5,
      sourceNpi: 0,
      destination: ADA,
      registeredDelivery: 0,
    })
  })

  it('ends at once for every final status, including carrier-specific ones', async () => {
    await start()
    const all = [...Array(0x100).keys(), 0x400, 0x4ff, 0xffffffff]
    const final = all.filter((status) => meaningOf(status).verdict === 'never')
    expect(final.length).toBeGreaterThan(200)
    for (const status of final) {
      acts({ answer: status })
      expect(await line.send('Hello')).toEqual({
        outcome: 'refused',
        code: meaningOf(status).name,
        detail: 'The carrier refused the message',
      })
    }
    expect(submits()).toHaveLength(final.length)
    expect(smsc.submitted).toHaveLength(0)
  })

  it('retries RSUBMITFAIL and similar statuses once', async () => {
    await start()
    for (const status of [0x45, 0x64]) {
      const { length } = submits()
      acts({ answer: status })
      expect(await settled(line.send('Hello'))).toMatchObject({ outcome: 'accepted' })
      acts({ answer: status }, { answer: status })
      expect(await settled(line.send('Hello'))).toMatchObject({
        outcome: 'refused',
        code: meaningOf(status).name,
      })
      // Throttling does not count as a failure.
      acts({ answer: 0x58 }, { answer: status })
      expect(await settled(line.send('Hello'))).toMatchObject({ outcome: 'accepted' })
      expect(submits().length - length).toBe(2 + 2 + 3)
    }
  })

  it.each([0x58, 0x14, 0x08])(
    '%d: submits the same part again with a new sequence number',
    async (status) => {
      await start()
      acts({ answer: 0 }, { answer: status }, { answer: status })
      expect(await settled(line.send(LONG))).toEqual({
        outcome: 'accepted',
        providerId: 'ID1',
        status: 'SENT',
        partIds: ['ID1', 'ID2', 'ID3'],
      })
      const heard = submits()
      expect(heard.map((pdu) => pdu.shortMessage![5])).toEqual([1, 2, 2, 2, 3])
      expect(new Set(heard.map((pdu) => pdu.sequence)).size).toBe(5)
      expect(new Set(heard.map((pdu) => pdu.shortMessage![3])).size).toBe(1)
      expect(Buffer.concat(smsc.submitted.map(({ pdu }) => pdu.shortMessage!.subarray(6))).toString()).toBe(
        LONG,
      )
    },
  )

  it('leaves the message to the queue while the carrier stays full', async () => {
    await start()
    smsc.options.submit = () => ({ answer: 0x14 })
    expect(await settled(line.send('Hello'))).toEqual({
      outcome: 'never-left',
      code: 'ESME_RMSGQFUL',
      detail: 'The carrier is too busy',
      retryAfterMs: 60_000,
    })
    expect(submits().length).toBeLessThan(200)
  })

  it('finishes started texts before others, which wait while the carrier accepts any', async () => {
    await start({ rate: 1 })
    const spans = new Map<string, number[]>()
    smsc.options.submit = ({ destination }) => {
      spans.set(destination!, [...(spans.get(destination!) ?? []), line.clock.now()])
      return { answer: 0 }
    }
    const sent = Array.from({ length: 40 }, (_, i) =>
      line.send('x'.repeat(153 * 8), { to: `+1202555${1000 + i}` }),
    )
    expect((await settled(Promise.all(sent))).map(({ outcome }) => outcome)).toEqual(
      Array(40).fill('accepted'),
    )
    for (const at of spans.values()) {
      expect(at).toHaveLength(8)
      expect(at.at(-1)! - at[0]!).toBeLessThan(60_000)
    }
  })

  it('aborts a slow text before the time limit of the send', async () => {
    await start()
    const begun = line.clock.now()
    let took = 0
    smsc.options.submit = () => {
      const now = line.clock.now()
      if (now - took < 240_000) return { answer: 0x58 }
      took = now
      return { answer: 0 }
    }
    expect(await settled(line.send('x'.repeat(153 * 40)), 60_000)).toEqual({
      outcome: 'refused',
      code: 'ESME_RTHROTTLED',
      detail: expect.stringMatching(/^The carrier is too busy; 2\d of 40 parts taken$/),
    })
    expect(line.clock.now() - begun).toBeLessThan(smpp.sendTimeoutMs! - 300_000)
  })

  it.each([
    [{ answer: 0x0b } as SubmitReaction, 'refused', 'ESME_RINVDSTADR', 'The carrier refused the message'],
    ['drop' as SubmitReaction, 'unknown', 'no_answer', 'the carrier closed the connection'],
  ])('broken off after the first part, it says how far it came: %j', async (act, outcome, code, detail) => {
    await start()
    acts({ answer: 0 }, act)
    const result = await settled(line.send(LONG))
    const parts = outcome === 'unknown' ? { parts: { ids: ['ID1'], of: 3 } } : {}
    expect(result).toEqual({ outcome, code, detail: `${detail}; 1 of 3 parts taken`, ...parts })
    expect(submits()).toHaveLength(2)
  })

  it('waits for a connection for the rest of a text, and submits nothing twice', async () => {
    await start()
    // The carrier disconnects right after its first answer.
    smsc.options.submit = (_pdu, n) => {
      if (n === 0) setImmediate(() => smsc.cut())
      return { answer: 0 }
    }
    const result = await settled(line.send(LONG))
    if (result.outcome === 'accepted') expect(result.partIds).toHaveLength(3)
    else expect(result).toMatchObject({ outcome: 'unknown' })
    const numbers = submits().map((pdu) => pdu.shortMessage![5])
    expect(new Set(numbers).size).toBe(numbers.length)
  })

  it.each([
    ['silence', 'no answer in 30000 ms'],
    ['drop', 'the carrier closed the connection'],
  ] as const)('no answer is an open question: %s', async (act, detail) => {
    await start()
    acts(act)
    expect(await settled(line.send('Hello'))).toEqual({ outcome: 'unknown', code: 'no_answer', detail })
    expect(submits()).toHaveLength(1)
  })

  describe('an answer after its deadline', () => {
    /** The carrier accepts everything, but withholds its answer to the n-th part until told. */
    const lose = async (content: string, n = 1) => {
      const before = submits().length
      smsc.options.submit = () => (submits().length === before + n ? 'silence' : { answer: 0 })
      const result = await settled(line.send(content, { ref: 'r1' }))
      expect(result).toMatchObject({ outcome: 'unknown', code: 'no_answer' })
      expect(Object.keys(result)).toEqual(['outcome', 'code', 'detail', ...(n > 1 ? ['parts'] : [])])
      const { sequence } = submits().at(-1)!
      return (status: number, messageId = '', command = 'submit_sm_resp' as const) =>
        smsc.raw(encodePdu({ command, status, sequence, messageId }))
    }
    const told = () => line.receipts.map(({ at: _at, ...rest }) => rest)
    const heardAll = () => smsc.bring({ command: 'enquire_link' })

    it('proves that the message was accepted, with its id', async () => {
      await start()
      const answer = await lose('Hello')
      answer(0, '00AB12')
      await soon(() => expect(told()).toEqual([{ ref: 'r1', providerId: 'ab12', to: ADA, status: 'SENT' }]))
      // Counts once: a second answer has no request.
      answer(0, '00AB12')
      await heardAll()
      expect(line.receipts).toHaveLength(1)
    })

    it('counts without an id', async () => {
      await start()
      const answer = await lose('Hello')
      answer(0)
      await soon(() => expect(told()).toEqual([{ ref: 'r1', to: ADA, status: 'SENT' }]))
    })

    it('proves nothing if it is a refusal', async () => {
      await start()
      for (const status of [0x0b, 0x58]) (await lose('Hello'))(status)
      await heardAll()
      expect(line.receipts).toEqual([])
    })

    it('proves that all parts were sent only if it answers the last one', async () => {
      await start()
      ;(await lose(LONG, 2))(0, 'SECOND')
      await heardAll()
      expect(line.receipts).toEqual([])
      ;(await lose(LONG, 3))(0, 'THIRD')
      await soon(() => expect(told()).toEqual([{ ref: 'r1', to: ADA, status: 'SENT' }]))
      expect(smsc.submitted).toHaveLength(5)
    })
  })

  it('treats an empty generic_nack as unknown, and generates an id for an answer without one', async () => {
    await start()
    smsc.options.submit = (pdu) => {
      const nack = Buffer.alloc(16)
      nack.writeUInt32BE(16, 0)
      nack.writeUInt32BE(0x80000000, 4)
      nack.writeUInt32BE(pdu.sequence, 12)
      return { raw: nack }
    }
    expect(await line.send('Hello')).toMatchObject({ outcome: 'unknown' })
    smsc.options.submit = (pdu) => {
      const empty = Buffer.alloc(17)
      empty.writeUInt32BE(17, 0)
      empty.writeUInt32BE(0x80000004, 4)
      empty.writeUInt32BE(pdu.sequence, 12)
      return { raw: empty }
    }
    expect(await line.send(LONG, { ref: 'r1' })).toMatchObject({
      providerId: 'unnamed-r1',
      partIds: ['', '', ''],
    })
  })

  it('never reuses a part reference for texts to one recipient', async () => {
    await start()
    for (let i = 0; i < 20; i++) await line.send(LONG)
    const refs = submits().map((pdu) => pdu.shortMessage![3])
    expect(new Set(refs).size).toBe(20)
  })

  it('reopens a connection that the carrier says is not bound', async () => {
    await start()
    acts({ answer: 0x04 })
    const sent = line.send('Hello')
    await soon(() => expect(line.states.at(-1)![0]).toBe('OFFLINE'))
    expect(['accepted', 'never-left']).toContain((await settled(sent)).outcome)
    await line.online()
    expect(await line.send('Hello')).toMatchObject({ outcome: 'accepted' })
  })

  it.each(['udh', 'sar', 'payload'])('long texts as %s', async (how) => {
    await start({ long_text: how })
    const result = await line.send(`${LONG} 👋`)
    expect(result).toMatchObject({ outcome: 'accepted' })
    expect(smsc.submitted).toHaveLength(how === 'payload' ? 1 : 7)
    expect(submits().every((pdu) => pdu.dataCoding === 8 && pdu.registeredDelivery === 1)).toBe(true)
  })

  it('refuses a text of more than 255 parts before anything leaves', async () => {
    await start()
    expect(await line.send('x'.repeat(153 * 255 + 1))).toMatchObject({ outcome: 'refused', code: 'too_long' })
    expect(submits()).toHaveLength(0)
  })
})
