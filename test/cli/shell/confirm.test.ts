import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { atTerminal, runCli } from '../../support/cli.js'
import { createWorld, type World } from '../../support/world.js'

describe('a removal on the command line', () => {
  let world: World
  let account: string
  let env: Record<string, string>
  const list = async (what: string) =>
    (await world.get(`/admin/${what}?account_id=${account}`, 'admin')).body.data
  beforeAll(async () => {
    world = await createWorld('sqlite', { realTime: true })
    env = { TRUNKLINE_URL: world.app.url() }
    const made = await world.post('/admin/accounts', { email: 'gone@example.com' }, 'admin')
    account = made.body.id
    for (const number of ['+13105550170', '+13105550171'])
      await world.post('/admin/lines', { account_id: account, number }, 'admin')
    await world.post('/admin/keys', { account_id: account, kind: 'live', label: 'shop' }, 'admin')
  })
  afterAll(() => world.close())

  it('needs --yes in a script, and says what would go', async () => {
    const ran = await runCli(['account', 'remove', account], env)
    expect(ran).toMatchObject({ code: 2, stdout: '' })
    expect(ran.stderr).toMatch(
      /^This removes the account gone@example\.com, its test world, 1 key and 2 lines \(\+13105550170, \+13105550171\)\. .* To do it, add --yes/,
    )
    expect(await list('lines')).toHaveLength(2)
  })

  it.each([
    ['line', 'remove', 'lines', /^This removes the live line \+13105550171 \(simulator\) with its secrets/],
    ['key', 'revoke', 'keys', /^This ends the live key tlk_\w+ \(shop\): every program/],
  ])('of a %s asks at a terminal, and no is the usual answer', async (name, verb, what, loss) => {
    const { id } = (await list(what)).at(-1)
    const usable = async () =>
      (await list(what)).filter(
        (one: { id: string; revoked_at?: string }) => one.id === id && !one.revoked_at,
      )
    for (const typed of ['', 'n']) {
      const stopped = await atTerminal([name, verb, id], env, typed)
      expect(stopped).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(loss) })
      expect(stopped.stderr).toContain('Go on? [y/N] ')
      expect(stopped.stderr).toContain('Stopped: nothing was removed.')
    }
    expect(await usable()).toHaveLength(1)
    expect(await atTerminal([name, verb, id], env, 'y')).toMatchObject({ code: 0 })
    expect(await usable()).toHaveLength(0)
  })

  it('of what is not there says so before it asks', async () => {
    const ran = await runCli(['seat', 'remove', 'none'], env)
    expect(ran).toEqual({ code: 1, stdout: '', stderr: 'There is no seat none\n' })
  })
})
