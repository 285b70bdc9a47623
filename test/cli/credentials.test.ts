import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { makeDirectory } from '../support/directory.js'
import { createWorld, LINE, SHARED_LINE, type World } from '../support/world.js'

describe('trunkline credentials write', () => {
  let world: World
  const home = makeDirectory('trunkline-home-')
  const file = join(home, '.sendblue', 'credentials.json')
  beforeAll(async () => {
    world = await createWorld('sqlite')
  })
  afterAll(() => world.close())
  const write = (args: string[] = [], env: Record<string, string> = {}) =>
    runCli(['credentials', 'write', ...args], { TRUNKLINE_URL: world.app.url(), HOME: home, ...env })
  const written = () => JSON.parse(readFileSync(file, 'utf8'))

  it('makes the file of the default world, which nobody else can read', async () => {
    const ran = await write()
    expect([ran.code, ran.stdout]).toEqual([0, expect.stringContaining(file)])
    expect(ran.stderr).toContain(`SENDBLUE_API_BASE=${world.app.url()}`)
    expect(written()).toEqual({
      apiKey: 'dev-live-key',
      apiSecret: 'dev-live-secret',
      email: 'dev@trunkline.local',
      assignedNumber: LINE,
      plan: expect.any(String),
      createdAt: expect.stringMatching(/Z$/),
    })
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(join(home, '.sendblue')).mode & 0o777).toBe(0o700)
    // The secret is in the file, and nowhere else.
    expect(ran.stdout + ran.stderr).not.toContain('dev-live-secret')
    const { apiKey: id, apiSecret: secret } = written()
    expect((await world.get('/account', { id, secret })).status).toBe(200)
  })

  it('replaces a file only when told so', async () => {
    const refused = await write(['--from', SHARED_LINE])
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('exists. Add --force')])
    expect(written().assignedNumber).toBe(LINE)
    expect((await write(['--from', SHARED_LINE, '--force'])).code).toBe(0)
    expect(written().assignedNumber).toBe(SHARED_LINE)
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('takes a secret from the file that a variable names', async () => {
    const secret = join(home, 'secret')
    writeFileSync(secret, 'dev-live-secret\n')
    const env = { TRUNKLINE_API_KEY_ID: 'dev-live-key', TRUNKLINE_API_SECRET_KEY_FILE: secret }
    expect(await write(['--force'], env)).toMatchObject({ code: 0 })
    expect(written().apiSecret).toBe('dev-live-secret')
    const away = await write(['--force'], { ...env, TRUNKLINE_API_SECRET_KEY_FILE: join(home, 'away') })
    expect([away.code, away.stderr]).toEqual([
      1,
      expect.stringMatching(/^TRUNKLINE_API_SECRET_KEY_FILE points to .*away, which cannot be read/),
    ])
  })

  it('says what is wrong', async () => {
    for (const [args, env, words] of [
      [['--from', '+12025550199'], {}, /^--from: \+12025550199 is not a line of this account\./],
      [[], { TRUNKLINE_TOKEN: 'x' }, /^A credentials file holds a key, not a token\./],
      [[], { TRUNKLINE_API_SECRET_KEY: 'wrong' }, /^Unauthorized\./],
    ] as const) {
      const ran = await write([...args, '--force'], env)
      expect([ran.code, ran.stderr]).toEqual([1, expect.stringMatching(words)])
    }
  })
})
