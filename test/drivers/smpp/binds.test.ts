import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createClock } from '../../../src/base/clock.js'
import { keepBinds } from '../../../src/drivers/smpp/binds.js'
import type { Reply } from '../../../src/drivers/smpp/requests.js'
import type { Bind, Session } from '../../../src/drivers/smpp/session.js'
import { createSmsc, type Smsc } from '../../peers/smsc.js'
import { CERT, EXPIRED, KEY } from '../../support/web/tls.js'
import { type StubLine, soon, stubLine } from './line.js'

const HELLO = { command: 'submit_sm' } as const
const ROK: Reply = { answer: { command: 'submit_sm_resp', status: 0, sequence: 1, messageId: 'A' } }

/** Connections controlled by the test. */
function fakeBinds(wanted: Bind[], chance = 0) {
  const clock = createClock(1_000_000)
  const states: string[] = []
  const opened: (Session & {
    at: number
    bind: Bind
    asked: number
    letIn(): void
    end(reason: string, refused?: number): void
  })[] = []
  const binds = keepBinds({
    wanted,
    clock,
    chance: () => chance,
    state: (state, detail) => states.push(detail ? `${state}: ${detail}` : state),
    open(bind, closed) {
      let letIn = () => {}
      const bound = new Promise<void>((resolve) => {
        letIn = resolve
      })
      const session = {
        at: clock.now(),
        bind,
        bound,
        asked: 0,
        letIn,
        end: closed,
        load: () => session.asked,
        request: async () => {
          session.asked++
          return ROK
        },
        stop: async () => {},
      }
      opened.push(session)
      return session
    },
  })
  const moved = (ms: number) => clock.advance(ms, () => new Promise((resolve) => setImmediate(resolve)))
  return { binds, clock, states, opened, moved, last: () => opened.at(-1)! }
}

describe('connections of a line', () => {
  it('reconnect after a growing wait of up to a minute, half of it random', async () => {
    for (const chance of [0, 1]) {
      const { opened, moved, last } = fakeBinds(['transceiver'], chance)
      for (let i = 0; i < 9; i++) {
        last().end('the carrier closed the connection')
        await moved(60_000)
      }
      const waits = opened.slice(1).map((session, i) => session.at - opened[i]!.at)
      // Only the waits up to the maximum matter.
      const expected = [1, 2, 4, 8, 16, 32, 60, 60, 60].map((s) => s * 1000 * (chance ? 1 : 0.5))
      const starts = waits.map((wait, i) => wait - (i === 0 ? 0 : 60_000 - expected[i - 1]!))
      expect(starts).toEqual(expected)
    }
  })

  it('reset the wait after a lasting connection, but not after a short one', async () => {
    const { opened, moved, last } = fakeBinds(['transceiver'])
    for (const lasting of [0, 0, 20_000]) {
      last().letIn()
      await moved(lasting)
      last().end('gone')
      const { length } = opened
      while (opened.length === length) await moved(100)
    }
    const waits = opened.slice(1).map((session, i) => session.at - opened[i]!.at)
    expect(waits).toEqual([500, 1000, 20_000 + 500])
  })

  it.each([
    [0x0d, 60_000, 'the carrier refused the bind without a reason (ESME_RBINDFAIL)'],
    [0x0e, 60_000, 'the carrier does not accept the password (ESME_RINVPASWD)'],
    [0x0f, 60_000, 'the carrier does not know the system_id (ESME_RINVSYSID)'],
    [0x05, 10_000, 'this system_id is already bound (ESME_RALYBND)'],
  ])(
    'a bind refused with %d is tried again after %d ms, and the state says why',
    async (status, ms, words) => {
      const smsc = await createSmsc({ bind: () => status })
      const line = await stubLine(smsc.port)
      await soon(() => expect(line.states).toEqual([['OFFLINE', words]]))
      expect(await line.send('Hello')).toMatchObject({ outcome: 'never-left', detail: words })
      const binds = () => smsc.heard.filter(({ command }) => command === 'bind_transceiver').length
      await line.moved(ms - 1)
      expect(binds()).toBe(1)
      smsc.options.bind = () => 0
      await line.moved(ms)
      await line.online()
      expect(await line.send('Hello')).toMatchObject({ outcome: 'accepted' })
      await line.close()
      await smsc.close()
    },
  )

  it('use the connection with the smallest load', async () => {
    const { binds, opened } = fakeBinds(['transceiver', 'transceiver', 'transceiver'])
    for (const session of opened) session.letIn()
    await new Promise((resolve) => setImmediate(resolve))
    for (let i = 0; i < 30; i++) void binds.request(HELLO)
    await new Promise((resolve) => setImmediate(resolve))
    expect(opened.map(({ asked }) => asked)).toEqual([10, 10, 10])
  })

  it('send over another connection only requests that did not leave', async () => {
    const { binds, opened } = fakeBinds(['transceiver', 'transceiver'])
    for (const session of opened) session.letIn()
    await new Promise((resolve) => setImmediate(resolve))
    opened[0]!.request = async () => {
      opened[0]!.end('gone')
      return { answer: undefined, left: false, reason: 'gone' }
    }
    expect(await binds.request(HELLO)).toEqual(ROK)
    expect(opened[1]!.asked).toBe(1)
    opened[1]!.request = async () => {
      opened[1]!.end('gone')
      return { answer: undefined, left: true, reason: 'gone' }
    }
    expect(await binds.request(HELLO)).toEqual({ answer: undefined, left: true, reason: 'gone' })
    expect(await binds.request(HELLO)).toEqual({ answer: undefined, left: false, reason: 'gone' })
  })

  it('report the state of the line: all, some, or none that can send', async () => {
    const { states, opened, moved } = fakeBinds(['transmitter', 'receiver'])
    const [transmitter, receiver] = opened
    transmitter!.letIn()
    await moved(0)
    // The other connection is expected to follow.
    expect(states).toEqual([])
    receiver!.letIn()
    await moved(0)
    receiver!.end('no receiver')
    await moved(0)
    transmitter!.end('no transmitter')
    expect(states).toEqual(['ONLINE', 'DEGRADED: no receiver', 'OFFLINE: no transmitter'])
  })

  it('end a request at its time limit while connections keep opening', async () => {
    const { binds, clock, opened, moved } = fakeBinds(['transceiver', 'transceiver'])
    const reply = binds.request(HELLO, { since: clock.now(), until: clock.now() + 60_000, isRest: false })
    let isOver = false
    void reply.then(() => {
      isOver = true
    })
    for (const so of [false, false, true]) {
      await moved(25_000)
      // The other connection is still opening.
      opened.at(opened.length === 2 ? 0 : -1)!.end('nobody there')
      await moved(0)
      expect(isOver).toBe(so)
    }
    expect(await reply).toEqual({ answer: undefined, left: false, reason: 'nobody there' })
  })

  it('let the first request wait for the first connection', async () => {
    const { binds, opened, moved } = fakeBinds(['transceiver'])
    const reply = binds.request(HELLO)
    await moved(2000)
    opened[0]!.letIn()
    expect(await reply).toEqual(ROK)
  })
})

