import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { temporaryDirectory } from '../support/server.js'
import { createWorld, credentials, type Json, LINE, type World } from '../support/world.js'

const HOOK = 'https://hooks.example.com/in'

describe('trunkline webhooks', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld('sqlite', { realTime: true })
  })
  afterAll(() => world.close())
  const cli = (args: string[], env: Record<string, string> = {}) =>
    runCli(['webhooks', ...args], { TRUNKLINE_URL: world.app.url(), ...env })
  const run = async (...args: string[]) => {
    const ran = await cli(args)
    expect(ran, args.join(' ')).toMatchObject({ code: 0, stderr: '' })
    return ran.stdout
  }
  const configured = async () => {
    const reply = await fetch(`${world.app.url()}/api/account/webhooks`, { headers: credentials('live') })
    return ((await reply.json()) as Json).webhooks
  }

  it('adds, lists and removes', async () => {
    expect(await run('list')).toBe('(none)\n')
    await run('add', HOOK, `${HOOK}/2`)
    const file = join(temporaryDirectory(), 'secret')
    writeFileSync(file, 'canary-secret\n')
    await run('add', `${HOOK}/3`, '--lines', LINE, '--retries', 'extended', '--secret-file', file)
    const added = await run('add', HOOK, '--type', 'outbound')
    expect(added.trimEnd().split('\n')).toHaveLength(2)
    const third = {
      url: `${HOOK}/3`,
      sendblue_numbers: [LINE],
      retry_schedule: 'extended',
      secret: 'canary-secret',
    }
    expect(await configured()).toMatchObject({ receive: [HOOK, `${HOOK}/2`, third], outbound: [HOOK] })

    const table = await run('list')
    expect(table).not.toContain('canary')
    expect(table.split('\n').map((row) => row.split(/ {2,}/))).toEqual([
      ['type', 'url', 'secret', 'lines', 'retries'],
      ['receive', HOOK, '-', 'all', 'standard'],
      ['receive', `${HOOK}/2`, '-', 'all', 'standard'],
      ['receive', `${HOOK}/3`, 'own', LINE, 'extended'],
      ['outbound', HOOK, '-', 'all', 'standard'],
      [''],
    ])
    expect(JSON.parse(await run('list', '--json'))).toEqual(await configured())
    expect(JSON.parse(await run('list', '--type', 'receive', '--json'))).toEqual({
      receive: [HOOK, `${HOOK}/2`, third],
    })

    expect(JSON.parse(await run('remove', HOOK, `${HOOK}/3`, '--json'))).toEqual({
      message: 'Webhooks deleted successfully',
    })
    await run('remove', HOOK, '--type', 'outbound')
    expect(await configured()).toMatchObject({ receive: [`${HOOK}/2`], outbound: [] })
  })

  it('ends with 1 and a reason, or 2 and the help', async () => {
    const failing: [string[], Record<string, string>, number, RegExp][] = [
      [['add'], {}, 2, /Give at least one URL.*\nSee trunkline webhooks add --help\./],
      [['remove'], {}, 2, /Give at least one URL/],
      [['list', 'x'], {}, 2, /See trunkline webhooks list --help\./],
      [['add', HOOK, '--secret', 'x'], {}, 2, /has no option --secret\./],
      [['add', 'http://example.com'], {}, 1, /^webhooks.0: must be an https URL\n$/],
      [['add', HOOK, '--type', 'x'], {}, 1, /^type: must be one of receive, /],
      [
        ['add', HOOK, '--secret-file', '/nowhere/at/all'],
        {},
        1,
        /^The file \/nowhere\/at\/all cannot be read/,
      ],
      [
        ['list'],
        { TRUNKLINE_API_SECRET_KEY: 'wrong' },
        1,
        /TRUNKLINE_API_SECRET_KEY to a key of the account/,
      ],
      [
        ['list'],
        { TRUNKLINE_API_KEY_ID: 'dev-admin-key', TRUNKLINE_API_SECRET_KEY: 'dev-admin-secret' },
        1,
        /^This needs a key of an account/,
      ],
      [['list', '--url', 'http://127.0.0.1:1'], {}, 1, /^No server answers at .* "trunkline serve"\.\n$/],
    ]
    for (const [args, env, code, words] of failing) {
      const ran = await cli(args, env)
      expect([args.join(' '), ran.code, ran.stdout]).toEqual([args.join(' '), code, ''])
      expect(ran.stderr).toMatch(words)
    }
    expect(await run('--help')).toMatch(/Usage: trunkline webhooks <command>[\s\S]*webhooks remove/)
  })
})
