import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type App, createApp } from '../../src/app.js'
import { createClock } from '../../src/base/clock.js'
import { loadConfig } from '../../src/config.js'
import { newSealKey } from '../../src/core/accounts/seal.js'
import { DEFAULT_WORLD } from '../../src/services/accounts/default-world.js'
import { endpointsOf } from '../../src/services/webhooks/webhooks.js'
import { runCli } from '../support/cli.js'
import { dumpOf } from '../support/dump.js'
import { spawnCli, spawnServer, temporaryDirectory, temporaryStorage } from '../support/server.js'
import { credentials, ENGINES, type Json, START } from '../support/world.js'

const SECRETS = '/api/v2/totp/secrets'
const WEBHOOKS = '/api/account/webhooks'
const [OLD, NEW] = [newSealKey(), newSealKey()]
const kidOf = (key: string) => key.split(':')[0]!

describe('the key file', () => {
  let folder: string
  afterEach(() => rmSync(folder, { recursive: true, force: true }))
  const boot = async (env: Record<string, string> = {}) => {
    const lines: string[] = []
    const write = (_fields: object, text: string) => void lines.push(text)
    const log = { info: write, warn: write, error: write, debug: write, isLevelEnabled: () => true }
    const config = loadConfig({ TRUNKLINE_DATA: folder, PORT: '0', ...env })
    const app = await createApp(config, { log, clock: createClock(START), worker: false })
    const { kid, kids } = app.ctx.vault
    await app.stop()
    return { kid, kids, lines }
  }
  const fresh = () => {
    folder = mkdtempSync(join(tmpdir(), 'trunkline-seal-'))
    return join(folder, 'seal.key')
  }

  it('is made on the first start, for nobody else to read, and stays', async () => {
    const file = fresh()
    const first = await boot()
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readFileSync(file, 'utf8')).toMatch(/^k[0-9a-f]{8}:[A-Za-z0-9+/]{43}=\n$/)
    expect((await boot()).kid).toBe(first.kid)
    expect(readdirSync(folder).filter((name) => name.startsWith('seal.key'))).toEqual(['seal.key'])
  })

  it('is refused when everyone can read it, with the command that helps', async () => {
    const file = fresh()
    await boot()
    chmodSync(file, 0o644)
    await expect(boot()).rejects.toThrow(`chmod 600 ${file}`)
    chmodSync(file, 0o600)
    await boot()
  })

  it('is refused when it holds no keys, without showing what it holds', async () => {
    const file = fresh()
    writeFileSync(file, 'canary', { mode: 0o600 })
    await expect(boot()).rejects.toThrow(/seal\.key is not a key file: entry 1 must be kid:key/)
    await expect(boot()).rejects.not.toThrow(/canary/)
  })

  it('is neither made nor read when the variable is set, and holds a ring when people put one there', async () => {
    const file = fresh()
    expect(await boot({ TRUNKLINE_SEAL_KEYS: `${NEW},${OLD}` })).toMatchObject({
      kid: kidOf(NEW),
      kids: [kidOf(NEW), kidOf(OLD)],
    })
    expect(existsSync(file)).toBe(false)
    writeFileSync(file, `${OLD}\n${NEW}\n`, { mode: 0o600 })
    expect(await boot()).toMatchObject({ kid: kidOf(OLD), kids: [kidOf(OLD), kidOf(NEW)] })
    expect((await boot({ TRUNKLINE_SEAL_KEYS_FILE: file })).kid).toBe(kidOf(OLD))
  })

  it('a variable that is wrong says so, without the key', () => {
    fresh()
    const load = (keys: string) => () => loadConfig({ TRUNKLINE_SEAL_KEYS: keys })
    expect(load('canary')).toThrow(/TRUNKLINE_SEAL_KEYS: entry 1 must be kid:key/)
    expect(load(`a:${'QUFB'}`)).toThrow(/the key a must be 32 bytes/)
    expect(load('canary')).not.toThrow(/canary/)
  })
})

