import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config.js'
import { openPostgres } from '../../src/storage/engine/postgres.js'
import { openSqlite } from '../../src/storage/engine/sqlite.js'
import { eventually, spawnServer, temporaryStorage } from '../support/server.js'
import { ENGINES, LINE } from '../support/world.js'
import { get, post } from './ledger.js'

const PATH = '/api/v2/contact-sharing'
const POINTS = ['profile.before_change', 'profile.after_change', 'profile.after_end']

describe.each(ENGINES)('kill -9 during a profile update on %s', (engine) => {
  it('an accepted update is carried out and told once, wherever the process died', async () => {
    const storage = await temporaryStorage(engine)
    const env = { ...storage, TRUNKLINE_LEASE_MS: '2500', LOG_LEVEL: 'silent' }
    for (const point of POINTS) {
      const server = await spawnServer({ env: { ...env, TRUNKLINE_FAILPOINT: point } })
      // The update is stored before it is carried out; the answer may come too late for the death.
      const answer = await post(server.url, `${PATH}/profile`, { fromNumber: LINE, firstName: point }).catch(
        () => null,
      )
      expect([202, undefined]).toContain(answer?.status)
      expect(await server.exited, point).toMatchObject({ signal: 'SIGKILL' })
      const next = await spawnServer({ env })
      const state = () => get(next.url, `${PATH}/state?fromNumber=${encodeURIComponent(LINE)}`)
      await eventually(state, (answer) => answer.data?.firstName === point)
      // A later change stands behind it in the line's queue: its end is the end of both.
      const last = await post(next.url, `${PATH}/profile`, { fromNumber: LINE, firstName: 'last' })
      expect(last.status).toBe(202)
      await eventually(state, (answer) => answer.data?.firstName === 'last')
      expect(await next.kill('SIGTERM')).toMatchObject({ code: 0 })
    }

    const config = loadConfig(storage)
    const db = config.databaseUrl ? await openPostgres(config.databaseUrl) : await openSqlite(config.data)
    const events = await db.all<{ type: string; subject: string }>(
      "select type, subject from events where type like 'contact_profile%' order by seq",
    )
    const requests = await db.all<{ id: string; done_at: number | null }>(
      'select id, done_at from profile_requests order by requested_at',
    )
    await db.close()
    expect(requests).toHaveLength(POINTS.length * 2)
    expect(requests.filter(({ done_at }) => done_at === null)).toEqual([])
    expect(events).toEqual(requests.map(({ id }) => ({ type: 'contact_profile.completed', subject: id })))
  })
})
