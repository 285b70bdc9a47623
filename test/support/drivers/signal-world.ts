import { expect, vi } from 'vitest'
import { driver } from '../../../examples/driver-signal/driver.js'
import { startFake } from '../../../examples/driver-signal/fake.js'
import { createWorld, type Engine, type Json } from '../world.js'

export type SignalWorld = Awaited<ReturnType<typeof createSignalWorld>>

/** A world with one line to Signal, through the example's driver. */
export async function createSignalWorld(engine: Engine) {
  const number = '+12025550180'
  const world = await createWorld(engine, { drivers: [driver] })
  const fake = await startFake(number, () => world.app.ctx.clock.now())
  const [account] = (await world.get('/admin/accounts', 'admin')).body.data
  const settings = { account_id: account.id, number, driver: driver.kind, config: { url: fake.url } }
  const made = await world.post('/admin/lines', { ...settings, pace: 0 }, 'admin')
  expect(made.status, JSON.stringify(made.body)).toBe(201)

  return {
    world,
    fake,
    number,
    ada: '+12025559301',
    async post(path: string, body: object): Promise<Json> {
      const reply = await world.post(path, body)
      expect(reply.status, JSON.stringify(reply.body)).toBeLessThan(300)
      return reply.body
    },
    /** Tests the settings of the line. */
    test: () => world.post(`/admin/lines/${made.body.id}/test`, {}, 'admin'),
    /** Lets time pass until an expectation holds. */
    until: (what: () => unknown) =>
      vi.waitFor(
        async () => {
          await world.advance(1000)
          await what()
        },
        { timeout: 60_000, interval: 5 },
      ),
    async close() {
      await fake.stop()
      await world.close()
    },
  }
}
