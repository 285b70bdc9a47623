import {
  type BlueBubbles,
  type BlueBubblesOptions,
  createBlueBubbles,
} from '../../peers/bluebubbles/bluebubbles.js'
import { createWorld, type Engine, type Json, type World } from '../world.js'

export const MAC = '+15552010000'
export const ANNA = '+14155550101'
export const BEN = '+14155550102'
export const CARA = '+14155550103'

/** A whole Trunkline with a line on a simulated Mac; both share one clock. */
export interface MacWorld {
  world: World
  mac: BlueBubbles
  lineId: string
  /** Sends from the Mac's line. */
  send(fields?: Record<string, unknown>): Promise<Json>
  /** The full record of a handle. */
  record(handle: string): Promise<Json>
  /** Inbound messages, oldest first. */
  inbound(): Promise<Json[]>
  line(): Promise<Json>
  /** Resolves when the Mac and Trunkline have nothing left to do. */
  settle(): Promise<void>
  advance(ms: number): Promise<void>
  /** Moves the clock until the condition holds; file transfers use sockets, which `settle` does not wait for. */
  until(isSo: () => boolean | Promise<boolean>): Promise<void>
  close(): Promise<void>
}

export async function createMacWorld(
  engine: Engine,
  options: {
    mac?: BlueBubblesOptions
    config?: Record<string, unknown>
    line?: Record<string, unknown>
  } = {},
): Promise<MacWorld> {
  const world = await createWorld(engine, { isReal: true })
  const clock = {
    now: () => world.app.ctx.clock.now(),
    after: (ms: number, fn: () => void) => world.app.ctx.clock.after(ms, fn),
  }
  const mac = await createBlueBubbles({ address: MAC, password: 'canary-p4ss&word', clock, ...options.mac })
  const accounts = (await world.get('/admin/accounts', 'admin')).body.data
  const made = await world.post(
    '/admin/lines',
    {
      account_id: accounts.find((one: Json) => one.email && !one.test)?.id ?? accounts[0].id,
      number: MAC,
      driver: 'bluebubbles',
      config: { url: mac.url, password: mac.password, ...options.config },
      ...options.line,
    },
    'admin',
  )
  if (made.status !== 201) throw new Error(JSON.stringify(made.body))
  const path = `/admin/lines/${made.body.id}`

  const kit: MacWorld = {
    world,
    mac,
    lineId: made.body.id,
    async send(fields = {}) {
      const body = { from_number: MAC, number: ANNA, content: 'Hello', ...fields }
      const reply = await world.post('/api/send-message', body)
      await kit.settle()
      return reply.body
    },
    record: (handle) => world.record(handle),
    async inbound() {
      const reply = await world.get(
        `/api/v2/messages?is_outbound=false&sendblue_number=${encodeURIComponent(MAC)}&order_direction=asc&limit=1000`,
      )
      return reply.body.data.filter((one: Json) => !one.is_outbound)
    },
    line: async () => (await world.get(path, 'admin')).body,
    async settle() {
      for (let turns = 0; turns < 3; turns++) {
        await world.settle()
        await mac.settle()
      }
      await world.settle()
    },
    async advance(ms) {
      await world.advance(ms)
      await kit.settle()
    },
    async until(isSo) {
      for (let tries = 0; tries < 200; tries++) {
        if (await isSo()) return
        await new Promise((resolve) => setTimeout(resolve, 2))
        await kit.advance(500)
      }
      throw new Error('It did not happen')
    },
    async close() {
      await mac.close()
      await world.close()
    },
  }
  await kit.settle()
  return kit
}
