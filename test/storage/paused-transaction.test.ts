import { afterEach, describe, expect, it } from 'vitest'
import { openPostgres } from '../../src/storage/engine/postgres.js'
import { createDatabase } from '../support/database.js'
import { eventually } from '../support/server.js'
import { ENGINES } from '../support/world.js'

const PID = 'select pg_backend_pid() as pid, pg_sleep(0.1)'

const toClose: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of toClose.splice(0).reverse()) await close()
})

describe.runIf(ENGINES.includes('postgres'))('a transaction in a process that pauses again and again', () => {
  it('runs once more each time, and leaves other sessions alone', async () => {
    const { url, release } = await createDatabase()
    toClose.push(release)
    const db = await openPostgres(url)
    toClose.push(db.close)
    const sessions = async () => {
      const rows = await db.upkeep.all<{ pid: number }>(
        "select pid from pg_stat_activity where application_name = 'trunkline' and datname = current_database()",
      )
      return rows.map(({ pid }) => pid)
    }
    let tries = 0
    let others: number[] = []
    await db.tx(async (sql) => {
      const own = (await sql.one<{ pid: number }>(PID))!.pid
      if (tries === 0) {
        const rows = await Promise.all(Array.from({ length: 5 }, () => db.one<{ pid: number }>(PID)))
        others = rows.map((row) => row!.pid)
      }
      if (tries === 1) expect(others).toContain(own)
      // PostgreSQL ends a session that is idle in a transaction.
      if (++tries <= 3) await eventually(sessions, (pids) => !pids.includes(own), 30_000)
      await sql.run('update nodes set seen_at = seen_at')
    })
    expect(tries).toBe(4)
    expect(db.faults()).toMatchObject({ lost_session: 3, repeated_transaction: 3 })
  }, 60_000)
})
