import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { encodeText } from '../../../src/drivers/smpp/codec/text.js'
import { CommitUnknown } from '../../../src/storage/engine/db.js'
import { createSmsc, type Smsc } from '../../peers/smsc.js'
import { addSmppLine, eventually, receiptText, textFrom, untilState } from '../../support/drivers/smpp.js'
import { createSink, type Sink } from '../../support/web/sink.js'
import { createWorld, ENGINES, type Json, type World } from '../../support/world.js'

const LINE = '+12025550170'
const LONG = 'The quick brown fox jumps over the lazy dog. '.repeat(9).slice(0, 400)

describe.each(ENGINES)('SMPP end to end on %s', (engine) => {
  let world: World
  let smsc: Smsc
  let sink: Sink
  let lineId: string
  let people = 0
  const person = () => `+1202556${String(1000 + people++)}`

  beforeAll(async () => {
    smsc = await createSmsc()
    sink = await createSink()
    world = await createWorld(engine, { isReal: true })
    lineId = await addSmppLine(world, smsc, LINE)
    const webhooks = { outbound: [`${sink.url}/out`], receive: [`${sink.url}/in`] }
    await world.call('PUT', '/api/account/webhooks', { body: { webhooks } })
  })
  afterAll(async () => {
    await smsc.close()
    await world.close()
    await sink.close()
  })
  afterEach(() => {
    smsc.options.submit = undefined
  })

  const send = async (to: string, content: string) =>
    (await world.send({ from_number: LINE, number: to, content })).message_handle as string
  /** Messages that the carrier accepted for this recipient, in order. */
  const taken = (to: string) => smsc.submitted.filter(({ pdu }) => pdu.destination === to.slice(1))
  const takenSoon = async (to: string, n = 1) => {
    await eventually(() => expect(taken(to)).toHaveLength(n))
    return taken(to)
  }
  const becomes = (handle: string, record: Json) =>
    eventually(async () => expect(await world.record(handle)).toMatchObject(record))
  const inbox = async (from: string) => (await world.arrived(LINE, from)).map(({ content }) => content)
  const posts = (path: string, to: string) =>
    sink.received.filter((post) => post.path === path && post.body.number === to)

  it('sends a message, gets its receipt, and reports every step', async () => {
    const to = person()
    const handle = await send(to, 'Hello')
    const [submitted] = await takenSoon(to)
    await becomes(handle, { status: 'SENT', service: 'SMS' })
    expect(await smsc.bring(receiptText(submitted!, 'DELIVRD'))).toMatchObject({ status: 0 })
    await becomes(handle, { status: 'DELIVERED', error_code: null })
    await eventually(() =>
      expect(posts('/out', to).map(({ body }) => body.status)).toEqual(['QUEUED', 'SENT', 'DELIVERED']),
    )
  })

  it("reports a failure receipt as an error with the carrier's text", async () => {
    const to = person()
    const handle = await send(to, 'Hello')
    const [submitted] = await takenSoon(to)
    await smsc.bring(receiptText(submitted!, 'UNDELIV'))
    await becomes(handle, {
      status: 'ERROR',
      error_reason: 'undelivered',
      error_detail: '000: UNDELIV, error 000',
    })
  })

  it('sends a long text in parts: DELIVERED when all are, ERROR when one fails', async () => {
    const [ada, bob] = [person(), person()]
    const handles = [await send(ada, LONG), await send(bob, LONG)]
    const parts = await takenSoon(ada, 3)
    for (const part of parts.toReversed()) {
      await becomes(handles[0]!, { status: 'SENT' })
      await smsc.bring(receiptText(part, 'DELIVRD'))
    }
    await becomes(handles[0]!, { status: 'DELIVERED' })
    const [first, second] = await takenSoon(bob, 3)
    await smsc.bring(receiptText(first!, 'DELIVRD'))
    await smsc.bring(receiptText(second!, 'REJECTD'))
    await becomes(handles[1]!, { status: 'ERROR', error_reason: 'undelivered' })
  })

  it('matches a receipt that overtakes the answer or spells the id differently', async () => {
    const [ada, bob, cleo] = [person(), person(), person()]
    smsc.options.submit = (pdu) => {
      const early = { messageId: '1A2B', pdu }
      if (pdu.destination === ada.slice(1)) void smsc.bring(receiptText(early, 'DELIVRD', { id: '1A2B' }))
      const messageId = pdu.destination === ada.slice(1) ? '1A2B' : `00FF${pdu.destination!.slice(-4)}`
      return { answer: 0, afterMs: 20, messageId }
    }
    const overtaken = await send(ada, 'Hello')
    await becomes(overtaken, { status: 'DELIVERED' })
    const handles = [await send(bob, 'Hello'), await send(cleo, 'Hello')]
    for (const [i, to] of [bob, cleo].entries()) {
      const [submitted] = await takenSoon(to)
      await becomes(handles[i]!, { status: 'SENT' })
      const id = BigInt(`0x${submitted!.messageId}`).toString()
      await smsc.bring(receiptText(submitted!, 'DELIVRD', { id: i === 0 ? id : id.padStart(12, '0') }))
      await becomes(handles[i]!, { status: 'DELIVERED' })
    }
  })

  it('joins an inbound text of three parts with emoji, in any order', async () => {
    const text = `${'Grüße aus Köln 👩‍👩‍👧‍👦 '.repeat(7)}👋`
    const { octets } = encodeText(text, { alphabet: 'gsm7', plainPunctuation: false })
    const cuts = [0, 134, 268, octets.length]
    expect(octets.length).toBeGreaterThan(268)
    expect(octets.length).toBeLessThan(402)
    const orders = [
      [0, 1, 2],
      [0, 2, 1],
      [1, 0, 2],
      [1, 2, 0],
      [2, 0, 1],
      [2, 1, 0],
    ]
    for (const [i, order] of orders.entries()) {
      const from = person()
      for (const n of order) {
        const header = Buffer.from([5, 0, 3, i, 3, n + 1])
        const shortMessage = Buffer.concat([header, octets.subarray(cuts[n], cuts[n + 1])])
        const answer = await smsc.bring(textFrom(from, shortMessage, { esmClass: 0x40, dataCoding: 8 }))
        expect(answer.status).toBe(0)
      }
      expect(await inbox(from)).toEqual([text])
    }
  })

  it('stores two equal texts as two, and a redelivery after a missing answer as one', async () => {
    const from = person()
    await smsc.bring(textFrom(from, 'yes'))
    await smsc.bring(textFrom(from, 'yes'))
    expect(await inbox(from)).toEqual(['yes', 'yes'])

    // The connection ends while the message is being stored, so our answer never leaves.
    const other = person()
    void smsc.bring(textFrom(other, 'only once'))
    smsc.hangUp()
    await untilState(world, lineId, 'OFFLINE')
    await eventually(async () => expect(await inbox(other)).toEqual(['only once']))
    await world.advance(1000)
    await untilState(world, lineId, 'ONLINE')
    await smsc.bring(textFrom(other, 'only once'))
    expect(await inbox(other)).toEqual(['only once'])
    await smsc.bring(textFrom(other, 'only once'))
    expect(await inbox(other)).toEqual(['only once', 'only once'])
  })

  it('stores a redelivery once after a commit with an unknown outcome, over the same connection', async () => {
    const from = person()
    const { db } = world.app.ctx
    const { tx } = db
    let lost = 0
    db.tx = async (work) => {
      const result = await tx(work)
      if (lost === 0 && (await inbox(from)).length > 0) {
        lost++
        throw new CommitUnknown(new Error('connection reset'))
      }
      return result
    }
    try {
      expect(await smsc.bring(textFrom(from, 'yes'))).toMatchObject({ status: 0x14 })
      expect(await smsc.bring(textFrom(from, 'yes'))).toMatchObject({ status: 0 })
      expect(await inbox(from)).toEqual(['yes'])
      await smsc.bring(textFrom(from, 'yes'))
      expect(await inbox(from)).toEqual(['yes', 'yes'])
    } finally {
      db.tx = tx
    }
  })

  it('answers STOP and sends nothing more until START', async () => {
    const from = person()
    await smsc.bring(textFrom(from, 'Stop'))
    await takenSoon(from)
    const refused = await world.post('/api/send-message', {
      from_number: LINE,
      number: from,
      content: 'Hello',
    })
    expect(refused.body).toMatchObject({ status: 'ERROR' })
    await smsc.bring(textFrom(from, 'START'))
    await takenSoon(from, 2)
    const handle = await send(from, 'Welcome back')
    await takenSoon(from, 3)
    await becomes(handle, { status: 'SENT' })
  })

  it('sends everything once to a carrier that throttles', async () => {
    const to = Array.from({ length: 40 }, person)
    let n = 0
    smsc.options.submit = () => ({ answer: n++ % 4 === 1 ? 0x58 : 0 })
    const handles = await Promise.all(to.map((one) => send(one, 'Hello')))
    for (let i = 0; i < 200 && to.some((one) => taken(one).length === 0); i++) await world.advance(50)
    for (const [i, one] of to.entries()) {
      expect(taken(one)).toHaveLength(1)
      await becomes(handles[i]!, { status: 'SENT' })
    }
    await world.advance(60_000)
  })

  it('holds messages while the carrier is down, then sends each once', async () => {
    smsc.options.bind = () => 0x0d
    smsc.cut()
    const offline = await untilState(world, lineId, 'OFFLINE')
    expect(offline.state_detail).not.toContain('hunter2!')
    await world.advance(2000)
    await eventually(async () =>
      expect((await world.get(`/admin/lines/${lineId}`, 'admin')).body.state_detail).toContain('RBINDFAIL'),
    )
    const to = Array.from({ length: 20 }, person)
    const handles = await Promise.all(to.map((one) => send(one, 'Hello')))
    await world.settle()
    expect(to.flatMap(taken)).toEqual([])
    smsc.options.bind = undefined
    await world.advance(90_000)
    await untilState(world, lineId, 'ONLINE')
    for (const [i, one] of to.entries()) {
      await takenSoon(one)
      await becomes(handles[i]!, { status: 'SENT' })
    }
  })

  it('shows the password nowhere', async () => {
    expect(world.logs.join()).not.toContain('hunter2!')
    expect(world.logs.join()).not.toMatch(/2025561\d{3}/)
  })
})
