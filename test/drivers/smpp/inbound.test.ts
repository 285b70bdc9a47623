import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TAG } from '../../../src/drivers/smpp/codec/commands.js'
import type { Pdu } from '../../../src/drivers/smpp/codec/pdu.js'
import { createSmsc, type Smsc } from '../../peers/smsc.js'
import { ADA, type StubLine, soon, stubLine } from './line.js'

describe('receiving over SMPP', () => {
  let smsc: Smsc
  let line: StubLine
  beforeEach(async () => {
    smsc = await createSmsc()
    line = await stubLine(smsc.port)
    await line.online()
  })
  afterEach(async () => {
    await smsc.close()
    await line.close()
  })
  const text = (content: string, fields: Partial<Pdu> = {}) =>
    smsc.bring({
      command: 'deliver_sm',
      source: '12025550101',
      sourceTon: 1,
      shortMessage: Buffer.from(content),
      ...fields,
    })
  const receipt = (content: string, fields: Partial<Pdu> = {}) => text(content, { esmClass: 4, ...fields })
  const told = () => line.receipts.map(({ at: _at, evidence: _evidence, ...rest }) => rest)

  it('stores a message before the answer, and reports the acknowledgement after it', async () => {
    let release = () => {}
    line.onReceive(
      () =>
        new Promise((resolve) => {
          release = resolve
        }),
    )
    const answer = text('Hello')
    let answered = false
    void answer.then(() => {
      answered = true
    })
    await smsc.bring({ command: 'enquire_link' })
    expect(answered).toBe(false)
    expect(line.acknowledged).toEqual([])
    release()
    expect(await answer).toMatchObject({ command: 'deliver_sm_resp', status: 0, messageId: '' })
    expect(line.received).toMatchObject([{ from: ADA, service: 'SMS', content: 'Hello' }])
    await soon(() => expect(line.acknowledged).toEqual(line.received))
  })

  it('reports an acknowledgement when the carrier has read it, not when it is written', async () => {
    smsc.options.enquire = false
    expect(await text('Hello')).toMatchObject({ status: 0 })
    await soon(() => expect(smsc.heard.at(-1)?.command).toBe('enquire_link'))
    expect(line.acknowledged).toEqual([])
    smsc.cut()
    await soon(() => expect(line.states.at(-1)?.[0]).not.toBe('ONLINE'))
    expect(line.acknowledged).toEqual([])

    smsc.options.enquire = true
    await line.moved(60_000)
    await line.online()
    expect(await text('Hello again')).toMatchObject({ status: 0 })
    await soon(() => expect(line.acknowledged).toMatchObject([{ content: 'Hello again' }]))
  })

  it('refuses a message that cannot be stored, so that the carrier keeps it', async () => {
    line.onReceive(async () => {
      throw new Error('disk full')
    })
    expect(await text('Hello')).toMatchObject({ status: 0x14 })
    line.onReceive(async () => {})
    expect(await text('Hello')).toMatchObject({ status: 0 })
    expect(line.received).toHaveLength(1)
    await soon(() => expect(line.acknowledged).toHaveLength(1))
  })

  it('answers enquire_link and refuses messages while nothing can be stored', async () => {
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    line.onReceive(() => gate)
    const early = Array.from({ length: 250 }, (_, i) => text(`text ${i}`))
    for (let i = 0; i < 20; i++) await line.moved(500)
    expect(await smsc.bring({ command: 'enquire_link' })).toMatchObject({ command: 'enquire_link_resp' })
    expect(await text('one more')).toMatchObject({ status: 0x14 })
    expect(line.states).toEqual([['ONLINE', undefined]])
    release()
    const taken = (await Promise.all(early)).filter(({ status }) => status === 0)
    expect(taken.length).toBeGreaterThanOrEqual(200)
    expect(await text('after that')).toMatchObject({ status: 0 })
    expect(line.received).toHaveLength(taken.length + 1)
  })

  it('names each connection, because redeliveries come over another one', async () => {
    await text('one')
    smsc.cut()
    await soon(() => expect(line.states.at(-1)![0]).toBe('OFFLINE'))
    await line.moved(1000)
    await line.online()
    await text('two')
    await text('three')
    const [one, two, three] = line.received.map(({ session }) => session)
    expect(one).not.toBe(two)
    expect(two).toBe(three)
  })

  it('gives only a refused message a new name, because it may have been stored', async () => {
    const names: (string | undefined)[] = []
    let failures = 2
    line.onReceive(async ({ content, session }) => {
      names.push(session)
      if (content === 'yes' && failures-- > 0) throw new Error('no answer from the database')
    })
    // Two messages, both refused, then redelivered.
    for (const status of [0x14, 0x14, 0, 0]) expect(await text('yes')).toMatchObject({ status })
    await text('no')
    await text('yes', { source: '12025550102' })
    const [first, second, third, fourth, other, somebody] = names
    expect(new Set([first, second, third]).size).toBe(3)
    // Under one name they are two messages, and each finds its stored copy.
    expect(fourth).toBe(third)
    expect([other, somebody]).toEqual([first, first])
  })

  it.each([
    ['12025550101', 1, '+12025550101'],
    ['12025550101', 0, '+12025550101'],
    ['+12025550101', 0, '+12025550101'],
    ['72345', 0, '72345'],
    ['72345', 3, '72345'],
    ['BANK', 5, 'BANK'],
  ])('the sender %s of type %d is %s', async (source, sourceTon, from) => {
    await text('Hello', { source, sourceTon })
    expect(line.received[0]!.from).toBe(from)
  })

  it.each([
    ['UDH of 8 bits', { esmClass: 0x40 }, [5, 0, 3, 77, 3, 2], '8:77'],
    ['UDH of 16 bits', { esmClass: 0x40 }, [6, 8, 4, 1, 2, 3, 2], '16:258'],
    [
      'SAR',
      {
        tlvs: new Map([
          [TAG.sarMsgRefNum, Buffer.from([1, 2])],
          [TAG.sarTotalSegments, Buffer.from([3])],
          [TAG.sarSegmentSeqnum, Buffer.from([2])],
        ]),
      },
      [],
      'sar:258',
    ],
  ])('a part knows its place: %s', async (_name, fields, header, ref) => {
    const shortMessage = Buffer.concat([Buffer.from(header), Buffer.from('middle')])
    await text('', { ...fields, shortMessage })
    expect(line.received).toMatchObject([{ content: 'middle', part: { ref, n: 2, total: 3 } }])
  })

  it('reads a long text in message_payload, in deliver_sm and data_sm', async () => {
    const long = 'Grüße 👋 '.repeat(60)
    const tlvs = new Map([[TAG.messagePayload, Buffer.from(long, 'utf16le').swap16()]])
    await text('', { shortMessage: Buffer.alloc(0), dataCoding: 8, tlvs })
    expect(
      await smsc.bring({ command: 'data_sm', source: '12025550101', dataCoding: 8, tlvs }),
    ).toMatchObject({
      command: 'data_sm_resp',
      status: 0,
    })
    expect(line.received.map(({ content }) => content)).toEqual([long, long])
  })

  it('reads receipts by optional parameters, by text, and by both', async () => {
    await smsc.report('AB12', 2, { source: '12025550101' })
    await receipt(
      'id:0000006699 sub:001 dlvrd:001 submit date:2611151000 done date:2611151001 stat:UNDELIV err:42',
    )
    expect(told()).toEqual([
      {
        providerId: 'ab12',
        otherIds: expect.arrayContaining(['AB12', '43794']),
        to: ADA,
        status: 'DELIVERED',
        code: '',
        detail: 'DELIV',
      },
      {
        providerId: '6699',
        otherIds: expect.arrayContaining(['0000006699', '1a2b']),
        to: ADA,
        status: 'ERROR',
        code: '42',
        detail: 'UNDELIV, error 42',
      },
    ])
    expect(line.received).toEqual([])
  })

  it('keeps special characters of ids in every alphabet', async () => {
    await receipt('id:a_b@c$1 stat:DELIVRD err:000')
    expect(told()).toMatchObject([{ providerId: 'a_b@c$1' }])
  })

  it('treats intermediate notifications as not final, and ignores "unknown" and acknowledgements of phones', async () => {
    await receipt('id:7 stat:ENROUTE', { esmClass: 0x20 })
    await receipt('id:7 stat:UNDELIV', { esmClass: 0x20 })
    await receipt('id:7 stat:UNKNOWN')
    await receipt('stat:DELIVRD')
    for (const esmClass of [0x08, 0x10, 0x18]) await text('Read', { esmClass })
    expect(told()).toMatchObject([
      { providerId: '7', status: 'SENT' },
      { providerId: '7', status: 'SENT' },
    ])
    expect(line.received).toEqual([])
    expect(line.logs).toHaveLength(4)
    expect(line.logs.join()).not.toMatch(/Read|DELIVRD|2025550101/)
  })

  it('refuses a receipt that cannot be stored, so that it is redelivered', async () => {
    let failing = true
    const push = line.receipts.push.bind(line.receipts)
    line.receipts.push = (...items) => {
      if (failing) throw new Error('disk full')
      return push(...items)
    }
    expect(await receipt('id:7 stat:DELIVRD')).toMatchObject({ status: 0x14 })
    failing = false
    expect(await receipt('id:7 stat:DELIVRD')).toMatchObject({ status: 0 })
    expect(line.receipts).toHaveLength(1)
  })
})