describe('a line at an SMSC', () => {
  let smsc: Smsc
  let line: StubLine
  beforeEach(async () => {
    smsc = await createSmsc()
  })
  afterEach(async () => {
    await smsc.close()
    await line.close()
  })

  it('a pair: sends over the transmitter and receives over the receiver', async () => {
    line = await stubLine(smsc.port, { bind: 'pair', connections: 2 })
    await line.online()
    const commands = smsc.heard.map(({ command }) => command).sort()
    expect(commands).toEqual(['bind_receiver', 'bind_receiver', 'bind_transmitter', 'bind_transmitter'])
    expect(await line.send('Hello')).toMatchObject({ outcome: 'accepted', providerId: 'ID1', status: 'SENT' })
    expect(await smsc.bring({ command: 'deliver_sm', source: '12025550101' })).toMatchObject({ status: 0 })
    expect(line.received).toHaveLength(1)
  })

  it('several connections share the load, and a lost one is reopened', async () => {
    smsc.options.submit = () => ({ answer: 0, afterMs: 5 })
    line = await stubLine(smsc.port, { connections: 3, window: 2 })
    await line.online()
    const results = await Promise.all(Array.from({ length: 30 }, () => line.send('Hello')))
    expect(results.every(({ outcome }) => outcome === 'accepted')).toBe(true)
    smsc.cut()
    await soon(() => expect(line.states.at(-1)![0]).toBe('OFFLINE'))
    await line.moved(1000)
    await line.online()
    expect(await line.send('Hello')).toMatchObject({ outcome: 'accepted' })
  })

  it('closing a line waits for answers, unbinds, and sends nothing more', async () => {
    smsc.options.submit = () => ({ answer: 0, afterMs: 30 })
    line = await stubLine(smsc.port, { window: 2 })
    await line.online()
    const sends = Array.from({ length: 5 }, () => line.send('Hello'))
    await soon(() => expect(smsc.submitted).toHaveLength(2))
    await line.close()
    const outcomes = (await Promise.all(sends)).map(({ outcome }) => outcome)
    expect(outcomes).toEqual(['accepted', 'accepted', 'never-left', 'never-left', 'never-left'])
    expect(smsc.submitted).toHaveLength(2)
    expect(smsc.heard.at(-1)!.command).toBe('unbind')
    expect(await line.send('Hello')).toMatchObject({ outcome: 'never-left', code: 'closing' })
  })
})

describe('TLS', () => {
  const tls = { tls: true, tls_name: 'files.example' }
  let smsc: Smsc
  afterEach(() => smsc.close())

  const stateAt = async (config: Record<string, unknown>) => {
    const line = await stubLine(smsc.port, config)
    await soon(() => expect(line.states).toHaveLength(1))
    await line.close()
    return line.states[0]!
  }

  it('does not send the password to an untrusted carrier; tls_ca makes it trusted', async () => {
    smsc = await createSmsc({ tls: { key: KEY, cert: CERT } })
    expect(await stateAt(tls)).toEqual(['OFFLINE', expect.stringContaining('unknown authority')])
    expect(await stateAt({ ...tls, tls_name: 'other.example', tls_ca: CERT })).toEqual([
      'OFFLINE',
      expect.stringContaining('another name'),
    ])
    expect(await stateAt({ tls: true, tls_ca: CERT })).toEqual([
      'OFFLINE',
      expect.stringContaining('another name'),
    ])
    expect(smsc.heard).toEqual([])
    expect(await stateAt({ ...tls, tls_ca: CERT })).toEqual(['ONLINE', undefined])
  })

  it('rejects an expired certificate and an invalid tls_ca', async () => {
    smsc = await createSmsc({ tls: { key: KEY, cert: EXPIRED } })
    expect(await stateAt({ ...tls, tls_ca: EXPIRED })).toEqual([
      'OFFLINE',
      expect.stringContaining('expired'),
    ])
    expect(
      await stateAt({
        ...tls,
        tls_ca: '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----',
      }),
    ).toEqual(['OFFLINE', 'tls_ca: is not a certificate'])
    expect(smsc.heard).toEqual([])
  })

  it('sends nothing to a carrier without TLS', async () => {
    smsc = await createSmsc()
    expect((await stateAt(tls))[0]).toBe('OFFLINE')
    expect(smsc.heard).toEqual([])
  })
})
