import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Status } from '../../src/core/messages/message.js'
import type { Driver } from '../../src/drivers/contract.js'
import { turns } from '../support/turns.js'
import { createWorld, ENGINES, type Json, type World } from '../support/world.js'
import { type CallHarness, callContract } from './contract-calls.js'

/** Reaction of a carrier to sends. */
export type CarrierAct =
  | 'accept'
  /** A final refusal. */
  | 'refuse'
  /** Accepts the message, but the answer is lost. */
  | 'take-then-drop'
  /** Does not answer within the time limit. */
  | 'silence'

/** A message that the carrier accepted. */
export interface AcceptedMessage {
  content: string
}

/** A test carrier behind one line. */
export interface CarrierHarness {
  /** The driver settings that connect to it. */
  config: Record<string, unknown>
  /** Connects the carrier to the line, if the line must exist first. */
  join?(lineId: string): Promise<void>
  act(what: CarrierAct): Promise<void>
  /** Makes the carrier unreachable: nothing leaves. */
  unplug(): Promise<void>
  /** Makes the carrier reachable again. */
  plug(): Promise<void>
  /** Messages accepted for this recipient, in order of arrival. */
  taken(to: string): Promise<AcceptedMessage[]>
  /** Sends a receipt for an accepted message; absent if the carrier cannot. */
  report?(to: string, n: number, status: 'SENT' | 'DELIVERED' | 'ERROR'): Promise<void>
  /** Delivers a text from this person and gets the acknowledgement. */
  bring(from: string, content: string): Promise<void>
  /**
   * Delivers a text twice, as after a lost acknowledgement. `recover` moves the clock until the line is connected
   * again.
   */
  bringTwice(from: string, content: string, recover: () => Promise<void>): Promise<void>
  /** Calls of the carrier; absent if its driver has none. */
  calls?: CallHarness
  close(): Promise<void>
}

export interface CarrierTraits {
  /** The driver's kind. */
  driver: string
  /** How a send without an answer is resolved: by a lookup, by a receipt, or not at all. */
  evidence: 'look-up' | 'report' | 'none'
  /** Lowest status that an accepted message reaches without receipts. */
  accepted: Status
  /** Invalid settings, and the field that the error must name. */
  badConfigs: readonly [config: Record<string, unknown>, field: string][]
  /** Secrets of the harness's config, which must never be logged. */
  secrets: readonly string[]
  /** Recipients. */
  people: readonly string[]
  /** How far to move the clock for the driver to notice a lost or restored connection. */
  noticeMs: number
  settleMs: number
  /** The detail of the error when the carrier refuses a message. */
  refusal: string
  /** Settings of the server. */
  env?: Record<string, string>
  /** The driver itself, if it is not built in. */
  outside?: Driver
  /** Time to pass at every check, for drivers that wait between steps. */
  stepMs?: number
}

const NUMBER = '+12025550180'

/**
 * The contract of all drivers, tested through the whole program: from the API on one side to the carrier on the
 * other. A harness plugs in a driver's carrier.
 */
