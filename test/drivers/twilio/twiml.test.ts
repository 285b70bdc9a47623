import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Dialled, dial, HANG_UP, REJECT } from '../../../src/drivers/twilio/voice/twiml.js'

/** What Twilio's own library writes (scripts/twilio-twiml.js). */
interface Recorded {
  cases: { dial: Dialled; xml: string }[]
  reject: string
  hangUp: string
}

const file = new URL('twiml.json', import.meta.url)
const recorded: Recorded = JSON.parse(readFileSync(file, 'utf8'))

describe('answers to calls', () => {
  it.each(recorded.cases)("agree with Twilio's library: $dial.number", (one) => {
    expect(dial(one.dial)).toBe(one.xml)
  })

  it('reject a call and end it', () => {
    expect([REJECT, HANG_UP]).toEqual([recorded.reject, recorded.hangUp])
  })
})
