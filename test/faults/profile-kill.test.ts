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
    const requests: string[] = []
    for (const point of POINTS) {
      const server = await spawnServer({ env: { ...env, TRUNKLINE_FAILPOINT: point } })
      const { status, body } = await post(server.url, `${PATH}/profile`, {
        fromNumber: LINE,
        firstName: point,
      })
      expect(status).toBe(202)
      requests.push(body.request_id)
      expect(await server.exited, point).toMatchObject({ signal: 'SIGKILL' })
      const next = await spawnServer({ env })
      const state = () => get(next.url, `${PATH}/state?fromNumber=${encodeURIComponent(LINE)}`)
      await eventually(state, (answer) => answer.data?.firstName === point, 20_000)
      // A later change stands behind it in the line's queue: its end is the end of both.
      requests.push(
        (await post(next.url, `${PATH}/profile`, { fromNumber: LINE, firstName: 'last' })).body.request_id,
      )
      await eventually(state, (answer) => answer.data?.firstName === 'last', 20_000)
      expect(await next.kill('SIGTERM')).toMatchObject({ code: 0 })
    }

    const config = loadConfig(storage)
    const db = config.databaseUrl ? await openPostgres(config.databaseUrl) : await openSqlite(config.data)
    const events = await db.all<{ type: string; subject: string }>(
      "select type, subject from events where type like 'contact_profile%' order by seq",
    )
    const open = await db.all('select id from profile_requests where done_at is null')
    await db.close()
    expect(events).toEqual(requests.map((subject) => ({ type: 'contact_profile.completed', subject })))
    expect(open).toEqual([])
  }, 60_000)
})
