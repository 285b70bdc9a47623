import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createWakes } from '../../src/base/wakes.js'
import { topics } from '../../src/core/topics.js'
import { createPortions, type Portions } from '../../src/services/accounts/portions.js'

let portions: Portions
let hear: (accountId: string) => void
/** How often the load of the event loop was read, 3 ms each. */
let looks: number
let now: number

beforeEach(() => {
  const wakes = createWakes({ engine: 'sqlite', notify: async () => {}, onNotify() {}, onAnnounce() {} })
  portions = createPortions(wakes, (work) => work())
  hear = (accountId) => wakes.wake(topics.events, accountId)
  looks = 0
  now = 0
  vi.spyOn(performance, 'now').mockImplementation(() => now)
})
afterEach(() => void vi.restoreAllMocks())

const load = (...shares: number[]) =>
  vi.spyOn(performance, 'eventLoopUtilization').mockImplementation((before) => {
    if (before) now += 3
    const utilization = before ? (shares[looks++] ?? shares.at(-1)!) : 0
    return { idle: 0, active: 0, utilization }
  })

it('an account that is alone takes large portions and never rests', async () => {
  load(1)
  hear('one')
  hear('one')
  await portions.rest()
  expect({ looks, portion: portions.portion() }).toEqual({ looks: 0, portion: 256 })
})

it('among others it takes small ones and rests until the event loop has time to spare', async () => {
  load(1, 0.9, 0.1)
  hear('one')
  hear('other')
  await portions.rest()
  expect({ looks, portion: portions.portion() }).toEqual({ looks: 3, portion: 24 })
})

it('goes on after a while even if the event loop never has time', async () => {
  load(1)
  hear('one')
  hear('other')
  await portions.rest()
  expect(looks).toBe(20)
})
