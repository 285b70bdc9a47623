import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { spawnServer, temporaryDirectory, temporaryStorage } from '../support/server.js'
import { ADA, credentials, ENGINES, type Json } from '../support/world.js'

type Env = Record<string, string>

describe.each(ENGINES)('trunkline init on %s', (engine) => {
  /** PostgreSQL keeps its seal key in a data folder, too. */
  const storage = async (): Promise<Env> => ({
    TRUNKLINE_DATA: join(temporaryDirectory(), 'data'),
    ...(await temporaryStorage(engine)),
  })
  const init = (env: Env, ...args: string[]) => runCli(['init', ...args], env)
  const call = async (url: string, key: Json, path: string, body?: object) => {
    const headers = { ...credentials(key), 'content-type': 'application/json' }
    const posted = body && { method: 'POST', body: JSON.stringify(body) }
    const reply = await fetch(url + path, { headers, ...posted })
    return { status: reply.status, body: (await reply.json()) as Json }
  }

  it('creates a whole set that works, once, and twice creates nothing', async () => {
    const env = await storage()
    const first = await init(env, '--json', '--email', 'me@example.com')
    expect(first).toMatchObject({ code: 0, stderr: '' })
    const made = JSON.parse(first.stdout)
    expect(made.email).toBe('me@example.com')
    const file = join(env.TRUNKLINE_DATA!, 'seal.key')
    expect([made.seal_key_in, made.seal_key]).toEqual([file, readFileSync(file, 'utf8').trim()])
    expect(statSync(file).mode & 0o777).toBe(0o600)

    for (const again of await Promise.all([init(env), init(env, '--email', 'other@example.com')])) {
      expect([again.code, again.stdout]).toEqual([1, ''])
      expect(again.stderr).toContain('nothing was created')
    }
    const server = await spawnServer({ env: { ...env, HOST: '0.0.0.0' } })
    expect(server.output).not.toContain('dev-live-key')
    const accounts = await call(server.url, made.keys.admin, '/admin/accounts')
    expect(accounts.body.data).toMatchObject([{ id: made.account_id, email: 'me@example.com' }])
    expect((await call(server.url, made.keys.admin, '/admin/keys')).body.data).toHaveLength(3)
    const audit = (await call(server.url, made.keys.admin, '/admin/audit')).body.data
    expect(audit).toMatchObject([{ actor: 'cli', action: 'trunkline init', object: made.account_id }])
    for (const kind of ['live', 'test'])
      expect((await call(server.url, made.keys[kind], '/api/v2/messages')).status).toBe(200)
    await server.kill()
  })

  it('of two at the same moment, one creates the set', async () => {
    const env = await storage()
    const both = await Promise.all([init(env), init(env)])
    expect(both.map(({ code }) => code).sort()).toEqual([0, 1])
    expect(both.find(({ code }) => code === 1)!.stderr).toContain('nothing was created')
  })

  it('works beside a running server, for the account that has the lines', async () => {
    const env = await storage()
    const server = await spawnServer({ env })
    const { admin } = { admin: { id: 'dev-admin-key', secret: 'dev-admin-secret' } }
    const [account] = (await call(server.url, admin, '/admin/accounts')).body.data
    const config = { host: '127.0.0.1', port: 1, system_id: 'a', password: 'b' }
    const line = { account_id: account.id, number: '+13105550140', driver: 'smpp', config }
    const added = await call(server.url, admin, '/admin/lines', line)
    expect(added.status).toBe(201)
    expect((await call(server.url, admin, '/admin/accounts')).status).toBe(401)
    // The way out is named, and it works as named.
    const [, words] = /trunkline (init --account \w+)/.exec(added.body.notice)!
    const made = JSON.parse((await runCli([...words!.split(' '), '--json'], env)).stdout)
    expect(made).toMatchObject({ account_id: account.id, seal_key: null })
    expect((await call(server.url, made.keys.admin, '/admin/lines')).status).toBe(200)
    const message = { from_number: '+12025550100', number: ADA, content: 'Hello' }
    const sent = await call(server.url, made.keys.live, '/api/send-message', message)
    expect(sent.status).toBe(202)
    await server.kill()
  })

  it('writes files that only their owner can read, overwrites none, and tidies up', async () => {
    const env = await storage()
    const folder = join(temporaryDirectory(), 'keys')
    const done = await init(env, '--write', folder)
    expect(done.code).toBe(0)
    expect(done.stdout).not.toContain('tls_')
    const files = readdirSync(folder).sort()
    expect(files).toEqual(['admin.env', 'live.env', 'seal.key', 'test.env'])
    for (const name of files) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    const text = readFileSync(join(folder, 'admin.env'), 'utf8')
    const lines = text.split('\n').filter((line) => line !== '')
    const key: Env = Object.fromEntries(lines.map((line) => line.split('=')))
    const server = await spawnServer({ env })
    const listed = await runCli(['account', 'list', '--json'], { TRUNKLINE_URL: server.url, ...key })
    expect(JSON.parse(listed.stdout)).toHaveLength(1)
    await server.kill()

    const other = await storage()
    mkdirSync(join(folder, 'taken'))
    writeFileSync(join(folder, 'taken', 'live.env'), 'mine')
    const taken = await init(other, '--write', join(folder, 'taken'))
    expect([taken.code, taken.stderr]).toEqual([1, expect.stringContaining('no file is overwritten')])
    expect(readdirSync(join(folder, 'taken'))).toEqual(['live.env'])
    chmodSync(join(folder, 'taken'), 0o700)
    // Nothing was created, so the next try does.
    expect((await init(other, '--account', 'nobody')).stderr).toBe('There is no account nobody\n')
    expect((await init(other, '--account', 'x', '--email', 'y')).code).toBe(2)
    expect((await init(other)).code).toBe(0)
  })
})
