import { afterEach, describe, expect, it } from 'vitest'
import type { QueuedText } from '../../peers/smsgate/queue.js'
import { createPairedWorld, type PairedWorld } from '../../support/drivers/paired-world.js'
import { createPhoneWorld, type PhoneWorld } from '../../support/drivers/phone-world.js'
import { ENGINES } from '../../support/world.js'

const PEOPLE = Array.from({ length: 8 }, (_, i) => `+1202555${8300 + i}`)
const DAY_MS = 86_400_000
/** States in the order in which a phone passes through them. */
const STATES = ['Processed', 'Sent', 'Delivered'] as const

/** The same order every time: a seeded shuffle. */
function shuffled<T>(values: readonly T[], seed: number): T[] {
  let state = seed
  const next = () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state
  }
  return values
    .map((value) => [next(), value] as const)
    .sort(([a], [b]) => a - b)
    .map(([, value]) => value)
}

const isFailed = (i: number) => i % 4 === 3

/** Reports get lost, come twice, in the wrong order and a day late. */
describe.each(ENGINES)('a storm of reports, on %s', (engine) => {
  let end = async () => {}
  afterEach(() => end())

  it('of a phone that dials in leaves every text with its last state', async () => {
    const on: PairedWorld = await createPairedWorld(engine)
    end = on.close
    const phone = on.phone()
    await phone.register((await on.pair()).code)
    await on.eventually(async () => expect((await on.line()).state).toBe('ONLINE'))
    const handles: string[] = []
    for (const [i, person] of PEOPLE.entries()) handles.push(await on.send(`Text ${i}`, person))
    await on.eventually(() => expect(phone.queue.aired).toHaveLength(PEOPLE.length))
    await phone.rest()
    phone.offline()
    const reportsOf = (text: QueuedText, i: number) =>
      (isFailed(i) ? ['Processed', 'Sent', 'Failed'] : STATES).flatMap((state) => {
        const error = state === 'Failed' ? 'Send result: RESULT_ERROR_GENERIC_FAILURE' : null
        const report = {
          id: text.id,
          state,
          recipients: [{ phoneNumber: text.to, state, error }],
          states: {},
        }
        return [report, report]
      })
    const reports = phone.queue.aired.flatMap(reportsOf)
    // Every first one is lost for now, and the rest comes turned round.
    const storm = shuffled(reports, 7)
    for (const report of storm.slice(0, reports.length / 2))
      expect((await phone.call('PATCH', '/message', [report])).status).toBe(204)
    await on.world.advance(DAY_MS)
    for (const report of shuffled(reports, 11)) await phone.call('PATCH', '/message', [report, report])
    await on.world.settle()
    for (const [i, handle] of handles.entries())
      expect([i, (await on.world.record(handle)).status]).toEqual([i, isFailed(i) ? 'ERROR' : 'DELIVERED'])
    expect(phone.queue.aired.map(({ text }) => text)).toEqual(PEOPLE.map((_, i) => `Text ${i}`))
  })

  it('of a phone that we dial leaves every text with its last state', async () => {
    const on: PhoneWorld = await createPhoneWorld(engine)
    end = on.close
    const { phone } = on
    phone.queue.become('Processed')
    const handles: string[] = []
    for (const [i, person] of PEOPLE.entries()) handles.push(await on.send(`Text ${i}`, person))
    const rows = [...phone.queue.aired]
    const event = (state: string, { id, to }: QueuedText) =>
      phone.emit(`sms:${state.toLowerCase()}`, { messageId: id, recipient: to, phoneNumber: to })
    // Events come before the states that they tell of, twice, and turned round.
    for (const row of shuffled([...rows, ...rows], 3)) event('Delivered', row)
    await phone.called()
    await on.pass(10_000)
    for (const handle of handles) expect((await on.world.record(handle)).status).toBe('ACCEPTED')
    for (const [i, row] of rows.entries()) {
      row.state = isFailed(i) ? 'Failed' : 'Delivered'
      row.error = isFailed(i) ? 'Send result: RESULT_ERROR_GENERIC_FAILURE' : null
    }
    for (const row of shuffled([...rows, ...rows].slice(0, 12), 5)) event('Sent', row)
    await phone.called()
    // The rest of the events is lost: the driver asks.
    await on.pass(120_000)
    for (const [i, handle] of handles.entries())
      expect([i, (await on.world.record(handle)).status]).toEqual([i, isFailed(i) ? 'ERROR' : 'DELIVERED'])
    await on.world.advance(DAY_MS)
    for (const row of shuffled([...rows, ...rows], 9)) event('Sent', row)
    await phone.called()
    await on.pass(10_000)
    for (const [i, handle] of handles.entries())
      expect([i, (await on.world.record(handle)).status]).toEqual([i, isFailed(i) ? 'ERROR' : 'DELIVERED'])
    expect(on.aired()).toEqual(PEOPLE.map((_, i) => `Text ${i}`))
  })
})
