import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_WORLD } from '../../../src/services/accounts/default-world.js'
import { runCli } from '../../support/cli.js'
import { temporaryDirectory } from '../../support/server.js'
import { createSink } from '../../support/web/sink.js'
import { createWorld, type World } from '../../support/world.js'

describe('a profile', () => {
  const home = temporaryDirectory()
  let world: World
  beforeAll(async () => {
    world = await createWorld('sqlite')
  })
  afterAll(() => world.close())

  const cli = (args: string[], input = '', env = {}) => runCli(args, { HOME: home, ...env }, input)
  const login = (kind: 'live' | 'admin', secret: string = DEFAULT_WORLD.keys[kind].secret) =>
    cli(
      [
        'login',
        '--url',
        world.app.url(),
        '--key-id',
        DEFAULT_WORLD.keys[kind].id,
        '--secret-stdin',
        '--json',
      ],
      `${secret}\n`,
    )

  it('keeps a server and keys of both kinds, for its owner only, and later commands use them', async () => {
    expect(JSON.parse((await login('live')).stdout)).toMatchObject({
      profile: 'default',
      acts_for: 'an account',
    })
    expect(JSON.parse((await login('admin')).stdout)).toMatchObject({ acts_for: 'the operator' })
    expect((await cli(['phones', '--json'])).stdout).toContain('+12025550101')
    expect((await cli(['account', 'list'])).code).toBe(0)
    const listed = await cli(['profiles'])
    expect(listed.stdout).toMatch(/^default +http:\S+ +dev-live-key +dev-admin-key$/m)
    expect(listed.stdout).not.toContain('secret')
    const file = join(home, '.config', 'trunkline', 'profiles.json')
    expect(readFileSync(file, 'utf8')).toContain('dev-live-secret')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(join(file, '..')).mode & 0o777).toBe(0o700)
  })

  it('is not made of a key that the server does not know', async () => {
    const { code, stderr } = await login('live', 'wrong')
    expect([code, stderr]).toEqual([1, expect.stringContaining('Unauthorized')])
    expect((await cli(['phones'])).code).toBe(0)
  })

  it('shows its keys to no other server', async () => {
    const own = (await world.post('/admin/keys', { kind: 'admin' }, 'admin')).body
    await cli(['login', '--url', world.app.url(), '--key-id', own.id, '--secret-stdin'], own.secret)
    expect((await cli(['profiles'])).stdout).toContain(own.id)
    const other = await createSink()
    await cli(['account', 'create', '--email', 'a@example.com', '--url', other.url], '', {})
    await cli(['send', '--to', '+12025550101', '--from', '+12025550100', 'Hi'], '', {
      TRUNKLINE_URL: other.url,
    })
    expect(other.received.length).toBe(2)
    for (const { headers } of other.received) expect(headers['sb-api-secret-key']).toMatch(/^dev-/)
    await other.close()
  })

  it('that is named must exist', async () => {
    for (const [args, env] of [
      [['phones', '--profile', 'shop'], {}],
      [['phones'], { TRUNKLINE_PROFILE: 'shop' }],
    ] as const)
      expect(await cli([...args], '', env)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(
          'There is no profile "shop". Make it with: trunkline login --profile shop',
        ),
      })
  })

  it('comes after the variables, and is gone after a logout', async () => {
    expect(await cli(['phones'], '', { TRUNKLINE_API_SECRET_KEY: 'wrong' })).toMatchObject({ code: 1 })
    expect((await cli(['logout'])).code).toBe(0)
    expect(await cli(['logout'])).toMatchObject({ code: 1, stderr: 'There is no profile "default".\n' })
    expect((await cli(['profiles'])).stdout).toBe('(none)\n')
  })
})