export function driverContract(
  name: string,
  traits: CarrierTraits,
  setup: (world: World, number: string) => Promise<CarrierHarness>,
): void {
  describe.each(ENGINES)(`driver contract: ${name} on %s`, (engine) => {
    let world: World
    let carrier: CarrierHarness
    let lineId: string
    let texts = 0
    let next = 0
    /** Gives each test its own recipient, as long as there are enough. */
    const person = () => traits.people[next++ % traits.people.length]!
    const text = () => `text ${++texts}`

    beforeAll(async () => {
      world = await createWorld(engine, {
        isReal: true,
        ...(traits.env ? { env: traits.env } : {}),
        ...(traits.outside ? { drivers: [traits.outside] } : {}),
      })
      carrier = await setup(world, NUMBER)
      const reply = await create(carrier.config)
      expect(reply.status, JSON.stringify(reply.body)).toBe(201)
      lineId = reply.body.id
      await carrier.join?.(lineId)
      await eventually(async () => expect((await line()).state).toBe('ONLINE'))
    })
    afterAll(async () => {
      await carrier.close()
      await world.close()
    })

    const create = async (config: Record<string, unknown>) => {
      const accounts = (await world.get('/admin/accounts', 'admin')).body.data
      const body = { account_id: accounts[0].id, number: NUMBER, driver: traits.driver, config }
      return world.post('/admin/lines', { ...body, pace_unit: 'second', settle_ms: traits.settleMs }, 'admin')
    }
    const line = async () => (await world.get(`/admin/lines/${lineId}`, 'admin')).body
    const change = async (settings: Record<string, unknown>) => {
      const reply = await world.call('PATCH', `/admin/lines/${lineId}`, { as: 'admin', body: settings })
      expect(reply.status, JSON.stringify(reply.body)).toBe(200)
      await world.settle()
      // The worker may still be closing the connection of the old settings, which settle() does not wait for.
      await world.app.ctx.lines.tended()
      await eventually(async () => expect((await line()).state).toBe('ONLINE'))
    }
    /** Polls an expectation, because `settle` does not wait for sockets. */
    const eventually = (what: () => Promise<void>) =>
      vi.waitFor(
        async () => {
          if (traits.stepMs) await world.advance(traits.stepMs)
          await what()
        },
        { timeout: 60_000, interval: 5 },
      )
    const send = async (to: string, content: string): Promise<string> => {
      const body = (await world.post('/api/send-message', { from_number: NUMBER, number: to, content })).body
      expect(body).toMatchObject({ status: 'QUEUED', message_handle: expect.any(String) })
      return body.message_handle
    }
    const status = async (handle: string): Promise<Status> => (await world.record(handle)).status
    const isTaken = (to: string, ...contents: string[]) =>
      eventually(async () => {
        const mine = (await carrier.taken(to)).map(({ content }) => content)
        expect(mine.filter((content) => contents.includes(content))).toEqual(contents)
      })
    const RANKS: Status[] = ['QUEUED', 'PENDING', 'ACCEPTED', 'SENT', 'SUCCESS', 'DELIVERED']
    const reaches = (handle: string, least: Status) =>
      eventually(async () =>
        expect(RANKS.indexOf(await status(handle))).toBeGreaterThanOrEqual(RANKS.indexOf(least)),
      )
    /** Moves the clock until the line is connected (again). */
    const recover = async () => {
      // The line may not have noticed the lost connection yet.
      await pass(traits.noticeMs)
      for (let i = 0; i < 300 && (await line()).state !== 'ONLINE'; i++) await pass(traits.noticeMs)
      expect((await line()).state).toBe('ONLINE')
    }
    /** Moves the clock in steps, so that sockets can follow. */
    const pass = async (ms: number) => {
      for (let left = ms; left > 0; left -= traits.noticeMs) {
        await world.advance(Math.min(left, traits.noticeMs))
        await turns(20)
        await world.settle()
      }
    }
    const copies = async (to: string, content: string) =>
      (await carrier.taken(to)).filter((one) => one.content === content).length
    const inbound = (from: string) => world.arrived(NUMBER, from)

    it.each(traits.badConfigs)(
      'settings that cannot be are refused, and it says which: %j',
      async (bad, field) => {
        const reply = await create(bad)
        expect(reply.status).toBe(400)
        expect(reply.body.error.message).toContain(field)
        expect(reply.body.error.message.length).toBeLessThan(300)
      },
    )

    it('accepted: the carrier has the message once', async () => {
      const [to, content] = [person(), text()]
      const handle = await send(to, content)
      await isTaken(to, content)
      await reaches(handle, traits.accepted)
      await pass(5000)
      expect(await copies(to, content)).toBe(1)
    })

    it('refused: an error with the reason, and the next message is sent', async () => {
      const [to, content, after] = [person(), text(), text()]
      await carrier.act('refuse')
      const handle = await send(to, content)
      await eventually(async () =>
        expect(await world.record(handle)).toMatchObject({ status: 'ERROR', error_reason: 'refused' }),
      )
      expect((await world.record(handle)).error_detail).toBe(traits.refusal)
      await carrier.act('accept')
      const next = await send(to, after)
      await isTaken(to, after)
      await reaches(next, traits.accepted)
      expect(await copies(to, content)).toBe(0)
    })

    it('never left: the message waits and is sent once when the carrier is back', async () => {
      const [to, content] = [person(), text()]
      await carrier.unplug()
      const handle = await send(to, content)
      await pass(traits.noticeMs)
      expect(['QUEUED', 'PENDING']).toContain(await status(handle))
      expect(await copies(to, content)).toBe(0)
      await carrier.plug()
      await recover()
      await pass(10_000)
      await isTaken(to, content)
      await reaches(handle, traits.accepted)
    })

    it('order: texts to one recipient arrive in order', async () => {
      const to = person()
      const contents = Array.from({ length: 10 }, text)
      for (const content of contents) await send(to, content)
      await pass(20_000)
      await isTaken(to, ...contents)
    })

    it("pace: never exceeds the line's rate", async () => {
      await change({ pace: 2 })
      await pass(1000)
      const sent = Array.from({ length: 6 }, () => [person(), text()] as const)
      for (const [to, content] of sent) await send(to, content)
      for (const [to, content] of sent) {
        await pass(1000)
        await isTaken(to, content)
      }
      const rows = await world.app.ctx.db.all<{ wire_at: number }>(
        'select a.wire_at from attempts a join messages m on m.id = a.message_id where m.line_id = $1 order by a.wire_at desc limit 6',
        [lineId],
      )
      const times = rows.map((row) => row.wire_at).reverse()
      expect(times).toHaveLength(6)
      for (const [i, at] of times.slice(2).entries()) expect(at - times[i]!).toBeGreaterThanOrEqual(1000)
      await change({ pace: 0 })
    })

    it('inbound: stored once despite redeliveries; an equal new text is another message', async () => {
      const [from, content] = [person(), text()]
      await carrier.bring(from, content)
      await eventually(async () => expect(await inbound(from)).toHaveLength(1))
      expect((await inbound(from))[0]).toMatchObject({ content, status: 'RECEIVED', from_number: from })
      await carrier.bringTwice(from, text(), recover)
      await eventually(async () => expect(await inbound(from)).toHaveLength(2))
      await carrier.bring(from, content)
      await eventually(async () => expect(await inbound(from)).toHaveLength(3))
      await pass(traits.noticeMs * 2)
      expect(await inbound(from)).toHaveLength(3)
    })

    const ORDERS: ('SENT' | 'DELIVERED' | 'ERROR')[][] = [
      ['SENT', 'DELIVERED'],
      ['DELIVERED', 'SENT'],
      ['DELIVERED', 'DELIVERED', 'SENT', 'SENT'],
      ['SENT', 'SENT', 'DELIVERED', 'ERROR'],
    ]
    it('receipts in any order and number: one final status, and one event for each step', async (test) => {
      if (!carrierReports()) return test.skip('this carrier sends no receipts')
      const heard: string[][] = []
      for (const order of ORDERS) {
        const [to, content] = [person(), text()]
        const handle = await send(to, content)
        await isTaken(to, content)
        await reaches(handle, 'SENT')
        const n = (await carrier.taken(to)).length - 1
        for (const news of order) await carrier.report!(to, n, news)
        await eventually(async () => expect(await status(handle)).toBe('DELIVERED'))
        const events = (await world.events()).filter((event: Json) => event.subject === handle)
        heard.push(events.map((event: Json) => event.data.message?.status ?? event.data.status ?? event.type))
      }
      for (const one of heard) expect(one).toEqual(heard[0])
    })
    const carrierReports = () => carrier.report !== undefined

    it('unknown: resolved by evidence, and never a second copy', async () => {
      const [to, content] = [person(), text()]
      await carrier.act('take-then-drop')
      const handle = await send(to, content)
      await eventually(async () => expect(await copies(to, content)).toBe(1))
      await eventually(async () => expect(await status(handle)).not.toBe('QUEUED'))
      await carrier.act('accept')
      await recover()
      if (traits.evidence === 'report') {
        await carrier.report!(to, (await carrier.taken(to)).length - 1, 'DELIVERED')
        await eventually(async () => expect(await status(handle)).toBe('DELIVERED'))
      }
      await pass(traits.settleMs + 5000)
      if (traits.evidence === 'look-up') await reaches(handle, traits.accepted)
      if (traits.evidence === 'none')
        expect(await world.record(handle)).toMatchObject({ status: 'ERROR', error_reason: 'outcome_unknown' })
      expect(await copies(to, content)).toBe(1)
    })

    it('unknown without evidence: held as an error, or sent again if the line says so', async (test) => {
      if (traits.evidence === 'look-up') return test.skip('this carrier always has lookups')
      for (const rule of ['hold', 'resend'] as const) {
        await change({ on_unknown: rule })
        const [to, content] = [person(), text()]
        await carrier.act('take-then-drop')
        const handle = await send(to, content)
        await eventually(async () => expect(await copies(to, content)).toBe(1))
        await eventually(async () => expect(await status(handle)).not.toBe('QUEUED'))
        await carrier.act('accept')
        await recover()
        await pass(traits.settleMs + 5000)
        await eventually(async () => expect(await copies(to, content)).toBe(rule === 'hold' ? 1 : 2))
        if (rule === 'resend') await reaches(handle, traits.accepted)
        else
          expect(await world.record(handle)).toMatchObject({
            status: 'ERROR',
            error_reason: 'outcome_unknown',
          })
      }
      await change({ on_unknown: 'hold' })
    })

    callContract({
      number: NUMBER,
      world: () => world,
      carrier: () => carrier.calls,
      person,
      pass,
      eventually,
    })

    it('a stop during a send: no second copy, and every message gets a final status', async () => {
      const [to, content] = [person(), text()]
      await carrier.act('silence')
      const handle = await send(to, content)
      await pass(10)
      await world.restart()
      await carrier.act('accept')
      await recover()
      await pass(traits.settleMs + 40_000)
      expect(await copies(to, content)).toBeLessThanOrEqual(1)
      await eventually(async () => expect(['QUEUED', 'PENDING']).not.toContain(await status(handle)))
      const after = [person(), text()] as const
      await send(...after)
      await isTaken(...after)
    })

    it('keeps secrets, texts and numbers out of the logs', async () => {
      const logs = world.logs.join('\n')
      for (const secret of traits.secrets) expect(logs).not.toContain(secret)
      expect(logs).not.toMatch(/text \d+/)
      for (const one of traits.people) expect(logs).not.toContain(one.slice(1))
    })
  })
}
