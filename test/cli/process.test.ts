import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { spawnCli } from '../support/server.js'
import { ADA, createWorld, LINE, type World } from '../support/world.js'

// Other tests run commands inside themselves. `serve` and `mcp` have processes of their own in their own tests.
describe('a command in a process of its own', () => {
  let world: World
  const env = () => ({ TRUNKLINE_URL: world.app.url() })
  beforeAll(async () => {
    world = await createWorld('sqlite')
    await world.send({ content: 'Hello' })
    await world.settle()
  })
  afterAll(() => world.close())

  it.each([
    ['messages', ['messages', '--json'], 0, ADA],
    ['lines', ['line', 'list', '--json'], 0, LINE],
    ['webhooks', ['webhooks', 'list', '--json'], 0, 'receive'],
    ['sim', ['phones', '--json'], 0, ADA],
    ['admin', ['account', 'list', '--json'], 0, '@'],
    ['admin, refused', ['account', 'show', 'nobody'], 1, 'nobody'],
    ['server', ['doctor', '--jsonn'], 2, '--jsonn'],
  ])('writes and ends as it does here: %s', async (_family, args, code, words) => {
    const spawned = await spawnCli(args, env())
    expect(spawned).toEqual(await runCli(args, env()))
    expect(spawned.code).toBe(code)
    expect(spawned.stdout + spawned.stderr).toContain(words)
  })

  it('reads its standard input', async () => {
    const args = ['send', '--to', ADA, '--from', LINE, '-', '--json']
    const { code, stdout } = await spawnCli(args, env(), 'two\nlines\n')
    expect([code, JSON.parse(stdout).content]).toEqual([0, 'two\nlines'])
  })
})
