import { expect, it, type TestContext } from 'vitest'
import type { CallOutcome } from '../../src/core/calls/call.js'
import type { Json, World } from '../support/world.js'

/** Calls of a test carrier. */
export interface CallHarness {
  /** A person calls the line. Resolves when the carrier knows where the call goes. */
  ring(from: string): Promise<CarrierCall>
  /** Reports of calls get lost until `bringReports`; absent if the carrier cannot be asked about calls. */
  loseReports?(): void
  /** Reports of calls come twice until `bringReports`. */
  repeatReports(): void
  bringReports(): void
}

export interface CarrierCall {
  /** The phone that rings; undefined if the carrier was told to reject the call. */
  rings: string | undefined
  /** The carrier announces the call again. */
  again(): Promise<void>
  answer(): Promise<void>
  /** The call to the phone that rings ends. */
  end(outcome: CallOutcome): Promise<void>
}

interface Setting {
  number: string
  world: () => World
  carrier: () => CallHarness | undefined
  person: () => string
  pass: (ms: number) => Promise<void>
  eventually: (what: () => Promise<void>) => Promise<void>
}

const PHONE = '+12025550197'

/** The part of the driver contract about calls, for drivers that report them. */
export function callContract({ number, world, carrier, person, pass, eventually }: Setting): void {
  const forward = async (to: string | null) => {
    const path = `/api/lines/${number}/call-forwarding`
    const reply = await world().call(to ? 'PUT' : 'DELETE', path, {
      as: 'live',
      ...(to ? { body: { forwarding_number: to } } : {}),
    })
    expect(reply.status).toBe(200)
  }
  const events = async (from: string) =>
    (await world().events())
      .filter((event: Json) => event.type === 'call.inbound' && event.data.fromNumber === from)
      .map((event: Json) => event.data)
  const listed = async (from: string) =>
    (await world().get('/v3/calls?limit=1000')).body.data.filter((call: Json) => call.from_number === from)
  const begin = async (test: Pick<TestContext, 'skip'>) => {
    const calls = carrier()
    if (!calls) return test.skip('this driver has no calls')
    calls.bringReports()
    await forward(PHONE)
    return calls
  }

  it('call: forwarded and answered, with one event and an entry in the list', async (test) => {
    const calls = await begin(test)
    const from = person()
    const call = await calls.ring(from)
    expect(call.rings).toBe(PHONE)
    expect(await listed(from)).toMatchObject([{ state: 'ringing', to_number: number, forwarded_to: PHONE }])
    await pass(5000)
    await call.answer()
    await pass(20_000)
    expect(await events(from)).toEqual([])
    await call.end('COMPLETED')
    expect(await events(from)).toMatchObject([
      { status: 'COMPLETED', answered: true, duration: 20, toNumber: number, forwardedTo: PHONE },
    ])
    expect(await listed(from)).toMatchObject([
      { state: 'ended', outcome: 'COMPLETED', duration_seconds: 20, direction: 'inbound' },
    ])
  })

  it('call: not answered, with each outcome', async (test) => {
    const calls = await begin(test)
    for (const outcome of ['NO_ANSWER', 'BUSY', 'FAILED', 'CANCELLED'] as const) {
      const from = person()
      const call = await calls.ring(from)
      await pass(5000)
      await call.end(outcome)
      expect(await events(from)).toMatchObject([{ status: outcome, answered: false, duration: null }])
    }
  })

  it('call: rejected without an event if the caller is blocked or no number is set', async (test) => {
    const calls = await begin(test)
    const from = person()
    const { id } = (await world().get('/admin/accounts', 'admin')).body.data[0]
    const block = `/admin/accounts/${id}/blocked-callers/${from}`
    await world().call('PUT', block, { as: 'admin' })
    expect((await calls.ring(from)).rings).toBeUndefined()
    await world().call('DELETE', block, { as: 'admin' })
    await forward(null)
    expect((await calls.ring(from)).rings).toBeUndefined()
    await forward(PHONE)
    await pass(180_000)
    expect([await events(from), await listed(from)]).toEqual([[], []])
  })

  it('call: stored once although every report comes twice', async (test) => {
    const calls = await begin(test)
    calls.repeatReports()
    const from = person()
    const call = await calls.ring(from)
    await forward('+12025550198')
    await call.again()
    await call.answer()
    await pass(10_000)
    await call.end('COMPLETED')
    await call.again()
    await pass(180_000)
    expect(await events(from)).toMatchObject([{ status: 'COMPLETED', duration: 10, forwardedTo: PHONE }])
    expect(await listed(from)).toHaveLength(1)
  })

  it('call: ends by asking if its reports get lost, also over a restart', async (test) => {
    const calls = await begin(test)
    if (!calls.loseReports) return test.skip('this carrier cannot be asked about calls')
    const from = person()
    const [heard, missed] = [await calls.ring(from), await calls.ring(from)]
    calls.loseReports()
    await heard.answer()
    await pass(30_000)
    await heard.end('COMPLETED')
    await missed.end('NO_ANSWER')
    await world().restart()
    // The new process first takes the line.
    await eventually(async () => {
      await pass(30_000)
      const found = (await events(from)).map(({ status, duration }: Json) => [status, duration])
      expect(found.sort()).toEqual([
        ['COMPLETED', 30],
        ['NO_ANSWER', null],
      ])
    })
    calls.bringReports()
  })
}