describe.each(ENGINES)('sealed secrets on %s', (engine) => {
  let storage: Record<string, string>
  let app: App | undefined
  const logs: string[] = []
  beforeEach(async () => {
    logs.length = 0
    storage = { TRUNKLINE_DATA: temporaryDirectory(), ...(await temporaryStorage(engine)) }
  })
  afterEach(() => stop())

  async function stop() {
    await app?.stop()
    app = undefined
  }
  /** One process after the other on the same data, each with its own keys. */
  async function boot(...keys: string[]) {
    await stop()
    const write = (fields: object, text: string) => void logs.push(JSON.stringify({ ...fields, text }))
    const log = { info: write, warn: write, error: write, debug: write, isLevelEnabled: () => true }
    const sealKeys: Record<string, string> = keys.length > 0 ? { TRUNKLINE_SEAL_KEYS: keys.join(',') } : {}
    const config = loadConfig({ PORT: '0', ...storage, ...sealKeys })
    app = await createApp(config, {
      ...{ log, seed: true, guardTx: true, clock: createClock(START) },
      // A line with a secret is real.
      keys: DEFAULT_WORLD.keys,
    })
    return app
  }
  async function call(
    method: 'GET' | 'POST' | 'PUT',
    url: string,
    payload?: object,
    as: 'live' | 'admin' = 'live',
  ) {
    const reply = await app!.server.inject({ method, url, headers: credentials(as), payload })
    return { status: reply.statusCode, body: reply.json() as Json }
  }
  const rotate = (body: object, as?: 'live') => call('POST', '/admin/seal/rotate', body, as ?? 'admin')
  async function create(n: number) {
    const made: Json[] = []
    for (let i = 0; i < n; i++)
      made.push((await call('POST', SECRETS, { label: `secret ${i}` })).body.totp_secret)
    return made
  }
  const codes = (secrets: Json[]) =>
    Promise.all(secrets.map(async ({ id }) => (await call('GET', `/api/v2/totp/code/${id}`)).body.code))
  const kids = async () =>
    (await app!.ctx.db.all<{ kid: string }>('select distinct kid from totp_secrets')).map((row) => row.kid)

  it('boot refuses a ring that cannot open what is stored, and says which key is missing', async () => {
    await boot(OLD)
    await create(1)
    await expect(boot(NEW)).rejects.toThrow(
      new RegExp(`Not starting: totp_secrets .*${kidOf(OLD)}.*TRUNKLINE_SEAL_KEYS`),
    )
    await boot(NEW, OLD)
  })

  it('with PostgreSQL and no variable, a warning says that nodes need the same keys', async () => {
    await boot()
    expect(logs.some((line) => line.includes('set TRUNKLINE_SEAL_KEYS'))).toBe(engine === 'postgres')
    expect(existsSync(join(storage.TRUNKLINE_DATA!, 'seal.key'))).toBe(true)
  })

  it('rotate: everything is sealed anew, and then the old key is not needed', async () => {
    await boot(OLD)
    const secrets = await create(3)
    const before = await codes(secrets)
    await boot(NEW, OLD)
    expect(await codes(secrets)).toEqual(before)
    const first = (await rotate({})).body
    expect(first).toMatchObject({ kid: kidOf(NEW), resealed: 3, unreadable: 0 })
    expect((await rotate({ after: first.next })).body).toMatchObject({ resealed: 0, next: null })
    expect(await kids()).toEqual([kidOf(NEW)])
    await boot(NEW)
    expect(await codes(secrets)).toEqual(before)
  })

  it('rotate: what no key opens is counted, named in the log and left alone', async () => {
    await boot(OLD)
    const [broken, ...whole] = await create(3)
    const before = await codes(whole)
    await app!.ctx.db.run("update totp_secrets set secret = secret || 'x' where id = $1", [broken.id])
    await boot(NEW, OLD)
    const first = (await rotate({})).body
    expect(first).toMatchObject({ resealed: 2, unreadable: 1 })
    expect((await rotate({ after: first.next })).body).toMatchObject({ unreadable: 0, next: null })
    expect((await kids()).sort()).toEqual([kidOf(NEW), kidOf(OLD)].sort())
    expect(logs.filter((line) => line.includes(broken.id) && line.includes('cannot be opened'))).toHaveLength(
      1,
    )
    expect(await codes(whole)).toEqual(before)
  })

  it('rotate: the secrets of webhooks are sealed anew, too, the former ones and the global one among them', async () => {
    const webhooks = (n: number) => ({
      receive: [{ url: 'https://a.example.com/', secret: `a${n}` }, 'https://b.example.com/'],
      globalSecret: `g${n}`,
    })
    await boot(OLD)
    for (const n of [1, 2]) await call('PUT', WEBHOOKS, { webhooks: webhooks(n) })
    const { account_id } = (await app!.ctx.db.one<{ account_id: string }>(
      "select account_id from keys where id = 'dev-live-key'",
    ))!
    const signing = async () =>
      (await endpointsOf(app!.ctx, account_id)).map((one) => [one.secret, one.formerSecret])
    const before = [
      ['a2', 'a1'],
      ['g2', 'g1'],
    ]
    expect(await signing()).toEqual(before)
    await expect(boot(NEW)).rejects.toThrow(/Not starting: webhook_endpoints /)
    await boot(NEW, OLD)
    let after: string | null = null
    const counts: number[] = []
    do {
      const { resealed, unreadable, next }: Json = (await rotate(after === null ? {} : { after })).body
      expect(unreadable).toBe(0)
      counts.push(resealed)
      after = next
    } while (after !== null)
    expect(counts).toEqual([2, 1, 0])
    await boot(NEW)
    expect(await signing()).toEqual(before)
    expect((await call('GET', WEBHOOKS)).body.webhooks).toMatchObject(webhooks(2))
  })

  it('rotate: the secrets of lines are sealed anew, too', async () => {
    const patch = async (id: string, config: object) => {
      const reply = await app!.server.inject({
        method: 'PATCH',
        url: `/admin/lines/${id}`,
        headers: credentials('admin'),
        payload: { config },
      })
      return [reply.statusCode, reply.json().config?.password]
    }
    const config = { host: 'a', port: 1, system_id: 'b' }
    await boot(OLD)
    const account = (await call('GET', '/admin/accounts', undefined, 'admin')).body.data[0]
    const line = (
      await call(
        'POST',
        '/admin/lines',
        {
          account_id: account.id,
          number: '+13105550190',
          driver: 'smpp',
          config: { ...config, password: 'canary' },
        },
        'admin',
      )
    ).body
    await expect(boot(NEW)).rejects.toThrow(/Not starting: line_secrets /)
    await boot(NEW, OLD)
    expect((await rotate({})).body).toMatchObject({ resealed: 1, unreadable: 0 })
    await boot(NEW)
    // Whether it is there is seen by what may be left out.
    expect(await patch(line.id, config)).toEqual([200, '(kept)'])
    expect((await app!.ctx.db.all<{ kid: string }>('select kid from line_secrets'))[0]!.kid).toBe(kidOf(NEW))
    expect(await dumpOf(app!)).not.toContain('canary')
  })

  it('rotate is for admins, and any `after` is harmless', async () => {
    await boot(OLD)
    await create(1)
    expect((await rotate({}, 'live')).status).toBe(403)
    for (const after of ['', 'x', '99 a b', '0 z z', "' or 1=1 --", '-1  '])
      expect((await rotate({ after })).body).toEqual({
        kid: kidOf(OLD),
        total: null,
        resealed: 0,
        unreadable: 0,
        next: null,
      })
    expect((await rotate({ after: 'x'.repeat(201) })).status).toBe(400)
    expect(await dumpOf(app!)).not.toContain(OLD.split(':')[1])
  })
})

