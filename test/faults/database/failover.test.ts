import { chmodSync, rmSync } from 'node:fs'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Db } from '../../../src/storage/engine/db.js'
import { openPostgres } from '../../../src/storage/engine/postgres.js'
import { runCli } from '../../support/cli.js'
import { startTcpProxy, type TcpProxy } from '../../support/database-faults/tcp-proxy.js'
import { makeDirectory } from '../../support/directory.js'
import { freePort, type PostgresServer, startPair } from '../../support/postgres.js'
import { eventually } from '../../support/server.js'
import { onServer } from '../../support/template.js'
import { ADA, createWorld, ENGINES, type Json, LINE, type World } from '../../support/world.js'

describe.runIf(ENGINES.includes('postgres'))(
  'a server with several hosts in DATABASE_URL, or with a name that moves',
  () => {
    const directory = makeDirectory('trunkline-failover-')
    let primary: PostgresServer
    let standby: PostgresServer
    let world: World
    let proxy: TcpProxy
    let named: Db
    beforeAll(async () => {
      chmodSync(directory, 0o755) // as root, the servers run as another user
      ;[primary, standby] = await startPair(directory)
      await eventually(
        () => onServer(primary.url, 'select 1 from pg_stat_replication'),
        ([rows]) => rows!.length === 1,
        60_000,
      )
      const ports = [await freePort(), new URL(standby.url).port, new URL(primary.url).port]
      const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',')
      const url = `postgres://trunkline:trunkline@${hosts}/postgres?target_session_attrs=read-write`
      world = await createWorld('postgres', { env: { DATABASE_URL: url }, realTime: true })
      proxy = await startTcpProxy(primary.url)
      named = await openPostgres(proxy.url)
    }, 120_000)
    afterAll(async () => {
      await named?.close()
      await proxy?.close()
      await world?.close()
      await Promise.all([primary?.stop(), standby?.stop()])
      rmSync(directory, { recursive: true, force: true })
    }, 60_000)

    const send = (content: string) =>
      world.post('/api/send-message', { from_number: LINE, number: ADA, content })
    /** Over a name that gets the address of the new primary late. */
    const write = () => named.run('update nodes set seen_at = seen_at')
    async function ask(text: string) {
      const client = new pg.Client({ connectionString: standby.url })
      await client.connect()
      try {
        return (await client.query(text)).rows[0]
      } finally {
        await client.end()
      }
    }

    it('passes over a host that is gone and a standby, and uses the one that can write', async () => {
      expect((await send('before')).status).toBe(202)
      expect((await world.get('/readyz', null)).status).toBe(200)
      await write()
    })

    it('warns of an asynchronous standby at the start and in doctor, not of a synchronous one', async () => {
      expect(world.logs.join('\n')).toContain('standby servers are asynchronous')
      const examine = async () => {
        const ran = await runCli(['doctor', '--json'], { DATABASE_URL: world.config.databaseUrl! })
        return JSON.parse(ran.stdout).findings.find((one: Json) => one.check === 'standby servers')
      }
      expect(await examine()).toMatchObject({
        result: 'warn',
        detail: expect.stringContaining('1 asynchronous'),
      })
      const made = await runCli(['backup', 'x', '--database-url', world.config.databaseUrl!])
      expect(made).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('1 standby servers are asynchronous'),
      })
      const setSynchronous = async (names: string) => {
        await onServer(primary.url, `alter system set synchronous_standby_names = '${names}'`)
        await onServer(primary.url, 'select pg_reload_conf()')
        await eventually(
          () => onServer(primary.url, 'show synchronous_standby_names'),
          ([rows]) => rows![0]!.synchronous_standby_names === names,
          60_000,
        )
      }
      // Patroni changes it when a standby comes or goes, and the sessions stay.
      const untilNoted = (isSynchronous: number) =>
        eventually(
          () => onServer(primary.url, 'select is_synchronous from incarnations order by n desc limit 1'),
          ([rows]) => Number(rows![0]!.is_synchronous) === isSynchronous,
        )
      await setSynchronous('*')
      expect(await examine()).toBeUndefined()
      await untilNoted(1)
      await setSynchronous('')
      await untilNoted(0)
    }, 180_000)

    it('follows the promotion of the standby, with everything that was stored', async () => {
      await eventually(
        () => ask("select count(*)::int as n from messages where content = 'before'"),
        ({ n }) => n === 1,
        60_000,
      )
      primary.crash()
      const refused = await eventually(
        () => send('between'),
        ({ status }) => status !== 202,
        60_000,
      )
      expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
      const ready = () => world.get('/readyz', null)
      await eventually(ready, ({ status }) => status === 503, 60_000)

      await expect(write()).rejects.toThrow('cannot be reached')
      proxy.lead(standby.url)
      await expect(write()).rejects.toMatchObject({
        cause: { message: expect.stringMatching(/can only be read/) },
      })
      await ask('select pg_promote()')
      await eventually(
        () => send('after'),
        ({ status }) => status === 202,
        60_000,
      )
      await eventually(ready, ({ status }) => status === 200, 60_000)
      await write()
      const { body } = await world.get('/api/v2/messages?limit=100')
      const contents = body.data.map((one: { content: string }) => one.content)
      expect(contents).toEqual(expect.arrayContaining(['before', 'after']))
      expect((await world.get('/admin/recovery', 'admin')).body).toMatchObject({
        incarnation: 2,
        reason: expect.stringContaining('a standby was promoted'),
      })
    }, 120_000)
  },
)
