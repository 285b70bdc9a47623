import { chmodSync, rmSync } from 'node:fs'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createHealth } from '../../../src/storage/engine/health.js'
import { openPostgres } from '../../../src/storage/engine/postgres.js'
import { startTcpProxy, type TcpProxy } from '../../support/database-faults/tcp-proxy.js'
import { makeDirectory } from '../../support/directory.js'
import { startPostgres } from '../../support/postgres.js'
import { eventually, spawnServer } from '../../support/server.js'
import { ADA, createWorld, ENGINES, LINE, type World } from '../../support/world.js'

/** 5 s are promised; a loaded machine may take longer. Without a remedy, each of these faults lasts for good. */
const RECOVERY_MS = 30_000

describe.runIf(ENGINES.includes('postgres'))('a server whose database', () => {
  const directory = makeDirectory('trunkline-loss-')
  let database: Awaited<ReturnType<typeof startPostgres>>
  let proxy: TcpProxy
  let world: World
  beforeAll(async () => {
    chmodSync(directory, 0o755) // as root, the server runs as another user
    database = await startPostgres(directory)
    proxy = await startTcpProxy(database.url)
    world = await createWorld('postgres', { env: { DATABASE_URL: proxy.url }, realTime: true })
  }, 60_000)
  afterAll(async () => {
    proxy.heal()
    await world.close()
    await proxy.close()
    await database.stop()
    rmSync(directory, { recursive: true, force: true })
  })

  let n = 0
  const send = () =>
    world.post('/api/send-message', { from_number: LINE, number: ADA, content: `text ${n++}` })
  const isReady = async () => (await world.get('/readyz', null)).status === 200
  const recovery = () =>
    eventually(
      async () => (await send()).status === 202 && (await isReady()),
      (is) => is,
      RECOVERY_MS,
    )
  /** Asks the database itself, beside the proxy. */
  async function ask(...texts: string[]) {
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    try {
      for (const text of texts) await client.query(text)
    } finally {
      await client.end()
    }
  }

  it('was demoted answers 503 with Retry-After, is not ready, and recovers', async () => {
    await recovery()
    // Without the other work of a server, which would find the fault, too.
    const alone = await openPostgres(database.url)
    const writes = () => createHealth(alone).check()
    await writes()
    await ask('alter system set default_transaction_read_only = on', 'select pg_reload_conf()')
    const refused = await eventually(send, ({ status }) => status !== 202)
    expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
    await eventually(isReady, (is) => !is)
    await expect(writes()).rejects.toThrow('cannot be reached')
    await alone.close()
    // Reads go to a new session, too: one that can only read is of no use.
    expect((await send()).status).toBe(503)
    await ask(
      'set default_transaction_read_only = off',
      'alter system reset default_transaction_read_only',
      'select pg_reload_conf()',
    )
    await recovery()
  }, 60_000)

  it('ends every session recovers', async () => {
    await ask(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'trunkline%'",
    )
    await recovery()
  }, 60_000)

  it('crashes recovers', async () => {
    await crash(database.url)
    await recovery()
  }, 60_000)

  it('stays silent on its connections answers 503 instead of hanging, and recovers', async () => {
    await Promise.all(Array.from({ length: 8 }, send))
    proxy.swallow('open')
    // Connections that are open stay silent for good; new ones work.
    await recovery()
  }, 60_000)

  it('got only a part of a statement before its connections fell silent is not waited for', async () => {
    const db = await openPostgres(proxy.url)
    await db.one('select 1 as one')
    let isSilent = false
    proxy.onBytes = (_from, bytes) => {
      if (isSilent || !bytes.includes('x'.repeat(1000))) return
      isSilent = true
      proxy.swallow('open')
    }
    const began = performance.now()
    await db.one('select length($1::text) as length', ['x'.repeat(1_000_000)]).catch(() => {})
    expect(isSilent).toBe(true)
    expect(performance.now() - began).toBeLessThan(RECOVERY_MS)
    delete proxy.onBytes
    await db.close()
    await recovery()
  }, 60_000)

  it('stays silent on its connections does not keep a stopping process', async () => {
    const server = await spawnServer({ env: { DATABASE_URL: proxy.url, LOG_LEVEL: 'silent' } })
    proxy.swallow('open')
    expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null })
    await recovery()
  }, 60_000)

  it('stays silent on its connections does not keep a closing pool', async () => {
    const db = await openPostgres(proxy.url)
    await db.one('select 1 as one')
    proxy.swallow('open')
    const asked = db.one('select 1 as one').catch((error: Error) => error)
    // Long enough for the statement to be on its way.
    for (let turns = 0; turns < 20; turns++) await new Promise((done) => setImmediate(done))
    await db.close()
    expect(await asked).toBeInstanceOf(Error)
    await recovery()
  }, 60_000)

  it('cannot be reached for a while answers 503 with Retry-After, and recovers', async () => {
    proxy.swallow('all')
    expect(await send()).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
    await eventually(isReady, (is) => !is)
    proxy.heal()
    await recovery()
  }, 60_000)
})

/** Kills a session's process like `kill -9`: PostgreSQL then ends all sessions and recovers from its log. */
async function crash(url: string) {
  const client = new pg.Client({ connectionString: url })
  const ended = new Promise((resolve) => client.on('error', () => {}).once('end', resolve))
  await client.connect()
  const { rows } = await client.query('select pg_backend_pid() as pid')
  process.kill(rows[0].pid, 'SIGKILL')
  await ended
}
