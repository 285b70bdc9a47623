import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Driver } from '../../src/drivers/contract.js'
import { createSmsc, type Smsc } from '../peers/smsc.js'
import { runCli } from '../support/cli.js'
import { dumpOf } from '../support/dump.js'
import { temporaryDirectory, temporaryStorage } from '../support/server.js'
import { createWorld, type Json, LINE, type World } from '../support/world.js'

const SECRET = 'xyzzy-9'
const NUMBER = '+13105550171'

describe('lines on the command line', () => {
  let world: World
  let smsc: Smsc
  let account: string
  let file: string
  beforeAll(async () => {
    ;[world, smsc] = await Promise.all([
      createWorld('sqlite', { realTime: true, isReal: true }),
      createSmsc(),
    ])
    account = (await world.get('/admin/accounts', 'admin')).body.data[0].id
    file = join(temporaryDirectory(), 'password')
    writeFileSync(file, `${SECRET}\n`)
    const drivers = world.app.ctx.drivers as Map<string, Driver>
    // The driver of this test finds whatever the test needs.
    drivers.set('smpp', {
      ...drivers.get('smpp')!,
      probe: async ({ config }) => [
        { ok: true, what: `Something listens on port ${config.port}` },
        config.system_id === 'me'
          ? { ok: true, what: 'The carrier let us in' }
          : { ok: false, what: `Not let in with ${config.password}`, advice: 'Ask the carrier' },
      ],
    })
    drivers.set('pigeon', {
      ...drivers.get('simulator')!,
      kind: 'pigeon',
      title: 'Carrier pigeons',
      config: {
        type: 'object',
        properties: {
          loft: { type: 'string', description: 'Where they live' },
          whistle: { type: 'string', secret: true, description: 'What calls them' },
        },
        required: ['loft', 'whistle'],
      },
      probe: async ({ config }) => [{ ok: true, what: `They came home to ${config.loft}` }],
    })
  })
  afterAll(async () => {
    await world?.close()
    await smsc?.close()
  })

  const cli = (args: string[], env: Record<string, string> = {}, input?: string) =>
    runCli(args, { TRUNKLINE_URL: world.app.url(), ...env }, input)
  const own = (systemId: string, ...more: string[]) => [
    ...['--number', NUMBER, '--host', '127.0.0.1', '--port', String(smsc.port), '--system-id', systemId],
    ...more,
  ]
  const lines = async () =>
    (await world.get('/admin/lines', 'admin')).body.data.filter((one: Json) => one.driver === 'smpp')
  const binds = () => smsc.heard.filter(({ command }) => command.startsWith('bind_'))

  it('knows the built-in drivers without a server, and what each of them needs', async () => {
    const [listed, unknown, help] = await Promise.all([
      runCli(['line', 'add']),
      runCli(['line', 'add', 'pigeon']),
      runCli(['line', 'add', 'smpp', '--help']),
    ])
    expect([listed.code, listed.stdout]).toEqual([0, expect.stringMatching(/^smpp +SMS through/m)])
    expect([unknown.code, unknown.stderr]).toEqual([
      2,
      expect.stringMatching(/^There is no driver "pigeon"\. Use smsgate, phone, smpp, twilio, telnyx/),
    ])
    expect(help.stdout).toMatch(/--port <value> +usually 2775.*\(required\)$/m)
    expect(help.stdout).toMatch(/--password-file <value> +.*TRUNKLINE_LINE_PASSWORD/)
    expect(help.stdout).not.toMatch(/--password /)
    expect(help.stdout).toContain(
      '--host smsc.example.com --port 2775 --system-id me --password-file smpp.password\n',
    )
  })

  it("knows the operator's own drivers from the server, and changes their settings", async () => {
    const number = '+13105550172'
    const here = (args: string[]) => runCli([...args, '--url', world.app.url()])
    const help = await here(['line', 'add', 'pigeon', '--help'])
    const missing = await here(['line', 'add', 'pigeon', '--account', account, '--number', number])
    expect(help.stdout).toMatch(/^Add a line: Carrier pigeons$/m)
    expect(help.stdout).toMatch(/--loft <value> +where they live \(required\)$/m)
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringMatching(/^--whistle-file is required/) })
    const args = ['--number', number, '--loft', 'Attic', '--whistle-file', file]
    const tested = await here(['line', 'test', 'pigeon', ...args])
    expect(tested).toEqual({ code: 0, stdout: '✓ They came home to Attic\n', stderr: '' })
    const added = await here(['line', 'add', 'pigeon', '--account', account, ...args, '--json'])
    const { id, config } = JSON.parse(added.stdout)
    expect(config).toEqual({ loft: 'Attic', whistle: '(kept)' })
    expect((await here(['line', 'set', id, '--loft', 'Tower'])).stderr).toBe(
      'config.whistle: give it again: it was saved for attic, and is sent nowhere else\n',
    )
    const changed = await here(['line', 'set', id, '--loft', 'Tower', '--whistle-file', file, '--json'])
    expect(JSON.parse(changed.stdout).config).toEqual({ loft: 'Tower', whistle: '(kept)' })
    const bad = await here(['line', 'set', id, '--config', '{"whistle":"x"}'])
    expect(bad).toMatchObject({ code: 2, stderr: expect.stringMatching(/^whistle is a secret/) })
    expect(await here(['line', 'set', id, '--nest', 'x'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/has no option --nest\./),
    })
    expect((await here(['line', 'remove', id, '--yes'])).code).toBe(0)
  })

  it('tries settings out, says what is wrong, and ends with 1', async () => {
    const add = ['line', 'add', 'smpp', '--account', account, ...own('stranger', '--password-file', file)]
    const [good, bad, refused] = await Promise.all([
      cli(['line', 'test', 'smpp', ...own('me', '--password-stdin')], {}, `${SECRET}\n`),
      cli(['line', 'test', 'smpp', ...own('stranger')], { TRUNKLINE_LINE_PASSWORD: SECRET }),
      cli(add),
    ])
    expect(good).toEqual({
      code: 0,
      stdout: `✓ Something listens on port ${smsc.port}\n✓ The carrier let us in\n`,
      stderr: '',
    })
    expect(bad).toEqual({
      code: 1,
      stdout: `✓ Something listens on port ${smsc.port}\n✗ Not let in with (kept)\n  Ask the carrier\n`,
      stderr: 'The test failed.\n',
    })
    expect([refused.code, refused.stdout]).toEqual([1, ''])
    expect(refused.stderr).toContain('✗ Not let in with (kept)\n  Ask the carrier\n')
    expect(refused.stderr).toContain('--no-test adds it without a test')
    expect(await lines()).toEqual([])
  })

  it('adds a line, shows it, changes it live, tests it by its number and removes it', async () => {
    const added = await cli([
      ...['line', 'add', 'smpp', '--account', account, ...own('me', '--password-file', file)],
      ...['--rate', '50', '--tls', 'no', '--alphabet', 'latin1', '--pace', '20', '--json'],
    ])
    expect(added).toMatchObject({ code: 0, stderr: expect.stringContaining('✓ The carrier let us in') })
    const line = JSON.parse(added.stdout)
    expect(line).toMatchObject({
      number: NUMBER,
      driver: 'smpp',
      pace: 20,
      config: { port: smsc.port, password: '(kept)', rate: 50, tls: false, alphabet: 'latin1' },
    })
    const bound = (...passwords: string[]) =>
      expect.poll(() => binds().map(({ password }) => password)).toEqual(passwords)
    await bound(SECRET)
    const [shown, listed] = await Promise.all([cli(['line', 'show', line.id]), cli(['line', 'list'])])
    expect(shown.stdout).toContain('"password":"(kept)"')
    expect(listed.stdout).toContain(NUMBER)

    const set = await cli(['line', 'set', line.id, '--rate', 'none', '--window', '3', '--json'])
    expect([set.code, set.stderr]).toEqual([0, ''])
    const { rate: _, ...rest } = line.config
    expect(JSON.parse(set.stdout).config).toEqual({ ...rest, window: 3 })
    await bound(SECRET, SECRET)
    await cli(['line', 'set', line.id, '--password-stdin'], {}, 'plugh-1')
    await bound(SECRET, SECRET, 'plugh-1')
    // Variables of the environment are for new lines.
    await cli(['line', 'set', line.id, '--pace', '5'], { TRUNKLINE_LINE_PASSWORD: 'nothing' })
    const [tested, nothing] = await Promise.all([
      cli(['line', 'test', NUMBER, '--json']),
      cli(['line', 'test', '+13105550199']),
    ])
    expect([tested.code, JSON.parse(tested.stdout)]).toMatchObject([0, { ok: true, findings: [{}, {}] }])
    expect(nothing).toMatchObject({ code: 1, stderr: 'There is no line +13105550199\n' })
    expect(binds().at(-1)!.password).toBe('plugh-1')
    expect((await cli(['line', 'remove', line.id, '--yes'])).code).toBe(0)
    expect(await lines()).toEqual([])
  })

  it('wrong usage is named, and ends with 2', async () => {
    const add = ['line', 'add', 'smpp', '--account', 'x', '--number', NUMBER]
    const config = ['--driver', 'smpp', '--config', '{"password":"x"}']
    const cases: [string[], string][] = [
      [['line', 'add', 'smpp', '--number', NUMBER], '--account is required'],
      [[...add, '--port', 'high'], '--port must be a whole number from 1 to 65535'],
      [[...add, '--tls', 'maybe'], '--tls must be yes or no'],
      [add, '--password-file is required, or --password-stdin, or TRUNKLINE_LINE_PASSWORD'],
      [[...add, '--password-file', '/nowhere'], '--password-file: /nowhere cannot be read (ENOENT)'],
      [[...add, '--password', 'x'], 'trunkline line add smpp has no option --password.'],
      [
        ['line', 'create', '--account', 'x', '--number', NUMBER, ...config],
        'password is a secret and must not be on the command line: use --password-file or',
      ],
    ]
    const runs = await Promise.all(cases.map(([args]) => cli(args)))
    for (const [i, [args, words]] of cases.entries()) {
      const { code, stdout, stderr } = runs[i]!
      expect([args, code, stdout, stderr.slice(0, words.length)]).toEqual([args, 2, '', words])
    }
  })

  it('what the server refuses, and what is no setting of that line, is said by name', async () => {
    const refused = await cli(
      ['line', 'add', 'smpp', '--account', account, '--number', NUMBER, '--port', '70000'],
      { TRUNKLINE_LINE_PASSWORD: 'far too long'.repeat(6) },
    )
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toBe(
      'config.host: is required; config.system_id: is required; config.port: must be a whole number from 1 to 65535; config.password: must be text of at most 64 characters\n',
    )
    const line = (await world.get('/admin/lines', 'admin')).body.data.find((one: Json) => one.number === LINE)
    const foreign = await cli(['line', 'set', line.id, '--port', '1'])
    expect(foreign).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^--port is not a setting of the driver simulator/),
    })
    const kept = await cli(['line', 'set', line.id, '--config', '{"latency_ms":5}'])
    expect([kept.code, kept.stdout]).toEqual([0, expect.stringContaining('"latency_ms":5')])
  })

  it('works offline, too', async () => {
    const env = await temporaryStorage('sqlite')
    const made = await runCli(['account', 'create', '--email', 'a@example.com', '--offline', '--json'], env)
    const { id } = JSON.parse(made.stdout)
    const args = ['line', 'add', 'simulator', '--account', id, '--number', NUMBER, '--latency-ms', '0']
    const added = await runCli([...args, '--services', 'SMS,RCS', '--offline', '--json'], env)
    expect(added).toMatchObject({ code: 0, stderr: '✓ Virtual phones need no connection\n' })
    expect(JSON.parse(added.stdout).config).toEqual({ latency_ms: 0, services: ['SMS', 'RCS'] })
  })

  it('left the secret nowhere', async () => {
    const kept = `${world.logs.join('\n')}${await dumpOf(world.app)}`
    for (const secret of [SECRET, 'plugh-1']) expect(kept).not.toContain(secret)
  })
})
