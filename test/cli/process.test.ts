import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { spawnCli, spawnWithoutReader, temporaryStorage } from '../support/server.js'
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

  it.each([
    ['the overview', ['--help']],
    ['a list', ['messages']],
    ['a report', ['doctor']],
    ['a file', ['export', 'messages']],
    ['a stream', ['tail', '--since', '1']],
    ['the server', ['serve']],
  ])('ends quietly with 141 when its output is closed: %s', async (_name, args) => {
    const storage = args[0] === 'serve' ? { PORT: '0', ...(await temporaryStorage('sqlite')) } : {}
    const ran = await spawnWithoutReader(args, { ...env(), ...storage })
    expect(ran).toEqual({ code: 141, stdout: '', stderr: '' })
  })

  it('keeps its own exit code when it writes nothing to the closed output', async () => {
    const { code, stderr } = await spawnWithoutReader(['account', 'show', 'nobody'], env())
    expect([code, stderr]).toEqual([1, expect.stringContaining('nobody')])
  })
})

it('starts from code that the build has compiled', async () => {
  const { BUNDLE, cacheOf, compileFile } = await import(`${process.cwd()}/dist/bundle/code-cache.js`)
  const modules = readdirSync(BUNDLE).filter((file) => file.endsWith('.cjs'))
  const uncached = modules.filter((file) => {
    const cache = cacheOf(file)
    return !existsSync(cache) || compileFile(join(BUNDLE, file), readFileSync(cache)).cachedDataRejected
  })
  expect(uncached).toEqual([expect.stringMatching(/^import-/)])
})
