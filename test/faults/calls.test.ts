import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config.js'
import { openPostgres } from '../../src/storage/engine/postgres.js'
import { openSqlite } from '../../src/storage/engine/sqlite.js'
import { eventually, type SpawnedServer, spawnServer, temporaryStorage } from '../support/server.js'
import { ADA, BOB, credentials, ENGINES, type Engine, type Json, LINE } from '../support/world.js'

async function call(server: SpawnedServer, method: string, path: string, body?: object): Promise<Json> {
  const response = await fetch(server.url + path, {
    method,
    headers: { ...credentials('live'), ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  return response.json()
}

async function callEvents(engine: Engine, storage: Record<string, string>): Promise<Json[]> {
  const config = loadConfig(storage)
  const db = engine === 'postgres' ? await openPostgres(config.databaseUrl!) : await openSqlite(config.data)
  try {
    const rows = await db.all("select * from events where type = 'call.inbound' order by seq")
    return rows.map((row) => JSON.parse(row.data as string))
  } finally {
    await db.close()
  }
}

/**
 * Where the process dies, by what it was doing, and how the call is found afterwards. Time that was moved stays moved, so
 * the first call ends by itself at any moment after the restart.
 */
const DEATHS = [
  ['call.before_end', 'nobody answers', expect.stringMatching(/^(ringing|ended)$/), 'NO_ANSWER'],
  ['call.after_end', 'nobody answers', 'ended', 'NO_ANSWER'],
  ['call.before_end', 'the caller hangs up', 'ringing', 'CANCELLED'],
] as const

describe.each(ENGINES)('calls and kill -9 on %s', (engine) => {
  it('a crash at the end of a call loses no event and doubles none', async () => {
    const storage = await temporaryStorage(engine)
    const env = { ...storage, TRUNKLINE_LEASE_MS: '700', LOG_LEVEL: 'silent' }
    const first = await spawnServer({ env })
    await call(first, 'PUT', `/api/lines/${LINE}/call-forwarding`, { forwarding_number: BOB })
    await first.kill('SIGTERM')

    const expected: [string, string][] = []
    for (const [point, deed, found, outcome] of DEATHS) {
      const dying = await spawnServer({ env: { ...env, TRUNKLINE_FAILPOINT: point } })
      // The new process takes the lines when the lease of the dead one has run out.
      await eventually(
        async () => (await fetch(`${dying.url}/metrics`)).text(),
        (text) => /^trunkline_lines_driven [1-9]/m.test(text),
      )
      const { id } = await call(dying, 'POST', `/sim/phones/${ADA}/calls`, { to: LINE })
      const end = (server: SpawnedServer) =>
        deed === 'nobody answers'
          ? call(server, 'POST', '/sim/clock', { advance_ms: 31_000 })
          : call(server, 'POST', `/sim/phones/${ADA}/calls/${id}/hangup`)
      await expect(end(dying)).rejects.toThrow()
      expect(await dying.exited, point).toMatchObject({ signal: 'SIGKILL' })

      const next = await spawnServer({ env })
      const shown = async () => (await call(next, 'GET', `/sim/phones/${BOB}/calls`)).data[0]
      expect(await shown(), `${point}: ${deed}`).toMatchObject({ id, state: found })
      await end(next)
      expect(await eventually(shown, (one) => one.state === 'ended')).toMatchObject({ id, outcome })
      await next.kill('SIGKILL')
      expected.push([id, outcome])
    }
    const events = await callEvents(engine, storage)
    expect(events.map((event) => [event.callId, event.status])).toEqual(expected)
  })
})
