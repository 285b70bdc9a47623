import { expect, it } from 'vitest'
import type { Line } from '../../core/lines/line.js'
import type { DriverHost } from '../host.js'
import { createSimulator, type Network } from './simulator.js'

it('looks again at news that comes while it asks when it has to look next', async () => {
  let news = () => {}
  let looks = 0
  let asked = 0
  const books: Partial<Network> = {
    async due() {
      looks++
      return []
    },
    async nextDue() {
      if (asked++ === 0) news()
      return undefined
    },
    onNews(_line, handler) {
      news = handler
      return () => {}
    },
  }
  // Whatever else the line wants to know of the network: there is nothing.
  const network = new Proxy(books, {
    get: (known, name) =>
      known[name as keyof Network] ?? (/^on/.test(String(name)) ? () => () => {} : async () => []),
  }) as Network
  const host = {
    state() {},
    clock: { now: () => 0, after: () => () => {} },
    log: { info() {}, warn: (fields: object) => expect(fields).toBeUndefined() },
  } as unknown as DriverHost
  const connection = await createSimulator(network).connect({ id: 'line', config: {} } as Line, host)
  await expect.poll(() => asked).toBe(2)
  expect(looks).toBe(2)
  await connection.close()
})
