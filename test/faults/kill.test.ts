import { describe, expect, it } from 'vitest'
import { eventually, type SpawnedServer, spawnServer, temporaryStorage } from '../support/server.js'
import { ENGINES } from '../support/world.js'
import { get, inspect, newLedger, send, tuneLine, violations } from './ledger.js'

/** Every step of a send's life, each at an early, a middle and a late passing. */
const POINTS = [
  'accept.before_commit',
  'storage.before_commit',
  'accept.after_commit',
  'dispatch.after_attempt',
  'carrier.before_take',
  'carrier.after_take',
  'dispatch.after_wire',
  'dispatch.before_result',
  'dispatch.after_result',
  'receipt.before_commit',
  'receipt.after_commit',
]
  .flatMap((name) => [1, 4].map((passing) => `${name}@${passing}`))
  // Far enough on that sends, and not the start, are what is being committed.
  .concat(['storage.before_commit@30', 'storage.before_commit@45', 'storage.before_commit@60'])

/** And at moments nobody chose. */
const RANDOM_KILLS = 5
const PER_LIFE = 40

describe.concurrent.each(ENGINES)('kill -9 on %s', (engine) => {
  it(`loses nothing and doubles nothing at ${POINTS.length} named and ${RANDOM_KILLS} random moments`, async () => {
    const storage = await temporaryStorage(engine)
    const env = {
      ...storage,
      TRUNKLINE_LEASE_MS: '600',
      TRUNKLINE_WIRE_TIMEOUT_MS: '2000',
      LOG_LEVEL: 'silent',
    }
    const ledger = newLedger()
    let n = 0
    let deaths = 0

    const first = await spawnServer({ env })
    await tuneLine(first.url, { pace: 0, settle_ms: 300, config: { latency_ms: 1 } })
    await first.kill('SIGTERM')

    /** A life: repeat what the last death left in doubt, then send until death. */
    const live = async (server: SpawnedServer, killAfter = Number.POSITIVE_INFINITY) => {
      for (const content of [...ledger.inDoubt]) await send(ledger, server.url, content, 1)
      let accepted = 0
      const lanes = Array.from({ length: 8 }, async () => {
        for (let i = 0; i < PER_LIFE / 8; i++) {
          if (!(await send(ledger, server.url, `text ${n++}`))) return
          if (++accepted === killAfter) void server.kill('SIGKILL')
        }
      })
      await Promise.all(lanes)
    }

    for (const point of POINTS) {
      // Work that the last death left may bring the next one before the server is even ready.
      const server = await spawnServer({ env: { ...env, TRUNKLINE_FAILPOINT: point } }).catch(
        (error: Error) => {
          expect(error.message, point).toContain('ended instead of getting ready')
        },
      )
      deaths++
      if (!server) continue
      await live(server)
      // The next sends reach a moment that these did not. Slowly: until the lease of the dead process ends, nothing
      // goes out, and hundreds would have to be made up for.
      const isDead = async () => !(await send(ledger, server.url, `text ${n++}`))
      await eventually(isDead, Boolean, 30_000, 25)
      expect(await server.exited, point).toMatchObject({ signal: 'SIGKILL' })
    }
    for (let kill = 0; kill < RANDOM_KILLS; kill++) {
      const server = await spawnServer({ env })
      await live(server, 1 + Math.round((kill / RANDOM_KILLS) * (PER_LIFE - 8)))
      await server.kill('SIGKILL')
      deaths++
    }

    const last = await spawnServer({ env })
    for (const content of [...ledger.inDoubt]) await send(ledger, last.url, content, 1)
    const open = async () => {
      const counts = await Promise.all(
        ['QUEUED', 'PENDING', 'SENT'].map(
          async (status) =>
            (await get(last.url, `/api/v2/messages?status=${status}&limit=1`)).pagination.total,
        ),
      )
      return counts.reduce((sum, count) => sum + count, 0)
    }
    // Three lists each time, and an account may ask for a hundred in ten seconds.
    await eventually(open, (count) => count === 0, 20_000, 400)
    expect(await last.kill('SIGTERM')).toMatchObject({ code: 0 })

    const found = await inspect(engine, storage)
    expect(violations(ledger, found)).toEqual([])
    // This carrier can always be asked, so nothing may stay unresolved either.
    expect(found.messages.filter((message) => message.status !== 'DELIVERED')).toEqual([])
    expect(deaths).toBe(POINTS.length + RANDOM_KILLS)
    expect(ledger.inDoubt.size).toBe(0)
    expect(ledger.acknowledged.size).toBeGreaterThan(PER_LIFE * 5)
  })
})
