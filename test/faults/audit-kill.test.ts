import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config.js'
import { openPostgres } from '../../src/storage/engine/postgres.js'
import { runCli } from '../support/cli.js'
import { spawnServer, temporaryStorage } from '../support/server.js'
import { credentials, ENGINES, type Json } from '../support/world.js'

describe.each(ENGINES)('a killed process and the audit log on %s', (engine) => {
  it('a change whose answer never left has its row', async () => {
    const storage = await temporaryStorage(engine)
    const dying = await spawnServer({ env: { ...storage, TRUNKLINE_FAILPOINT: 'audit.changed' } })
    const create = fetch(`${dying.url}/admin/accounts`, {
      method: 'POST',
      headers: { ...credentials('admin'), 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'killed@example.com' }),
    })
    await expect(create).rejects.toThrow()
    expect((await dying.exited).signal).toBe('SIGKILL')
    // Another process of a PostgreSQL service may be at work on it: a change is lost only after a while.
    if (engine === 'postgres') {
      const db = await openPostgres(loadConfig(storage).databaseUrl!)
      expect(await db.run('update audit_open set begun_at = begun_at - 1000000')).toBe(1)
      await db.close()
    }

    const next = await spawnServer({ env: storage })
    const ask = async (path: string): Promise<Json> =>
      (await fetch(next.url + path, { headers: credentials('admin') })).json()
    expect((await ask('/admin/accounts')).data.map((one: Json) => one.email)).toContain('killed@example.com')
    const { data } = await ask('/admin/audit')
    expect(data).toMatchObject([{ seq: 1, action: 'POST /admin/accounts', fields: 'email', status: null }])
    await next.kill()
    const checked = await runCli(['audit', 'verify', '--offline', '--json'], storage)
    expect(JSON.parse(checked.stdout)).toMatchObject({ intact: true, rows: 1 })
  })
})
