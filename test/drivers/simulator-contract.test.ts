import { DEFAULT_WORLD } from '../../src/services/accounts/default-world.js'
import type { World } from '../support/world.js'
import { driverContract } from './contract.js'

const PEOPLE = Array.from({ length: 20 }, (_, i) => `+1202558${1000 + i}`)
const FAULTS = {
  accept: {},
  refuse: { fault: 'refuse' },
  'take-then-drop': { fault: 'accept-then-drop' },
  silence: { fault: 'silence' },
}

for (const evidence of ['look-up', 'none'] as const) {
  const base = { services: ['SMS'], latency_ms: 0, lookup: evidence === 'look-up' }
  driverContract(
    `simulator, ${evidence === 'none' ? 'which cannot be asked' : 'which can be asked'}`,
    {
      driver: 'simulator',
      evidence,
      accepted: 'SENT',
      refusal: 'sim.refused: The carrier refuses this message',
      badConfigs: [
        [{ latency_ms: -1 }, 'latency_ms'],
        [{ services: [] }, 'services'],
        [{ fault: 'mood' }, 'fault'],
      ],
      secrets: [DEFAULT_WORLD.keys.live.secret],
      people: PEOPLE,
      noticeMs: 10_000,
      settleMs: 20_000,
    },
    async (world: World, number: string) => {
      for (const phone of PEOPLE) await world.post('/sim/phones', { number: phone })
      const configure = (config: Record<string, unknown>) =>
        world.setLine(number, { config: { ...base, ...config } })
      return {
        config: base,
        act: (what) => configure(FAULTS[what]),
        unplug: () => configure({ fault: 'unreachable' }),
        plug: () => configure({}),
        taken: async (to) => (await world.inbox(to)).filter((message) => message.line === number),
        async bring(from, content) {
          await world.text(from, content, { to: number })
        },
        async bringTwice(from, content) {
          await configure({ duplicate: 'same-id' })
          await world.text(from, content, { to: number })
          await world.settle()
          await configure({})
        },
        async close() {},
      }
    },
  )
}
