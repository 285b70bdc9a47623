import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { atTerminal, runCli } from '../support/cli.js'
import { createPuppet } from '../support/puppet.js'
import { temporaryDirectory } from '../support/server.js'
import { createWorld, type World } from '../support/world.js'

describe('whoever would lose the development keys at a terminal', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld('sqlite', { drivers: [createPuppet()], isReal: false, realTime: true })
  })
  afterAll(() => world.close())

  it('is offered keys of their own before a real line is added', async () => {
    const [account] = (await world.get('/admin/accounts', 'admin')).body.data
    const add = (number: string) => [
      ...['line', 'create', '--account', account.id, '--number', number, '--driver', 'puppet', '--json'],
    ]
    const env = { TRUNKLINE_URL: world.app.url() }
    const added = await atTerminal(add('+13105550140'), env, 'yes')
    expect([added.code, added.stderr]).toEqual([0, expect.stringContaining('the development keys end')])
    expect(JSON.parse(added.stdout).notice).toContain('The development keys have ended')
    expect((await world.get('/admin/lines', 'admin')).status).toBe(401)
    const pairs = [...added.stderr.matchAll(/(tlk_\w+) \/ (tls_\w+)/g)].map(([, id, secret]) => ({
      ...{ id: id!, secret: secret! },
    }))
    expect((await world.get('/admin/lines', pairs[0])).status).toBe(200)
    for (const key of pairs.slice(1)) expect((await world.get('/api/v2/messages', key)).status).toBe(200)
    expect(pairs).toHaveLength(3)
  })

  it('is offered them before a real line is added offline, unless there is an admin key', async () => {
    const env = { TRUNKLINE_DATA: temporaryDirectory() }
    const made = await runCli(['account', 'create', '--email', 'a@example.com', '--offline', '--json'], env)
    const add = (number: string) => [
      ...['line', 'add', 'smpp', '--account', JSON.parse(made.stdout).id, '--number', number, '--no-test'],
      ...['--host', '127.0.0.1', '--port', '2775', '--system-id', 'x', '--offline', '--json'],
    ]
    const secret = { ...env, TRUNKLINE_LINE_PASSWORD: 'secret' }
    const added = await atTerminal(add('+13105550150'), secret, 'yes')
    expect([added.code, added.stderr]).toEqual([0, expect.stringMatching(/admin key {2}tlk_\w+ \/ tls_\w+/)])
    expect(JSON.parse(added.stdout).number).toBe('+13105550150')
    const again = await atTerminal(add('+13105550151'), secret, '')
    expect([again.code, again.stderr]).toEqual([0, expect.not.stringContaining('development keys')])
  })

  it('is offered them when the server starts with settings that expose it', async () => {
    const env = { TRUNKLINE_PUBLIC_URL: 'https://sms.example.org', PORT: '0', LOG_LEVEL: 'silent' }
    const no = await atTerminal(['serve'], { ...env, TRUNKLINE_DATA: temporaryDirectory() }, 'n')
    expect([no.code, no.stderr]).toEqual([1, expect.stringContaining('trunkline init')])
    const yes = await atTerminal(
      ['serve'],
      { ...env, TRUNKLINE_DATA: temporaryDirectory() },
      '',
      /Trunkline is ready/,
    )
    expect([yes.code, yes.stdout]).toEqual([0, expect.stringMatching(/Admin key {2}tlk_\w+ \/ tls_\w+/)])
  })
})
