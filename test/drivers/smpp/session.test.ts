import { createRequire } from 'node:module'
import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Clock, createClock } from '../../../src/base/clock.js'
import { encodePdu, type Pdu } from '../../../src/drivers/smpp/codec/pdu.js'
import { openSession, type Session, type SessionOptions } from '../../../src/drivers/smpp/session.js'
import { createSmsc, type Smsc } from '../../peers/smsc.js'

// biome-ignore lint/suspicious/noExplicitAny: the package has no types
const smpp = createRequire(import.meta.url)('smpp') as any

const HELLO = {
  command: 'submit_sm',
  destination: '12025550101',
  shortMessage: Buffer.from('Hello'),
} as const

const TAKEN = { command: 'submit_sm_resp', status: 0 }

describe('an SMPP session', () => {
  let smsc: Smsc
  let clock: Clock
  let reasons: string[]
  let delivered: Pdu[]
  const sessions: Session[] = []
  beforeEach(async () => {
    smsc = await createSmsc()
    clock = createClock(1_000_000)
    reasons = []
    delivered = []
  })
  afterEach(async () => {
    await smsc.close()
    clock.stop()
  })

  const open = (fields: Partial<SessionOptions> = {}, port = smsc.port) => {
    // A session of the previous test may end only now, so it has its own list.
    const [told, came] = [reasons, delivered]
    const session = openSession({
      bind: 'transceiver',
      login: { systemId: 'trunkline', password: 'secret' },
      open: () => connect(port, '127.0.0.1'),
      window: 10,
      responseMs: 30_000,
      enquireMs: 30_000,
      clock,
      deliver: async (pdu) => {
        came.push(pdu)
        return { status: 0 }
      },
      closed: (reason) => told.push(reason),
      ...fields,
    })
    sessions.push(session)
    return session
  }
  const moved = (ms: number) => clock.advance(ms, () => new Promise((resolve) => setImmediate(resolve)))
  const soon = (what: () => void) => vi.waitFor(what, { timeout: 60_000, interval: 5 })

  it('works with an independent SMSC: bind, submit, delivery, unbind', async () => {
    const heard: string[] = []
    // biome-ignore lint/suspicious/noExplicitAny: the package has no types
    let theirs: any
    // biome-ignore lint/suspicious/noExplicitAny: the package has no types
    const server = smpp.createServer((session: any) => {
      theirs = session
      // biome-ignore lint/suspicious/noExplicitAny: the package has no types
      session.on('pdu', (pdu: any) => {
        heard.push(pdu.command)
        if (pdu.command === 'submit_sm')
          session.send(pdu.response({ message_id: `got ${pdu.short_message.message}` }))
        else if (!pdu.command.endsWith('_resp')) session.send(pdu.response())
      })
      session.on('error', () => {})
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const session = open({}, server.address().port)
    await session.bound
    expect(await session.request(HELLO)).toMatchObject({ answer: { status: 0, messageId: 'got Hello' } })
    theirs.deliver_sm({ source_addr: '12025550101', short_message: 'Hi there' })
    await soon(() => expect(heard).toContain('deliver_sm_resp'))
    expect(delivered[0]).toMatchObject({ source: '12025550101', shortMessage: Buffer.from('Hi there') })
    await session.stop()
    expect(heard).toEqual(['bind_transceiver', 'submit_sm', 'deliver_sm_resp', 'unbind'])
    expect(reasons).toEqual(['the line was closed'])
    await new Promise((resolve) => server.close(resolve))
  })

  it.each([
    [0x0d, 'the carrier refused the bind without a reason (ESME_RBINDFAIL)'],
    [0x0e, 'the carrier does not accept the password (ESME_RINVPASWD)'],
    [0x0f, 'the carrier does not know the system_id (ESME_RINVSYSID)'],
    [0x05, 'this system_id is already bound (ESME_RALYBND)'],
  ])('explains a refused bind: %d', async (status, reason) => {
    smsc.options.bind = () => status
    await expect(open().bound).rejects.toMatchObject({ refused: status })
    expect(reasons).toEqual([reason])
  })

  it('ends without a listener, and nothing was sent', async () => {
    const { port } = smsc
    await smsc.close()
    const session = open({}, port)
    await expect(session.bound).rejects.toThrow('refuses connections')
    expect(await session.request(HELLO)).toMatchObject({ answer: undefined, left: false })
    smsc = await createSmsc()
  })

  it('keeps its window; a broken connection leaves sent requests unknown and the others unsent', async () => {
    smsc.options.submit = () => 'silence'
    const session = open({ window: 3 })
    await session.bound
    const replies = Array.from({ length: 10 }, () => session.request(HELLO))
    await soon(() => expect(smsc.submitted).toHaveLength(3))
    expect(session.load()).toBe(10)
    smsc.cut()
    const left = (await Promise.all(replies)).map((reply) => 'left' in reply && reply.left)
    expect(left).toEqual([true, true, true, ...Array(7).fill(false)])
    expect(smsc.submitted).toHaveLength(3)
    expect(reasons).toHaveLength(1)
  })

  it('sends the next requests as answers arrive, in any order', async () => {
    smsc.options.submit = (_pdu, n) => ({ answer: 0, afterMs: n % 3 === 0 ? 20 : 1 })
    const session = open({ window: 4 })
    await session.bound
    const replies = await Promise.all(Array.from({ length: 40 }, () => session.request(HELLO)))
    expect(new Set(replies.map((reply) => reply.answer?.messageId)).size).toBe(40)
  })

  it('sends the rest of a text before texts that have not started, and ends waits at their time limit', async () => {
    let answer = () => {}
    smsc.options.submit = (pdu) => {
      answer = () =>
        smsc.raw(encodePdu({ command: 'submit_sm_resp', status: 0, sequence: pdu.sequence, messageId: 'X' }))
      return 'silence'
    }
    const session = open({ window: 1, responseMs: 300_000 })
    await session.bound
    const ask = (destination: string, isRest: boolean, ms: number) =>
      session.request({ ...HELLO, destination }, { since: clock.now(), until: clock.now() + ms, isRest })
    const sent = [
      ask('1', false, 600_000),
      ask('2', false, 600_000),
      ask('3', false, 60_000),
      ask('4', true, 600_000),
      ask('5', true, 600_000),
    ]
    expect(session.load()).toBe(5)
    const heard = () => smsc.submitted.map(({ pdu }) => pdu.destination).join()
    await soon(() => expect(heard()).toBe('1'))
    await moved(70_000)
    expect(await sent[2]).toMatchObject({ answer: undefined, left: false })
    for (const so of ['1,4', '1,4,5', '1,4,5,2']) {
      answer()
      await soon(() => expect(heard()).toBe(so))
    }
    answer()
    expect((await Promise.all(sent)).filter((reply) => reply.answer)).toHaveLength(4)
    expect(session.load()).toBe(0)
  })

  it('gives up on an answer at its deadline, and passes on a late one', async () => {
    smsc.options.submit = (_pdu, n) => (n === 0 ? 'silence' : { answer: 0 })
    const session = open()
    await session.bound
    const lost = session.request(HELLO)
    await soon(() => expect(smsc.submitted).toHaveLength(1))
    expect((await session.request(HELLO)).answer).toMatchObject(TAKEN)
    await moved(30_000)
    const reply = await lost
    expect(reply).toMatchObject({ answer: undefined, left: true, reason: 'no answer in 30000 ms' })
    expect((await session.request(HELLO)).answer).toMatchObject(TAKEN)
    const { sequence } = smsc.submitted[0]!.pdu
    // An answer to another command does not answer this request.
    smsc.raw(encodePdu({ command: 'enquire_link_resp', status: 0, sequence }))
    smsc.raw(encodePdu({ command: 'submit_sm_resp', status: 0, sequence, messageId: 'LATE' }))
    expect(await (reply as { late: Promise<Pdu> }).late).toMatchObject({ messageId: 'LATE' })
  })

  it('sends enquire_link to a silent peer, and ends if it does not answer', async () => {
    await open().bound
    await moved(30_000)
    await soon(() => expect(smsc.heard.at(-1)?.command).toBe('enquire_link'))
    await soon(() => expect(sessions.at(-1)!.load()).toBe(0))
    await moved(15_000)
    expect(reasons).toEqual([])
    smsc.options.enquire = false
    await moved(30_000)
    await soon(() =>
      expect(smsc.heard.filter(({ command }) => command === 'enquire_link').length).toBeGreaterThan(1),
    )
    await moved(45_000)
    expect(reasons).toEqual(['the carrier stopped answering'])
  })

  it("answers the peer's enquire_link, and rejects unknown commands", async () => {
    await open().bound
    expect((await smsc.bring({ command: 'enquire_link' })).command).toBe('enquire_link_resp')
    expect(await smsc.bring({ command: 'query_sm' })).toMatchObject({ command: 'generic_nack', status: 3 })
    const unknown = Buffer.alloc(16)
    unknown.writeUInt32BE(16, 0)
    unknown.writeUInt32BE(0x00010999, 4)
    unknown.writeUInt32BE(77, 12)
    smsc.raw(unknown)
    await soon(() => expect(smsc.heard.at(-1)).toMatchObject({ command: 'generic_nack', sequence: 77 }))
    expect(reasons).toEqual([])
  })

  it.each([0, 4, 15, 70_001])(
    'a PDU of %d octets ends the session at once, and nothing waits',
    async (length) => {
      smsc.options.submit = () => 'silence'
      const session = open()
      await session.bound
      const reply = session.request(HELLO)
      await soon(() => expect(smsc.submitted).toHaveLength(1))
      const bad = Buffer.alloc(16)
      bad.writeUInt32BE(length, 0)
      smsc.raw(bad)
      expect(await reply).toMatchObject({ answer: undefined, left: true })
      expect(reasons).toEqual([`the carrier sent a PDU of ${length} octets`])
      await soon(() => expect(smsc.heard.at(-1)).toMatchObject({ command: 'generic_nack', status: 2 }))
    },
  )

  it('does not acknowledge a message that cannot be stored', async () => {
    await open({ deliver: () => Promise.reject(new Error('disk full')) }).bound
    expect(await smsc.bring({ command: 'deliver_sm' })).toMatchObject({ status: 0x14 })
  })

  it('slows down a peer that delivers faster than we store, without loss', async () => {
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    let most = 0
    let now = 0
    await open({
      deliver: async (pdu) => {
        most = Math.max(most, ++now)
        await gate
        now--
        delivered.push(pdu)
        return { status: 0 }
      },
    }).bound
    const answers = Array.from({ length: 5000 }, (_, i) =>
      smsc.bring({ command: 'deliver_sm', shortMessage: Buffer.alloc(200, i) }),
    )
    await soon(() => expect(most).toBeGreaterThan(199))
    release()
    await Promise.all(answers)
    expect(delivered).toHaveLength(5000)
    expect(most).toBeLessThan(1000)
  })

  it('waits for pending answers on stop, and accepts nothing new', async () => {
    smsc.options.submit = () => ({ answer: 0, afterMs: 50 })
    const session = open({ window: 1 })
    await session.bound
    const [first, second] = [session.request(HELLO), session.request(HELLO)]
    const stopped = session.stop()
    expect(await session.request(HELLO)).toMatchObject({ answer: undefined, left: false })
    expect(await second).toMatchObject({ answer: undefined, left: false })
    expect(await first).toMatchObject({ answer: { status: 0 } })
    await stopped
    expect(smsc.heard.at(-1)!.command).toBe('unbind')
    expect(smsc.submitted).toHaveLength(1)
  })

  it('stores and acknowledges the deliveries in progress before it stops, so that none comes again', async () => {
    let store = () => {}
    const stored = new Promise<void>((resolve) => {
      store = resolve
    })
    const session = open({ deliver: () => stored.then(() => ({ status: 0 })) })
    await session.bound
    const answer = smsc.bring({ command: 'deliver_sm' })
    // Deliveries are handled in order, so the first one is in progress when this is answered.
    await smsc.bring({ command: 'enquire_link' })
    const stopped = session.stop()
    await new Promise((resolve) => setImmediate(resolve))
    store()
    expect(await answer).toMatchObject({ command: 'deliver_sm_resp', status: 0 })
    await stopped
    expect(smsc.heard.at(-1)!.command).toBe('unbind')
  })

  it("answers the peer's unbind", async () => {
    await open().bound
    expect((await smsc.bring({ command: 'unbind' })).command).toBe('unbind_resp')
    expect(reasons).toEqual(['the carrier ended the session'])
  })
})
