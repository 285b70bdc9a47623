import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { describe, expect, it } from 'vitest'
import { everyCommand } from '../../src/cli/command.js'
import { COMMANDS } from '../../src/cli/commands.js'
import { commandHelp, EXIT } from '../../src/cli/help.js'
import { REFUSALS } from '../../src/cli/mcp/refusal.js'
import { TOOLS } from '../../src/cli/mcp/server.js'
import { runCli } from '../support/cli.js'
import { spawnedClient } from '../support/mcp.js'
import { temporaryDirectory } from '../support/server.js'
import { ADA, createWorld } from '../support/world.js'

/** Verbs that people know from other command lines. */
const VERBS = [
  'serve',
  'send',
  'messages',
  'tail',
  'listen',
  'trigger',
  'wait',
  'why',
  'replay',
  'phones',
  'contacts list',
  'webhooks list',
  'totp code',
  'token create',
  'doctor',
  'export',
  'mcp',
]

describe('docs/cli.md', () => {
  it('is what --help says, to the letter', () => {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/cli-docs.js', '--check'], {
      encoding: 'utf8',
    })
    expect([status, stderr]).toEqual([0, ''])
  })

  it('has every verb, each with an example that its own options allow', async () => {
    expect(COMMANDS.map(({ name }) => name)).toEqual(expect.arrayContaining(VERBS))
    expect(new Set(COMMANDS.map(({ name }) => name)).size).toBe(COMMANDS.length)
    for (const { name, examples, options, summary } of await everyCommand(COMMANDS)) {
      expect([name, summary.length > 5, examples.length > 0]).toEqual([name, true, true])
      for (const example of examples) {
        // The part of the line that calls it, without what the shell makes of it.
        const called = example.slice(example.indexOf('trunkline ')).split(/ [|>] |\)"/)[0]!
        const words = (called.match(/"[^"]*"|'[^']*'|\S+/g) ?? []).map((word) =>
          word.replace(/^["'](.*)["']$/, '$1'),
        )
        const own = [...name.split(' '), 'trunkline']
        const isOwn = words.slice(0, own.length).join(' ') === `trunkline ${name}`
        if (!isOwn) expect(example, name).toContain(`trunkline ${name}`)
        else
          expect(
            () =>
              parseArgs({
                args: words.slice(own.length),
                options: { ...options, json: { type: 'boolean' } },
                allowPositionals: true,
              }),
            example,
          ).not.toThrow()
      }
    }
  })

  it('tells of exit codes that are really used', async () => {
    const world = await createWorld('sqlite')
    const env = { TRUNKLINE_URL: world.app.url() }
    const cases: [string[], number][] = [
      [['--version'], EXIT.done],
      [['messages', '--json'], EXIT.done],
      [['why', 'nothing'], EXIT.failed],
      [['messages', '--url', 'http://127.0.0.1:1'], EXIT.failed],
      [['doctor', '--port', '99999'], EXIT.failed],
      [['send'], EXIT.usage],
      [['messages', '--nonsense'], EXIT.usage],
      [['nonsense'], EXIT.usage],
      [['wait', '--to', ADA, '--timeout', '1ms'], EXIT.waiting],
    ]
    const runs = await Promise.all(cases.map(([args]) => runCli(args, env)))
    expect(cases.map(([args], i) => [args, runs[i]!.code])).toEqual(cases)
    await world.close()
    expect(EXIT).toEqual({ done: 0, failed: 1, usage: 2, waiting: 3, closed: 141 })
    const page = readFileSync('docs/cli.md', 'utf8')
    expect([...page.matchAll(/^\| (\d+) \| /gm)].map(([, code]) => Number(code))).toEqual(Object.values(EXIT))
  })

  it('is the same help that the program prints', async () => {
    const commands = await everyCommand(COMMANDS)
    for (const name of ['export', 'phones', 'webhooks add', 'line add smpp', 'line test smpp', 'line set']) {
      const command = commands.find((one) => one.name === name)!
      expect((await runCli([...name.split(' '), '--help'])).stdout).toBe(`${commandHelp(command)}\n`)
    }
  })
})

describe('docs/mcp.md', () => {
  const page = readFileSync('docs/mcp.md', 'utf8')

  it('knows every tool, every refusal and only options that there are', () => {
    const tables = [...page.matchAll(/^\| `(\w+)` \| (.*?) \|/gm)]
    const told = tables.map(([, name]) => name!)
    expect(told).toEqual([...TOOLS.map(({ name }) => name), ...Object.keys(REFUSALS)])
    for (const [, name, words] of tables.slice(TOOLS.length))
      expect(words).toBe(REFUSALS[name as keyof typeof REFUSALS])
    const { options } = COMMANDS.find(({ name }) => name === 'mcp')!
    const named = [...page.matchAll(/--([a-z][a-z-]+)/g)].map(([, name]) => name!)
    expect(named.length).toBeGreaterThan(10)
    expect(named.filter((name) => !(name in options))).toEqual([])
    const writing = TOOLS.filter(({ isWriting }) => isWriting).map(({ name }) => name)
    for (const [line] of page.matchAll(/^\| `\w+` \| .* \| (?:yes|no).*$/gm))
      expect(line.includes('| yes')).toBe(writing.some((name) => line.includes(`\`${name}\``)))
  })

  it('has a configuration that works as it stands', async () => {
    const world = await createWorld('sqlite')
    const block = JSON.parse(/```json\n([\s\S]*?)```/.exec(page)![1]!).mcpServers.trunkline
    expect([block.command, ...block.args.slice(0, 2)]).toEqual(['npx', 'trunkline', 'mcp'])
    const env = { ...block.env, TRUNKLINE_URL: world.app.url(), TRUNKLINE_MCP_STATE: temporaryDirectory() }
    const client = await spawnedClient(block.args.slice(2), env)
    expect(await client.ask('send_message', { number: ADA, text: 'From the page' })).toMatchObject({
      to: [ADA],
    })
    await client.close()
    await world.close()
  })
})
