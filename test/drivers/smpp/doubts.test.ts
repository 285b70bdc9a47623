import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { encodePdu, type Pdu } from '../../../src/drivers/smpp/codec/pdu.js'
import type { DeliveryReport } from '../../../src/drivers/smpp/codec/receipt-text.js'
import { shortRef } from '../../../src/drivers/smpp/codec/short-ref.js'
import { createDoubts } from '../../../src/drivers/smpp/doubts.js'
import { createSmsc, type Smsc } from '../../peers/smsc.js'
import { addSmppLine, eventually, receiptText, untilState } from '../../support/drivers/smpp.js'
import { createWorld, ENGINES, type Json, type World } from '../../support/world.js'

const HOLDS = '+12025550171'
const RESENDS = '+12025550172'
const LONG = 'The quick brown fox jumps over the lazy dog. '.repeat(9).slice(0, 400)
const SETTLE_MS = 5 * 60_000
const THROTTLED = 0x58

/** The carrier takes a message and is gone before it says so. */
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
    world = await createWorld(engine)
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
  /** Sends something that the carrier takes without saying so. */
  const lose = async (to: string, content: string, n = 1) => {
    const before = taken(to).length
    smsc.options.submit = () => (taken(to).length === before + n - 1 ? 'drop' : { answer: 0 })
    const handle = await send(to, content)
    await eventually(() => expect(taken(to)).toHaveLength(before + n))
    smsc.options.submit = undefined
    await becomes(handle, { status: 'PENDING' })
    return handle
  }

  it('a receipt that hands our number back settles it', async () => {
    const to = person()
    const handle = await lose(to, 'Hello')
    await online(HOLDS)
    expect(await world.status(handle)).toMatchObject({ status: 'QUEUED' })
    await smsc.bring(receiptText(taken(to)[0]!, 'DELIVRD', { echo: true }))
    await becomes(handle, { status: 'DELIVERED' })
    await world.advance(SETTLE_MS)
    expect(taken(to)).toHaveLength(1)
  })

  it('so it does after a restart of Trunkline', async () => {
    const [ada, bob] = [person(), person()]
    const handles = [await lose(ada, 'Hello')]
    await online(HOLDS)
    handles.push(await lose(bob, 'Good bye'))
    await world.restart()
    await untilState(world, lines[HOLDS]!, 'ONLINE')
    await smsc.bring(receiptText(taken(ada)[0]!, 'UNDELIV', { echo: true }))
    await becomes(handles[0]!, { status: 'ERROR', error_reason: 'undelivered' })
    // Without our number: whom it went to, how it begins, and when, by the clock of another zone.
    const there = new Date(world.app.ctx.clock.now() + 2 * 3_600_000).toISOString()
    const date = there.slice(2, 16).replace(/\D/g, '')
    await smsc.bring(receiptText(taken(bob)[0]!, 'DELIVRD', { date }))
    await becomes(handles[1]!, { status: 'DELIVERED' })
    expect([taken(ada).length, taken(bob).length]).toEqual([1, 1])
  })

  it('so does an answer that comes too late, and its receipts are known by the id in it', async () => {
    const to = person()
    smsc.options.submit = () => 'silence'
    const handle = await send(to, 'Hello')
    await eventually(() => expect(taken(to)).toHaveLength(1))
    await world.advance(30_000)
    await becomes(handle, { status: 'PENDING' })
    const { sequence } = taken(to)[0]!.pdu
    smsc.raw(encodePdu({ command: 'submit_sm_resp', status: 0, sequence, messageId: 'LATE' }))
    await becomes(handle, { status: 'SENT' })
    await smsc.report('LATE', 2)
    await becomes(handle, { status: 'DELIVERED' })
    await world.advance(SETTLE_MS)
    expect(taken(to)).toHaveLength(1)
  })

  it('without a receipt it is an error that says so, and never leaves again; late news still counts', async () => {
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

  it('a line that would rather send twice than not at all sends again', async () => {
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

  it('one that the carrier held back has its time from then on, and its receipt is known', async () => {
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
      // What the carrier says after a refusal is answered: so the refusal has been read.
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

  it('of several parts one that arrived proves that it left, all of them that it arrived', async () => {
    const to = person()
    const handle = await lose(to, LONG, 3)
    await online(HOLDS)
    for (const part of taken(to)) {
      await smsc.bring(receiptText(part, 'DELIVRD', { echo: true }))
      await becomes(handle, { status: part === taken(to).at(-1) ? 'DELIVERED' : 'SENT' })
    }
    expect(taken(to)).toHaveLength(3)
  })

  it('a receipt that came before the connection was lost counts as well', async () => {
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

describe('doubts', () => {
  const TO = '+12025550101'
  let now = Date.UTC(2026, 10, 15, 10, 0)
  const report = (fields: Partial<DeliveryReport> = {}): DeliveryReport => ({
    id: 'X',
    ref: undefined,
    status: 'DELIVERED',
    code: '',
    detail: '',
    submittedAt: undefined,
    text: '',
    ...fields,
  })
  const open = (...sends: [ref: string, content: string, parts?: number][]) => {
    const doubts = createDoubts(() => now)
    for (const [ref, content, parts = 1] of sends) {
      doubts.begin({ ref, to: TO, content, wireAt: now, parts })
      doubts.keepOpen(ref)
    }
    return doubts
  }

  it('our number decides, to the same person only', () => {
    const doubts = open(['a', 'Hello'], ['b', 'Hello'])
    expect(doubts.judge(report({ ref: shortRef('b') }), TO)).toEqual({
      ref: 'b',
      status: 'DELIVERED',
      isCertain: true,
    })
    expect(doubts.judge(report({ ref: shortRef('b') }), '+12025550199')).toBeUndefined()
    expect(doubts.judge(report({ ref: shortRef('c'), text: 'Hello' }), TO)).toBeUndefined()
  })

  it('without it, only what fits one alone, and something must speak for it', () => {
    const doubts = open(['a', 'Hello Ada'], ['b', 'Good bye'])
    expect(doubts.judge(report({ text: 'Hello' }), TO)).toMatchObject({ ref: 'a', isCertain: false })
    expect(doubts.judge(report({ text: 'Hallo' }), TO)).toBeUndefined()
    expect(doubts.judge(report(), TO)).toBeUndefined()
    expect(open(['a', 'Hello 1'], ['b', 'Hello 2']).judge(report({ text: 'Hello' }), TO)).toBeUndefined()
    const other = open(['a', 'Hello'])
    expect(other.judge(report({ submittedAt: now + 3_600_000 - 60_000 }), TO)).toMatchObject({ ref: 'a' })
    expect(other.judge(report({ submittedAt: now + 420_000 }), TO)).toBeUndefined()
    expect(other.judge(report({ submittedAt: now - 3 * 86_400_000 }), TO)).toBeUndefined()
  })

  it('when it left is when its parts were submitted, not when it began to wait for its turn', () => {
    const doubts = createDoubts(() => now)
    const begun = now
    doubts.begin({ ref: 'a', to: TO, content: LONG, wireAt: begun, parts: 2 })
    now += 290_000
    doubts.markSubmitted('a')
    now += 200_000
    doubts.markSubmitted('a')
    doubts.keepOpen('a')
    const at = (submittedAt: number) => doubts.judge(report({ submittedAt }), TO)?.ref
    expect([at(begun), at(begun + 150_000)]).toEqual([undefined, undefined])
    expect([at(begun + 290_000), at(begun + 400_000), at(begun + 490_000)]).toEqual(['a', 'a', 'a'])
    // By the clock of another zone.
    expect([at(begun + 290_000 - 7_200_000), at(begun + 490_000 + 3_600_000)]).toEqual(['a', 'a'])
    expect(at(begun + 630_000)).toBeUndefined()
  })

  it('what is still waiting for its answer makes it ambiguous, and is never proven early', () => {
    const doubts = open(['a', 'Hello'])
    doubts.begin({ ref: 'b', to: TO, content: 'Hello', wireAt: now, parts: 1 })
    expect(doubts.judge(report({ text: 'Hello' }), TO)).toBeUndefined()
    expect(doubts.judge(report({ ref: shortRef('b') }), TO)).toBeUndefined()
    expect(doubts.keepOpen('b')).toMatchObject([{ to: TO, proof: { ref: 'b', status: 'DELIVERED' } }])
    doubts.settle('b')
    expect(doubts.judge(report({ text: 'Hello' }), TO)).toMatchObject({ ref: 'a' })
  })

  it('of several parts, each counts once', () => {
    const doubts = open(['a', LONG, 2])
    const part = (id: string) => doubts.judge(report({ id, ref: shortRef('a') }), TO)?.status
    expect([part('1'), part('1'), part('2')]).toEqual(['SENT', 'SENT', 'DELIVERED'])
    expect(doubts.judge(report({ ref: shortRef('a'), status: 'ERROR' }), TO)?.status).toBe('ERROR')
  })

  it('remembers a day, and only so many', () => {
    const doubts = open(['a', 'Hello'])
    now += 86_400_001
    expect(doubts.judge(report({ ref: shortRef('a') }), TO)).toBeUndefined()
    for (let i = 0; i < 10_001; i++) {
      doubts.begin({ ref: `r${i}`, to: TO, content: 'x', wireAt: now, parts: 1 })
      doubts.keepOpen(`r${i}`)
    }
    expect(doubts.judge(report({ id: '', text: 'x' }), TO)).toBeUndefined()
    for (let i = 2; i < 10_001; i++) doubts.settle(`r${i}`)
    // The first of them made room for the last: one is left that fits.
    expect(doubts.judge(report({ text: 'x' }), TO)).toMatchObject({ ref: 'r1' })
  })
})
