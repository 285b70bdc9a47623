import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Db } from '../../src/storage/engine/db.js'
import { openPostgres } from '../../src/storage/engine/postgres.js'
import { eventually, type SpawnedServer, spawnServer, temporaryStorage } from '../support/server.js'
import { ENGINES } from '../support/world.js'
import { newLedger, send, tuneLine } from './ledger.js'

/** So long that no lease ends and no process looks by itself during the test. */
const env = {
  TRUNKLINE_LEASE_MS: '600000',
  TRUNKLINE_DRAIN_MS: '120000',
  TRUNKLINE_WIRE_TIMEOUT_MS: '120000',
  LOG_LEVEL: 'silent',
}
const SILENT = { pace: 0, config: { fault: 'silence' } }

describe.skipIf(!ENGINES.includes('postgres'))('the work of several processes', () => {
  let db: Db
  let storage: Record<string, string>
  beforeAll(async () => {
    storage = await temporaryStorage('postgres')
    db = await openPostgres(storage.DATABASE_URL!)
  })
  afterAll(() => db?.close())

  /** The ids of the processes that hold leases, as often as they hold one. */
  const holders = async (table: 'line_leases' | 'webhook_shards') => {
    const text = `select node_id from ${table} where expires_at > 0`
    return (await db.all<{ node_id: string }>(text)).map((row) => Number.parseInt(row.node_id, 10))
  }
  const shareOf = async ({ pid }: SpawnedServer) => {
    const all = [await holders('line_leases'), await holders('webhook_shards')]
    return all.map((pids) => pids.filter((one) => one === pid).length)
  }
  const has = (server: SpawnedServer, share: number[]) =>
    eventually(
      () => shareOf(server),
      (found) => String(found) === String(share),
      60_000,
    )

  it('is divided at once when one joins, and when one leaves although a send keeps it from ending', async () => {
    const first = await spawnServer({ env: { ...env, ...storage } })
    await has(first, [4, 8])
    await tuneLine(first.url, SILENT)
    const second = await spawnServer({ env: { ...env, ...storage } })
    await has(first, [2, 4])
    await has(second, [2, 4])

    expect(await send(newLedger(), second.url, 'text 1')).toBe(true)
    const attempt = () =>
      db.one<{ node_id: string }>(
        'select x.node_id from attempts a join line_leases x on x.line_id = a.line_id',
      )
    const busy = Number.parseInt((await eventually(attempt, Boolean, 60_000))!.node_id, 10)
    const [leaving, staying] = busy === first.pid ? [first, second] : [second, first]
    let isOver = false
    void leaving.kill('SIGTERM').then(() => (isOver = true))
    // All but the line whose carrier has not answered.
    await has(staying, [3, 8])
    expect(await shareOf(leaving)).toEqual([1, 0])
    expect(isOver).toBe(false)
    await leaving.kill('SIGKILL')
    await staying.kill('SIGTERM')
  }, 180_000)
})
