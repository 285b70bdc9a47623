import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { AppError } from '../../../src/core/errors.js'
import { encodePdu, type Pdu } from '../../../src/drivers/smpp/codec/pdu.js'
import { reportIn } from '../../../src/drivers/smpp/codec/receipt-text.js'
import { parkReceipts } from '../../../src/storage/messages/receipts.js'
import { createSmsc, type Smsc } from '../../peers/smsc.js'
import { addSmppLine, eventually, receiptText, untilState } from '../../support/drivers/smpp.js'
import { createWorld, ENGINES, type Json, type World } from '../../support/world.js'

const HOLDS = '+12025550171'
const RESENDS = '+12025550172'
const LONG = 'The quick brown fox jumps over the lazy dog. '.repeat(9).slice(0, 400)
const SETTLE_MS = 5 * 60_000
const THROTTLED = 0x58

/** The carrier accepts a message and disconnects before it answers. */
describe.each(ENGINES)('SMPP sends in doubt on %s', (engine) => {
  let world: World
  let smsc: Smsc
  let other: Smsc
  const lines: Record<string, string> = {}
  let people = 0
  const person = () => `+1202557${String(1000 + people++)}`

  beforeAll(async () => {
    smsc = await createSmsc()
    other = await createSmsc()
    world = await createWorld(engine, { isReal: true })
    lines[HOLDS] = await addSmppLine(world, smsc, HOLDS)
    lines[RESENDS] = await addSmppLine(world, other, RESENDS, { on_unknown: 'resend' })
  })
  afterAll(async () => {
    await smsc.close()
    await other.close()
    await world.close()
  })
  afterEach(() => {
    smsc.options.submit = undefined
  })

  const taken = (to: string) => smsc.submitted.filter(({ pdu }) => pdu.destination === to.slice(1))
  const becomes = (handle: string, record: Json) =>
    eventually(async () => expect(await world.record(handle)).toMatchObject(record))
  const online = async (line: string) => {
    await world.advance(2000)
    await untilState(world, lines[line]!, 'ONLINE')
  }
  const send = async (to: string, content: string, line = HOLDS) =>
    (await world.send({ from_number: line, number: to, content })).message_handle as string
  /** Sends messages that the carrier accepts without answering. */
  const lose = async (to: string, content: string, n = 1) => {
    const before = taken(to).length
    smsc.options.submit = () => (taken(to).length === before + n - 1 ? 'drop' : { answer: 0 })
    const handle = await send(to, content)
    await eventually(() => expect(taken(to)).toHaveLength(before + n))
    smsc.options.submit = undefined
    await becomes(handle, { status: 'PENDING' })
    return handle
  }

  it('a receipt with our reference resolves the send', async () => {
    const to = person()
    const handle = await lose(to, 'Hello')
    await online(HOLDS)
    expect(await world.status(handle)).toMatchObject({ status: 'QUEUED' })
    await smsc.bring(receiptText(taken(to)[0]!, 'DELIVRD', { echo: true }))
    await becomes(handle, { status: 'DELIVERED' })
    await world.advance(SETTLE_MS)
    expect(taken(to)).toHaveLength(1)
  })

  it('a receipt resolves the send after a restart of Trunkline', async () => {
    const [ada, bob] = [person(), person()]
    const handles = [await lose(ada, 'Hello')]
    await online(HOLDS)
    handles.push(await lose(bob, 'Good bye'))
    await world.restart()
    await untilState(world, lines[HOLDS]!, 'ONLINE')
    await smsc.bring(receiptText(taken(ada)[0]!, 'UNDELIV', { echo: true }))
    await becomes(handles[0]!, { status: 'ERROR', error_reason: 'undelivered' })
    // Without our reference: recipient, beginning of the text, and time in another zone.
    const there = new Date(world.app.ctx.clock.now() + 2 * 3_600_000).toISOString()
    const date = there.slice(2, 16).replace(/\D/g, '')
    await smsc.bring(receiptText(taken(bob)[0]!, 'DELIVRD', { date }))
    await becomes(handles[1]!, { status: 'DELIVERED' })
    expect([taken(ada).length, taken(bob).length]).toEqual([1, 1])
  })

  /** Sends a message that the carrier answers later, with `answer`. */
  const sendUnanswered = async () => {
    const to = person()
    smsc.options.submit = () => 'silence'
    const handle = await send(to, 'Hello')
    await eventually(() => expect(taken(to)).toHaveLength(1))
    await world.advance(30_000)
    await becomes(handle, { status: 'PENDING' })
    const { sequence } = taken(to)[0]!.pdu
    const answer = (messageId: string) =>
      smsc.raw(encodePdu({ command: 'submit_sm_resp', status: 0, sequence, messageId }))
    return { to, handle, answer }
  }

  it('a late answer resolves the send, and later receipts match by its id', async () => {
    const { to, handle, answer } = await sendUnanswered()
    answer('LATE')
    await becomes(handle, { status: 'SENT' })
    await smsc.report('LATE', 2)
    await becomes(handle, { status: 'DELIVERED' })
    await world.advance(SETTLE_MS)
    expect(taken(to)).toHaveLength(1)
  })

  it('a receipt that came through another process resolves the send', async () => {
    const to = person()
    const handle = await lose(to, 'Hello')
    await online(HOLDS)
    const { db, clock } = world.app.ctx
    const [sent] = taken(to)
    const evidence = reportIn(receiptText(sent!, 'DELIVRD', { echo: true }), 'stat:DELIVRD')
    const status = 'DELIVERED' as const
    const report = { providerId: 'ELSEWHERE', to, status, at: clock.now(), evidence }
    const parked = { providerId: 'ELSEWHERE', receipt: `ELSEWHERE ${to}`, status, report }
    await db.write((sql) => parkReceipts(sql, lines[HOLDS]!, [parked], clock.now()))
    await world.advance(60_000)
    await becomes(handle, { status: 'DELIVERED' })
  })

  it('ends as an error without a receipt, never sends again, and still accepts late news', async () => {
    const [ada, bob] = [person(), person()]
    const handles = [await lose(ada, 'Hello')]
    await online(HOLDS)
    handles.push(await lose(bob, 'Hello'))
    await online(HOLDS)
    await world.advance(SETTLE_MS)
    for (const handle of handles)
      await becomes(handle, { status: 'ERROR', error_code: 10002, error_reason: 'outcome_unknown' })
    await smsc.bring(receiptText(taken(ada)[0]!, 'DELIVRD', { echo: true }))
    await becomes(handles[0]!, { status: 'DELIVERED', error_code: null })
    await world.restart()
    await untilState(world, lines[HOLDS]!, 'ONLINE')
    await smsc.bring(receiptText(taken(bob)[0]!, 'DELIVRD', { echo: true }))
    await becomes(handles[1]!, { status: 'DELIVERED', error_code: null })
    expect([taken(ada).length, taken(bob).length]).toEqual([1, 1])
  })

  it('an answer after the error resolves the send, and later receipts match by its id', async () => {
    const { handle, answer } = await sendUnanswered()
    await world.advance(SETTLE_MS)
    await becomes(handle, { status: 'ERROR', error_reason: 'outcome_unknown' })
    answer('LATER')
    await becomes(handle, { status: 'SENT', error_code: null })
    await smsc.report('LATER', 2)
    await becomes(handle, { status: 'DELIVERED' })
  })

  it('a late answer that the database cannot take at the moment is kept', async () => {
    const { handle, answer } = await sendUnanswered()
    const { db } = world.app.ctx
    const { write, tx } = db
    let refused = 0
    const refuse = () => {
      refused++
      return Promise.reject(new AppError('unavailable', 'The database cannot be reached'))
    }
    Object.assign(db, { write: refuse, tx: refuse })
    try {
      answer('KEPT')
      await eventually(() => expect(refused).toBeGreaterThan(0))
    } finally {
      Object.assign(db, { write, tx })
    }
    await world.advance(1000)
    await becomes(handle, { status: 'SENT' })
    await smsc.report('KEPT', 2)
    await becomes(handle, { status: 'DELIVERED' })
  })

  it('sends again with on_unknown: resend', async () => {
    other.options.submit = (_pdu, n) => (n === 0 ? 'drop' : { answer: 0 })
    const handle = await send(person(), 'Your code is 123456', RESENDS)
    await becomes(handle, { status: 'PENDING' })
    await online(RESENDS)
    await world.advance(SETTLE_MS)
    await eventually(() => expect(other.submitted).toHaveLength(2))
    await becomes(handle, { status: 'SENT' })
    await other.bring(receiptText(other.submitted[1]!, 'DELIVRD'))
    await becomes(handle, { status: 'DELIVERED' })
    expect(other.submitted).toHaveLength(2)
  })

  it('matches the receipt of a throttled send by its actual submit time', async () => {
    const [to, another] = [person(), person()]
    const refused: Pdu[] = []
    smsc.options.submit = (pdu) => {
      refused.push(pdu)
      return { answer: THROTTLED }
    }
    const handle = await send(to, 'Slowly')
    for (let waited = 0; waited < SETTLE_MS - 20_000; waited += 10_000) {
      const before = refused.length
      await world.advance(waited === 0 ? 0 : 10_000)
      await eventually(() => expect(refused.length).toBeGreaterThan(waited === 0 ? 0 : before))
      // An answered request after the refusal proves that the refusal was read.
      const pdu = { ...refused[0]!, destination: another.slice(1) }
      await smsc.bring(receiptText({ messageId: 'NOBODY', pdu }, 'DELIVRD'))
    }
    smsc.options.submit = () => 'drop'
    await world.advance(10_000)
    await eventually(() => expect(taken(to)).toHaveLength(1))
    smsc.options.submit = undefined
    await becomes(handle, { status: 'PENDING' })
    await online(HOLDS)
    await world.advance(60_000)
    expect(await world.record(handle)).toMatchObject({ status: 'PENDING' })
    const date = new Date(world.app.ctx.clock.now() - 62_000).toISOString().slice(2, 16).replace(/\D/g, '')
    await smsc.bring(receiptText(taken(to)[0]!, 'DELIVRD', { date }))
    await becomes(handle, { status: 'DELIVERED' })
  })

  it('delivered parts prove nothing until all parts are', async () => {
    const to = person()
    const handle = await lose(to, LONG, 3)
    await online(HOLDS)
    for (const part of taken(to)) {
      await smsc.bring(receiptText(part, 'DELIVRD', { echo: true }))
      await becomes(handle, { status: part === taken(to).at(-1) ? 'DELIVERED' : 'PENDING' })
    }
    expect(taken(to)).toHaveLength(3)
  })

  it('ends as an error that counts the parts taken, answered or reported, and never as SENT', async () => {
    const to = person()
    const handle = await lose(to, LONG, 2)
    await online(HOLDS)
    const [first, second] = taken(to)
    for (const part of [second!, second!, first!])
      await smsc.bring(receiptText(part, 'DELIVRD', { echo: true }))
    await becomes(handle, { status: 'PENDING' })
    await world.advance(SETTLE_MS)
    await becomes(handle, { status: 'ERROR', error_code: 10002, error_detail: '2 of 3 parts taken' })
    const story = (await world.get(`/v3/messages/${handle}`)).body.data.events
    expect(story.map((event: Json) => event.data.status)).toEqual(['QUEUED', 'PENDING', 'ERROR'])
  })

  it('counts the answered parts without any report', async () => {
    const to = person()
    const handle = await lose(to, LONG, 3)
    await online(HOLDS)
    await world.advance(SETTLE_MS)
    await becomes(handle, { status: 'ERROR', error_code: 10002, error_detail: '2 of 3 parts taken' })
  })

  it('one part that fails in doubt fails the message', async () => {
    const to = person()
    const handle = await lose(to, LONG, 2)
    await online(HOLDS)
    await smsc.bring(receiptText(taken(to)[1]!, 'UNDELIV', { echo: true }))
    await becomes(handle, { status: 'ERROR', error_reason: 'undelivered' })
    expect((await world.record(handle)).error_detail).toMatch(/^One of 3 parts: 000: UNDELIV/)
  })

  it('counts a receipt that arrived before the connection was lost', async () => {
    const to = person()
    smsc.options.submit = (pdu) => {
      void smsc
        .bring(receiptText({ messageId: 'EARLY', pdu }, 'DELIVRD', { echo: true }))
        .then(() => smsc.cut())
      return 'silence'
    }
    const handle = await send(to, 'Hello')
    await becomes(handle, { status: 'DELIVERED' })
    smsc.options.submit = undefined
    await world.advance(SETTLE_MS)
    expect(taken(to)).toHaveLength(1)
  })
})
