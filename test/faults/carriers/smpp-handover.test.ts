import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPostgres } from '../../../src/storage/engine/postgres.js'
import { createSmsc, type Smsc } from '../../peers/smsc.js'
import { textFrom } from '../../support/drivers/smpp.js'
import {
  eventually,
  realStorage,
  type SpawnedServer,
  spawnServer,
  untilPaused,
} from '../../support/server.js'
import { ENGINES, type Json } from '../../support/world.js'
import { get, PHONES, post } from '../ledger.js'

const LINE = '+12025557700'
/** Texts that the SMSC has under way at one moment, and in each round. */
const AT_ONCE = 4
const TEXTS = 40
/** Pause of the SMSC between two texts, so that a slow machine does not get thousands. */
const PACE_MS = 10

/**
 * An SMSC that delivers every text until it is acknowledged, as networks do. Without an answer, it delivers the text
 * again as soon as another process is bound.
 */
describe.skipIf(!ENGINES.includes('postgres'))('texts that come in while their line changes hands', () => {
  let smsc: Smsc
  let env: Record<string, string>
  let tellBound = () => {}
  let nextBind = new Promise<void>((resolve) => (tellBound = resolve))
  const brought: string[] = []
  beforeAll(async () => {
    smsc = await createSmsc({
      bind() {
        tellBound()
        nextBind = new Promise((resolve) => (tellBound = resolve))
        return 0
      },
    })
    env = { ...(await realStorage('postgres')), TRUNKLINE_LEASE_MS: '1000', LOG_LEVEL: 'silent' }
    const server = await spawnServer({ env })
    const [account] = (await get(server.url, '/admin/accounts', 'admin')).data
    const config = { host: '127.0.0.1', port: smsc.port, system_id: 'us', password: 'secret' }
    const line = { account_id: account.id, number: LINE, driver: 'smpp', config }
    const made = await post(server.url, '/admin/lines', line, {}, 'admin')
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    await server.kill('SIGTERM')
  }, 60_000)
  afterAll(() => smsc?.close())

  async function bring(content: string): Promise<void> {
    const phone = PHONES[brought.length % PHONES.length]!
    brought.push(content)
    const attempt = async () => {
      if (smsc.binds() === 0) return false
      const elsewhere = nextBind.then(() => undefined)
      return (await Promise.race([smsc.bring(textFrom(phone, content)), elsewhere]))?.status === 0
    }
    await eventually(attempt, Boolean, 90_000)
  }

  /** Brings texts, at least `TEXTS`, until that which happens to the processes is over. */
  async function during(round: string, happens: () => Promise<void>): Promise<void> {
    let n = 0
    let isOver = false
    const lanes = Array.from({ length: AT_ONCE }, async () => {
      while (n < TEXTS || !isOver) {
        await bring(`${round} ${n++}`)
        await new Promise((resolve) => setTimeout(resolve, PACE_MS))
      }
    })
    await Promise.all([...lanes, happens().finally(() => (isOver = true))])
  }

  const lines = async ({ url }: SpawnedServer): Promise<Json[]> =>
    (await get(url, '/admin/lines', 'admin')).data
  const isDriven = (one: Json) => one.driven_here && one.state === 'ONLINE'
  /** Only a process without a living other one drives all lines. */
  const drivesAll = (server: SpawnedServer) =>
    eventually(
      () => lines(server),
      (all) => all.every(isDriven),
      60_000,
      100,
    )

  /** Texts that are not stored exactly once. */
  async function wrong(): Promise<string[]> {
    const db = await openPostgres(env.DATABASE_URL!)
    try {
      const rows = await db.all<{ content: string; n: number }>(
        'select content, count(*) as n from messages where is_outbound = 0 group by content',
      )
      const copies = new Map(rows.map(({ content, n }) => [content, n]))
      expect(copies.size).toBeGreaterThanOrEqual(TEXTS)
      return brought.flatMap((content) =>
        copies.get(content) === 1 ? [] : `${content}: ${copies.get(content)}`,
      )
    } finally {
      await db.close()
    }
  }

  for (const point of ['inbound.before_commit@7', 'inbound.after_commit@7']) {
    it(`are stored once when the process is paused at ${point} and wakes after another has the line`, async () => {
      const paused = await spawnServer({ env: { ...env, TRUNKLINE_FAILPOINT: `${point}:SIGSTOP` } })
      await drivesAll(paused)
      let other: SpawnedServer | undefined
      // The alphabet of SMS has neither @ nor _ where ASCII has them.
      await during(point.replace(/[^a-z\d]/g, ' '), async () => {
        await untilPaused(paused)
        other = await spawnServer({ env, timeoutMs: 60_000 })
        await drivesAll(other)
        process.kill(paused.pid, 'SIGCONT')
      })
      expect(await paused.kill('SIGTERM')).toMatchObject({ code: 0 })
      expect(await other!.kill('SIGTERM')).toMatchObject({ code: 0 })
      expect(await wrong()).toEqual([])
    }, 180_000)
  }

  it('are stored once when the process stops (SIGTERM) or dies (SIGKILL), and when another joins', async () => {
    let last = await spawnServer({ env })
    await drivesAll(last)
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      await during(signal, async () => {
        // The line moves to the new process, or another line does.
        const both = [last, await spawnServer({ env, timeoutMs: 60_000 })]
        const holder = async () =>
          (await Promise.all(both.map(lines))).findIndex((all) =>
            all.some((one) => one.number === LINE && isDriven(one)),
          )
        const index = await eventually(holder, (found) => found >= 0, 60_000, 100)
        await both[index]!.kill(signal)
        last = both[1 - index]!
        await drivesAll(last)
      })
    }
    expect(await last.kill('SIGTERM')).toMatchObject({ code: 0 })
    expect(await wrong()).toEqual([])
  }, 180_000)
})