describe.each(ENGINES)('the command line on %s', (engine) => {
  it('seal rotate goes on after a kill where it was', async () => {
    const storage = await temporaryStorage(engine)
    const server = await spawnServer({ env: { ...storage, TRUNKLINE_SEAL_KEYS: OLD } })
    const call = async (method: string, path: string, body?: Json) => {
      const response = await fetch(server.url + path, {
        method,
        headers: { ...credentials('live'), ...(body ? { 'content-type': 'application/json' } : {}) },
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
      return (await response.json()) as Json
    }
    const total = 250
    for (let i = 0; i < total / 50; i++)
      await Promise.all(Array.from({ length: 50 }, (_, n) => call('POST', SECRETS, { label: `${i} ${n}` })))
    const [first] = (await call('GET', SECRETS)).totp_secrets
    const before = await call('GET', `/api/v2/totp/code/${first.id}`)
    await server.kill()

    const env = { ...storage, TRUNKLINE_SEAL_KEYS: `${NEW},${OLD}` }
    const killed = await spawnCli(['seal', 'rotate', '--offline'], {
      ...env,
      TRUNKLINE_FAILPOINT: 'seal.after_batch@2',
    })
    expect(killed.code).toBe(null)
    expect(killed.stderr).toContain(`100 of ${total} secrets …`)
    const blocked = await runCli(['seal', 'rotate', '--offline'], { ...storage, TRUNKLINE_SEAL_KEYS: NEW })
    expect([blocked.code, blocked.stderr]).toEqual([1, expect.stringContaining(kidOf(OLD))])
    const rest = await runCli(['seal', 'rotate', '--offline', '--json'], env)
    expect(rest).toMatchObject({ code: 0, stderr: '50 of 50 secrets …\n' })
    expect(JSON.parse(rest.stdout)).toEqual({ kid: kidOf(NEW), resealed: total - 200, unreadable: 0 })
    const again = await runCli(['seal', 'rotate', '--offline', '--json'], env)
    expect(JSON.parse(again.stdout)).toEqual({ kid: kidOf(NEW), resealed: 0, unreadable: 0 })

    const after = await spawnServer({ env: { ...storage, TRUNKLINE_SEAL_KEYS: NEW } })
    const read = await fetch(`${after.url}/api/v2/totp/code/${first.id}`, { headers: credentials('live') })
    expect([read.status, before.status]).toEqual([200, 'OK'])
    const online = await runCli(['seal', 'rotate'], { TRUNKLINE_URL: after.url })
    expect(online).toMatchObject({ code: 0, stdout: expect.stringMatching(/resealed +0/) })
    await after.kill()
  })
})

describe('seal key', () => {
  it('prints a key that works', async () => {
    const plain = await runCli(['seal', 'key'])
    expect(loadConfig({ TRUNKLINE_SEAL_KEYS: plain.stdout }).sealKeys).toHaveLength(1)
    const json = JSON.parse((await runCli(['seal', 'key', '--json'])).stdout)
    expect(json.key.startsWith(`${json.kid}:`)).toBe(true)
    expect((await runCli(['seal', 'key'])).stdout).not.toBe(plain.stdout)
  })
})
