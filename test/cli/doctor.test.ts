import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { checkKeys, checkNode, skew } from '../../src/cli/server/doctor-local.js'
import { loadConfig } from '../../src/config.js'
import { runCli } from '../support/cli.js'
import { createDatabase } from '../support/database.js'
import { spawnServer, temporaryDirectory } from '../support/server.js'
import { credentials, ENGINES, type Json, LINE } from '../support/world.js'

type Results = Record<string, [result: string, detail: string, advice?: string]>

async function examine(
  args: string[],
  env: Record<string, string> = {},
): Promise<{ code: number | null; results: Results; told: Json }> {
  const ran = await runCli(['doctor', '--json', ...args], {
    TRUNKLINE_DATA: join(temporaryDirectory(), 'data'),
    ...env,
  })
  const told = JSON.parse(ran.stdout)
  const entries = told.findings.map((one: Json) => [one.check, [one.result, one.detail, one.advice]])
  return { code: ran.code, results: Object.fromEntries(entries), told }
}

describe('trunkline doctor', () => {
  it('finds nothing wrong where nothing is yet, and makes nothing', async () => {
    const folder = temporaryDirectory()
    const { code, told, results } = await examine(['--port', '0'], { TRUNKLINE_DATA: join(folder, 'data') })
    expect([code, told.healthy, told.failures]).toEqual([0, true, 0])
    expect(Object.keys(results)).toEqual([
      'node',
      'settings',
      'data',
      'disk',
      'seal key',
      'database',
      'drivers',
      'port',
      'server',
    ])
    expect(results.data![1]).toBe(`${join(folder, 'data')} will be created by the first start`)
    // Still not there: looking is not making.
    expect(
      (await examine(['--port', '0'], { TRUNKLINE_DATA: join(folder, 'data') })).results.data![1],
    ).toContain('will be created')
    const words = await runCli(['doctor', '--port', '0'], { TRUNKLINE_DATA: join(folder, 'data') })
    expect(words.stdout).toMatch(/^ok {4}node {6}Node \d+/)
    expect([words.code, words.stderr, words.stdout.includes('\u001b')]).toEqual([0, '', false])
  })

  it.each(ENGINES)('looks at a server that runs on %s', async (engine) => {
    const database = engine === 'postgres' ? await createDatabase() : undefined
    const env: Record<string, string> = database
      ? { DATABASE_URL: database.url, TRUNKLINE_DATA: temporaryDirectory() }
      : { TRUNKLINE_DATA: join(temporaryDirectory(), 'data') }
    const server = await spawnServer({ env })
    const port = new URL(server.url).port
    const here = { ...env, TRUNKLINE_URL: server.url }
    // The settings alone name the server.
    const fine = await examine(['--port', port], env)
    expect([fine.told.failures, fine.code]).toEqual([0, 0])
    for (const [check, detail] of [
      ['port', `Trunkline is running at 127.0.0.1:${port}`],
      ['server', `ready at ${server.url}`],
      ['clock of the server', 'the same as the server'],
      ['key', 'is accepted'],
      [`line ${LINE}`, 'ONLINE'],
    ] as const)
      expect([check, fine.results[check]]).toEqual([check, ['ok', detail, undefined]])
    expect(fine.results.database![1]).toContain('every commit is flushed')
    if (engine === 'sqlite') expect(fine.results['database content']![1]).toBe('not damaged')
    else expect(fine.results['clock of the database']![0]).toBe('ok')

    expect(fine.results['webhook secrets']).toBeUndefined()
    for (const [globalSecret, found] of [
      ['x'.repeat(23), ['warn', '1 is shorter than 24 characters', expect.stringContaining('openssl rand')]],
      ['x'.repeat(24), ['ok', 'are long enough', undefined]],
    ] as const) {
      await fetch(`${server.url}/api/account/webhooks`, {
        method: 'PUT',
        headers: { ...credentials('live'), 'content-type': 'application/json' },
        body: JSON.stringify({ webhooks: { globalSecret } }),
      })
      expect((await examine(['--port', port], here)).results['webhook secrets']).toEqual(found)
    }

    const wrong = await examine(['--port', port], { ...here, TRUNKLINE_API_SECRET_KEY: 'wrong' })
    expect([wrong.code, wrong.results.key![0]]).toEqual([1, 'fail'])

    // Open to others: the keys that everyone knows do not do.
    for (const [args, env] of [
      [['--host', '0.0.0.0'], {}],
      [[], { TRUNKLINE_PUBLIC_URL: 'https://sms.example.org' }],
    ] as const) {
      const open = await examine([...args, '--port', port], { ...here, ...env })
      expect(open.code).toBe(1)
      expect(open.results.keys).toEqual(['fail', expect.any(String), 'Run: trunkline init'])
      expect(open.results['development keys']).toEqual([
        'fail',
        expect.stringContaining('still work'),
        expect.stringContaining('trunkline init'),
      ])
    }
    const open = await examine(['--host', '0.0.0.0', '--port', port], here)
    expect(open.results['public URL']![0]).toBe('warn')
    const headers = { ...credentials('admin'), 'content-type': 'application/json' }
    const post = (path: string, body: object, method = 'POST') =>
      fetch(server.url + path, { method, headers, body: JSON.stringify(body) }).then(
        (reply) => reply.json() as Json,
      )
    await post('/admin/keys', { kind: 'admin' })
    const owned = (await examine(['--host', '0.0.0.0', '--port', port], here)).results
    expect([owned.keys![0], owned['development keys']![0]]).toEqual(['ok', 'fail'])

    const lines = (
      (await (await fetch(`${server.url}/admin/lines`, { headers: credentials('admin') })).json()) as Json
    ).data
    const line = lines.find((one: Json) => one.number === LINE && one.world === 'live')
    await post(`/admin/lines/${line.id}`, { blocked: true }, 'PATCH')
    const blocked = await examine(['--port', port], here)
    expect([blocked.code, blocked.results[`line ${LINE}`]![0]]).toEqual([1, 'fail'])
    expect(blocked.results[`line ${LINE}`]![2]).toContain('--blocked no')
    await server.kill()
    const gone = await examine(['--port', '0'], here)
    expect([gone.code, gone.results.server![0]]).toEqual([1, 'fail'])
    await database?.release()
  })

  it('finds folders, keys and databases that cannot be used', async () => {
    const folder = temporaryDirectory()
    const at = (name: string) => ({ TRUNKLINE_DATA: join(folder, name) })
    writeFileSync(join(folder, 'file'), '')
    expect((await examine(['--port', '0'], at('file'))).results.data).toEqual([
      'fail',
      expect.stringContaining('is not a folder'),
      expect.any(String),
    ])
    mkdirSync(join(folder, 'open'))
    chmodSync(join(folder, 'open'), 0o777)
    writeFileSync(join(folder, 'open', 'seal.key'), 'no key\n', { mode: 0o600 })
    writeFileSync(
      join(folder, 'open', 'trunkline.db'),
      'no database at all, but long enough to look like one'.repeat(100),
    )
    const bad = await examine(['--port', '0'], at('open'))
    expect(bad.code).toBe(1)
    expect(['data', 'seal key', 'database'].map((check) => bad.results[check]![0])).toEqual([
      'warn',
      'fail',
      'fail',
    ])
    chmodSync(join(folder, 'open'), 0o750)
    expect((await examine(['--port', '0'], at('open'))).results.data).toEqual([
      'warn',
      `Other users of this machine can enter ${join(folder, 'open')}`,
      `Run: chmod 700 ${join(folder, 'open')}`,
    ])
    chmodSync(join(folder, 'open', 'seal.key'), 0o644)
    expect((await examine(['--port', '0'], at('open'))).results['seal key']![2]).toContain('chmod 600')
    const wrong = await runCli(['doctor'], { PORT: 'x' })
    expect([wrong.code, wrong.stderr]).toEqual([1, '1 of 2 checks failed.\n'])
    expect(wrong.stdout).toMatch(/^fail {2}settings {2}PORT must be a whole number/m)
    const nowhere = await examine(['--port', '0', '--database-url', 'postgres://127.0.0.1:1/none'])
    expect(nowhere.results.database).toEqual([
      'fail',
      expect.stringContaining('cannot be reached'),
      expect.any(String),
    ])
  })

  it('finds a port that somebody else has, and a database that forgets', async () => {
    const other = createServer((_request, reply) => reply.end('hello'))
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const port = String((other.address() as AddressInfo).port)
    expect((await examine(['--port', port])).results.port).toEqual([
      'fail',
      `Another program uses 127.0.0.1:${port}`,
      expect.any(String),
    ])
    other.close()
    expect((await examine(['--port', '0', '--host', '203.0.113.9'])).results.port![0]).toBe('fail')

    const database = await createDatabase()
    const name = new URL(database.url).pathname.slice(1)
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    await client.query(`alter database ${name} set synchronous_commit = off`)
    await client.end()
    const { results, code } = await examine(['--port', '0', '--database-url', database.url])
    expect([code, results.database![0], results.database![1]]).toEqual([
      1,
      'fail',
      'PostgreSQL runs with synchronous_commit off',
    ])
    await database.release()
  })

  it('judges what this machine cannot show', () => {
    expect(JSON.parse(readFileSync('package.json', 'utf8')).engines.node).toBe('^20.19.0 || >=22.12.0')
    const versions = ['20.18.9', '20.19.0', '18.20.0', '21.7.3', '22.11.0', '22.12.0', '23.0.0', '26.1.0']
    expect(versions.filter((version) => checkNode(version).result === 'ok')).toEqual([
      ...['20.19.0', '22.12.0', '23.0.0', '26.1.0'],
    ])
    expect([0, 1999, -3000, 59_000, 60_000, -90_000].map((ms) => skew('clock', ms, 'x').result)).toEqual([
      'ok',
      'ok',
      'warn',
      'warn',
      'fail',
      'fail',
    ])
  })

  it('fails on every unsafe combination of settings, lines and keys, and on no other', () => {
    const settings = [
      {},
      { HOST: '0.0.0.0' },
      { TRUNKLINE_PUBLIC_URL: 'https://sms.example.org' },
      { HOST: '::1', TRUNKLINE_PUBLIC_URL: 'http://localhost:8080' },
    ]
    for (const [i, env] of settings.entries())
      for (const real_lines of [0, 1])
        for (const well_known of [0, 3])
          for (const own_admin of [0, 1]) {
            const census = { real_lines, well_known, own_admin }
            const isHarmless = (i === 0 || i === 3) && real_lines === 0
            const isFailing = checkKeys(loadConfig(env), census).some(({ result }) => result === 'fail')
            expect([env, census, isFailing]).toEqual([
              env,
              census,
              !isHarmless && (well_known > 0 || own_admin === 0),
            ])
          }
    const reaching = loadConfig({ HOST: '0.0.0.0', TRUNKLINE_ALLOW_HOSTS: 'nas.lan,127.0.0.1' })
    const census = { real_lines: 0, well_known: 0, own_admin: 1 }
    expect(checkKeys(reaching, census).map(({ result }) => result)).toEqual(['ok', 'warn'])
  })

  it('fails where a tunnel serves the development keys under another address', async () => {
    const server = await spawnServer()
    // Neither a header nor the protocol tells that this is not the machine itself.
    const tunnel = createServer(async (request, reply) => {
      const headers = { ...(request.headers as Record<string, string>), host: 'localhost' }
      const answer = await fetch(server.url + request.url, { headers })
      reply.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
    })
    await new Promise<void>((resolve) => tunnel.listen(0, '0.0.0.0', resolve))
    const { port } = tunnel.address() as AddressInfo
    const found = await examine(['--port', '0', '--url', `http://0.0.0.0:${port}`])
    expect([found.code, found.results['development keys']?.[0]]).toEqual([1, 'fail'])
    tunnel.closeAllConnections()
    tunnel.close()
    await server.kill()
  })
})
