import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { spawnServer, temporaryDirectory } from '../support/server.js'
import { createWorld, credentials, type Json, SHARED_LINE, type World } from '../support/world.js'

describe('the command line', () => {
  let world: World
  let accountId: string
  const cli = (...args: string[]) => runCli(args, { TRUNKLINE_URL: world.app.url() })
  const json = async (...args: string[]): Promise<Json> => {
    const ran = await cli(...args, '--json')
    expect(ran, args.join(' ')).toMatchObject({ code: 0, stderr: '' })
    return JSON.parse(ran.stdout)
  }
  const text = async (...args: string[]): Promise<string> => {
    const ran = await cli(...args)
    expect(ran, args.join(' ')).toMatchObject({ code: 0, stderr: '' })
    return ran.stdout
  }
  const fieldOf = (output: string, name: string) => new RegExp(`^${name} +(.*)$`, 'm').exec(output)?.[1]

  beforeAll(async () => {
    world = await createWorld('sqlite', { realTime: true })
    accountId = (await json('account', 'create', '--email', 'cli@example.com')).id
  })
  afterAll(() => world.close())

  it.each([
    {
      name: 'account',
      removal: 'remove',
      shown: 'email',
      create: (n: number) => ['--email', `user${n}@example.com`, '--name', 'Example Inc.', '--plan', 'free'],
      made: { name: 'Example Inc.', plan: 'free' },
    },
    {
      name: 'key',
      removal: 'revoke',
      shown: 'id',
      create: (n: number) => [
        '--account',
        accountId,
        '--label',
        `label ${n}`,
        ...(n === 2 ? ['--test'] : []),
      ],
      made: { kind: 'live', label: 'label 1', secret: expect.any(String) },
    },
    {
      name: 'line',
      removal: 'remove',
      shown: 'number',
      create: (n: number) => [
        '--account',
        accountId,
        '--number',
        `+1202555014${n}`,
        '--pace',
        '5',
        '--config',
        '{"latency_ms":0}',
      ],
      made: { pace: 5, kind: 'dedicated', driver: 'simulator', config: { latency_ms: 0 } },
    },
    {
      name: 'seat',
      removal: 'remove',
      shown: 'email',
      create: (n: number) => [
        '--account',
        accountId,
        '--email',
        `seat${n}@example.com`,
        '--first-name',
        'Ada',
      ],
      made: { first_name: 'Ada', last_name: null },
    },
  ])(
    'makes, lists, shows and ends a $name, as text and as JSON',
    async ({ name, removal, shown, create, made }) => {
      const first = await json(name, 'create', ...create(1))
      expect(first).toMatchObject(made)
      const created = await text(name, 'create', ...create(2))
      const id = fieldOf(created, 'id')!
      expect(id).toMatch(/^\w[\w-]{4,}$/)

      const listed = await json(name, 'list')
      expect(listed.map((one: Json) => one.id)).toEqual(expect.arrayContaining([first.id, id]))
      const table = (await text(name, 'list')).trimEnd().split('\n')
      expect(table[0]).toMatch(/^id +/)
      expect(table).toHaveLength(listed.length + 1)
      expect(table.some((row) => row.startsWith(id) && row.includes(fieldOf(created, shown)!))).toBe(true)
      if (name !== 'account') {
        expect(await json(name, 'list', '--account', 'none')).toEqual([])
        expect(await text(name, 'list', '--account', 'none')).toBe('(none)\n')
      }

      // The notice about development keys belongs to the moment of creation.
      const { secret, notice: _, ...lasting } = first
      expect(await json(name, 'show', first.id)).toMatchObject({
        ...lasting,
        ...(name === 'line' ? { driven_here: expect.any(Boolean), state: expect.any(String) } : {}),
      })
      expect(fieldOf(await text(name, 'show', id), shown)).toBe(fieldOf(created, shown))
      if (secret) expect(await text(name, 'show', first.id)).not.toContain(secret)

      expect(await json(name, removal, first.id, '--yes')).toMatchObject({ id: first.id })
      expect(fieldOf(await text(name, removal, id, '--yes'), 'id')).toBe(id)
      if (removal === 'revoke') expect((await json(name, 'show', id)).revoked_at).toMatch(/^20\d\d-.*Z$/)
      else {
        const again = await cli(name, removal, id)
        expect(again).toEqual({ code: 1, stdout: '', stderr: `There is no ${name} ${id}\n` })
      }
    },
  )

  it('changes and shares lines', async () => {
    const lines = await json('line', 'list')
    const shared = lines.find((line: Json) => line.number === SHARED_LINE && line.world === 'live')
    expect(await json('line', 'set', shared.id, '--pace', '2', '--on-unknown', 'resend')).toMatchObject({
      pace: 2,
      on_unknown: 'resend',
    })
    expect(fieldOf(await text('line', 'set', shared.id, '--settle-ms', '7'), 'settle_ms')).toBe('7')
    expect(await json('line', 'set', shared.id, '--blocked', 'yes')).toMatchObject({
      blocked_at: expect.any(String),
    })
    expect(await json('line', 'set', shared.id, '--blocked', 'no')).toMatchObject({ blocked_at: null })
    expect((await json('line', 'share', shared.id, '--account', accountId)).members).toContain(accountId)
    expect(await json('line', 'unshare', shared.id, '--account', accountId, '--yes')).toMatchObject({
      removed: true,
    })
    expect((await json('line', 'show', shared.id)).members).not.toContain(accountId)
  })

  it('sets where calls go: of an account, a seat and a line', async () => {
    const number = '+12025550177'
    const company = (...value: string[]) =>
      json('account', 'set', accountId, '--default-forwarding-number', ...value)
    expect(await company('(202) 555-0177')).toMatchObject({ default_forwarding_number: number })
    expect(await company('none')).toMatchObject({ default_forwarding_number: null })
    const named = await cli('account', 'set', accountId, '--name', 'Example Ltd.', '--json')
    expect(JSON.parse(named.stdout)).toMatchObject({ name: 'Example Ltd.' })
    const line = await json('line', 'create', '--account', accountId, '--number', '+12025550146')
    const who = ['--account', accountId, '--email', 'calls@example.com']
    const seat = await json('seat', 'create', ...who, '--forwarding-number', number)
    expect(seat).toMatchObject({ forwarding_number: number })
    expect(await json('seat', 'set', seat.id, '--forwarding-number', 'none')).toMatchObject({
      forwarding_number: null,
    })
    expect(await json('line', 'set', line.id, '--seat', seat.id)).toMatchObject({ seat_id: seat.id })
    expect(await json('line', 'set', line.id, '--seat', 'none')).toMatchObject({ seat_id: null })
    const refused = await cli('seat', 'set', seat.id, '--forwarding-number', '911')
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining('forwarding_number: must not be an emergency number'),
    ])
  })

  it('ends with 2, a reason and the place of the help when it is called wrongly', async () => {
    const wrong: [string[], string][] = [
      [['dance'], 'There is no command "dance"'],
      [['account', 'dance'], 'There is no command "account dance"'],
      [['account', 'create'], '--email is required'],
      [['account', 'list', '--colour'], 'trunkline account list has no option --colour.'],
      [['account', 'show'], 'Give one id'],
      [['account', 'show', 'a', 'b'], 'Give one id'],
      [['key', 'create'], 'either --account or --admin'],
      [
        ['line', 'create', '--account', 'a', '--number', '+12025550150', '--pace', 'fast'],
        '--pace must be a whole number, not "fast"',
      ],
      [['line', 'set', 'a', '--config', '{'], '--config must be JSON'],
      [['line', 'set', 'a', '--blocked', 'maybe'], '--blocked must be yes or no'],
    ]
    for (const [args, message] of wrong) {
      const { code, stdout, stderr } = await cli(...args)
      expect([code, stdout], args.join(' ')).toEqual([2, ''])
      expect(stderr).toContain(message)
      expect(stderr).toMatch(/^.+\n(See|List them with) trunkline [a-z ]*--help\.\n$/)
    }
  })

  it('ends with 1 and a reason when the server says no, or nobody answers', async () => {
    const failing: [string[], Record<string, string>, string | RegExp][] = [
      [
        ['account', 'create', '--email', 'cli@example.com'],
        {},
        'There is an account for cli@example.com already',
      ],
      [['account', 'create', '--email', 'nonsense'], {}, /^email: /],
      [['line', 'create', '--account', accountId, '--number', '123'], {}, /^number: /],
      [['account', 'list'], { TRUNKLINE_API_SECRET_KEY: 'wrong' }, 'TRUNKLINE_API_SECRET_KEY'],
      [
        ['account', 'list'],
        { TRUNKLINE_API_KEY_ID: 'dev-live-key', TRUNKLINE_API_SECRET_KEY: 'dev-live-secret' },
        'This needs an admin key',
      ],
      [['account', 'list', '--url', 'http://127.0.0.1:1'], {}, 'No server answers at http://127.0.0.1:1'],
      [['account', 'list', '--offline'], { TRUNKLINE_DATA: '/dev/null/no' }, /\S/],
      [['serve', '--port', 'door'], {}, 'PORT must be a whole number'],
      [['serve', '--database-url', 'mysql://localhost'], {}, 'DATABASE_URL must start with postgres://'],
      [['serve', '--log-level', 'loud'], {}, 'LOG_LEVEL must be'],
    ]
    for (const [args, env, message] of failing) {
      const { code, stdout, stderr } = await runCli(args, { TRUNKLINE_URL: world.app.url(), ...env })
      expect([code, stdout], args.join(' ')).toEqual([1, ''])
      expect(stderr).toMatch(message)
      expect(stderr, 'no stack trace').not.toMatch(/^\s+at /m)
    }
  })

  it('explains itself everywhere, with examples', async () => {
    const overview = await text('--help')
    for (const args of [[], ['help']]) expect(await text(...args)).toBe(overview)
    expect(await text('--version')).toMatch(/^\d+\.\d+\.\d+\n$/)
    const commands = [
      ...overview.matchAll(/^ {2}((?:serve|account|key|line|seat)(?: [a-z]+)?) {2,}\S/gm),
    ].map((match) => match[1]!)
    expect(commands).toHaveLength(1 + 4 * 4 + 4 + 8)
    const helps = [...commands, 'account', 'key', 'line', 'seat'].map((command) => command.split(' '))
    for (let i = 0; i < helps.length; i += 4) {
      const shown = await Promise.all(helps.slice(i, i + 4).map((args) => text(...args, '--help')))
      shown.forEach((help, n) => {
        const name = helps[i + n]!.join(' ')
        expect(help).toContain(`Usage: trunkline ${name}`)
        expect(help, name).toMatch(/\nExamples:\n {2}trunkline \S/)
        if (commands.includes(name)) expect(help).toContain('--json')
      })
    }
    expect(overview).toContain('Examples:')
  })

  it('lets no control character of stored text reach the terminal', async () => {
    const nasty = 'red\u001b[31m bell\u0007 next\nline csi\u009b2J del\u007f'
    const made = await fetch(`${world.app.url()}/admin/accounts`, {
      method: 'POST',
      headers: { ...credentials('admin'), 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'nasty\u001b[2J@example.com', name: nasty }),
    })
    const { id } = (await made.json()) as Json
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
    const control = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/
    const record = await text('account', 'show', id)
    expect(fieldOf(record, 'name')).toBe('red�[31m bell� next�line csi�2J del�')
    const outputs = [
      record,
      await text('account', 'list'),
      (await cli('account', 'show', id, '--json')).stdout,
    ]
    const clash = await cli('account', 'create', '--email', 'nasty\u001b[2J@example.com')
    expect(clash).toMatchObject({ code: 1, stderr: expect.stringContaining('already') })
    for (const output of [...outputs, clash.stderr]) expect(output).not.toMatch(control)
    expect(JSON.parse(outputs[2]!).name, 'programs get it as it is').toBe(nasty)
    await json('account', 'remove', id, '--yes')
  })

  it('works on the database itself while no server runs, and only then', async () => {
    const env = { TRUNKLINE_DATA: temporaryDirectory() }
    const key = await runCli(['key', 'create', '--admin', '--label', 'mine', '--offline', '--json'], env)
    expect(key).toMatchObject({ code: 0, stderr: '' })
    const made = JSON.parse(key.stdout)
    expect(made).toMatchObject({ kind: 'admin', account_id: null, label: 'mine', secret: expect.any(String) })
    const there = ['--offline', '--data', env.TRUNKLINE_DATA]
    const account = await runCli(['account', 'create', '--email', 'me@example.com', ...there])
    expect(account.code).toBe(0)
    const own = await spawnServer({ env })
    expect(own.output, 'no development keys beside keys of your own').not.toContain('dev-live-key')
    const client = {
      TRUNKLINE_URL: own.url,
      TRUNKLINE_API_KEY_ID: made.id,
      TRUNKLINE_API_SECRET_KEY: made.secret,
    }
    const list = await runCli(['account', 'list', '--json'], client)
    expect(JSON.parse(list.stdout)).toMatchObject([
      { id: fieldOf(account.stdout, 'id'), email: 'me@example.com' },
    ])
    const beside = await runCli(['key', 'list', '--offline'], env)
    expect(beside).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('is in use by another Trunkline'),
    })
    await own.kill()
  })
})
