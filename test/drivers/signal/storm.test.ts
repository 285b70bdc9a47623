import { afterEach, describe, expect, it } from 'vitest'
import type { Fault } from '../../../examples/driver-signal/fake.js'
import { random } from '../../support/drivers/mutations.js'
import { createSignalWorld } from '../../support/drivers/signal-world.js'
import { ENGINES } from '../../support/world.js'

const PEOPLE = Array.from({ length: 8 }, (_, i) => `+1202555${9400 + i}`)
const TEXTS = 80
const SENDING: readonly Fault[] = [
  'cut before',
  'cut after',
  'html after',
  { status: 429, error: 'Rate limited' },
]
const READING: readonly Fault[] = [
  'cut before',
  { status: 400, error: 'Trouble' },
  { status: 502, error: '' },
]

describe.each(ENGINES)('a storm at Signal, on %s', (engine) => {
  let end = async () => {}
  afterEach(() => end())

  it('sends nothing twice, stores everything once and ends every message', async () => {
    const on = await createSignalWorld(engine)
    end = on.close
    const { fake, world, number } = on
    const chance = random(20261118)
    const handles: string[] = []
    let reported = 0
    for (let i = 0; i < TEXTS; i++) {
      const person = chance.one(PEOPLE)
      fake.clear()
      if (chance.next() < 0.4) fake.fault('POST /v2/send', chance.one(SENDING))
      if (chance.next() < 0.4) fake.fault('GET /v1/receive', chance.one(READING))
      const body = { from_number: number, number: person, content: `out ${i}` }
      handles.push((await on.post('/api/send-message', body)).message_handle)
      const item = fake.text(chance.one(PEOPLE), `in ${i}`)
      if (chance.next() < 0.3) fake.again(item)
      // Receipts come in any order, twice, and some never.
      for (const { timestamp, recipients } of fake.sent.slice(reported)) {
        reported++
        for (let n = chance.below(3); n > 0; n--) fake.receipt(recipients[0]!, 'isDelivery', timestamp)
      }
      await world.advance(chance.below(4000))
    }
    fake.clear()
    await world.advance(3_600_000)
    await on.until(async () => {
      for (const handle of handles)
        expect(['SENT', 'DELIVERED', 'ERROR']).toContain((await world.record(handle)).status)
    })
    const sent = fake.sent.map(({ message }) => message)
    expect(sent).toHaveLength(new Set(sent).size)
    const failed: string[] = []
    for (const [i, handle] of handles.entries()) {
      const { status, error_reason } = await world.record(handle)
      // A message that is not an error is at Signal; an error is in doubt, never refused.
      if (status !== 'ERROR') expect(sent).toContain(`out ${i}`)
      else failed.push(error_reason)
    }
    expect(new Set(failed)).toEqual(new Set(['outcome_unknown']))
    const stored: string[] = []
    for (const person of PEOPLE)
      stored.push(...(await world.arrived(number, person)).map(({ content }) => content as string))
    expect(stored.sort()).toEqual(Array.from({ length: TEXTS }, (_, i) => `in ${i}`).sort())
  })
})
