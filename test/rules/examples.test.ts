import { execFile } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installed, type Project } from '../support/packed.js'
import { spawnServer } from '../support/server.js'
import { endWithUs } from '../support/watchdog.js'
import { credentials } from '../support/world.js'

const EXAMPLE = 'examples/vitest-otp'
const { name } = JSON.parse(readFileSync('package.json', 'utf8'))

describe('the example project', () => {
  let project: Project
  beforeAll(() => {
    project = installed(EXAMPLE)
  })
  afterAll(() => project.remove())

  it('passes its own tests', async () => {
    const { stdout } = await project.run('npm', ['test'])
    expect(stdout).toMatch(/Tests +2 passed \(2\)/)
    expect(readdirSync(project.folder).sort()).toEqual([...readdirSync(EXAMPLE), 'node_modules'].sort())
  })

  it('has types that a strict compiler is content with', async () => {
    await project.run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', '.'])
  })

  it('shows the tests in its README as they are, in under 30 lines', () => {
    const test = readFileSync(`${EXAMPLE}/sign-up.test.ts`, 'utf8')
    const [, shown] = /```ts\n([^`]*)```/.exec(readFileSync(`${EXAMPLE}/README.md`, 'utf8')) ?? []
    expect(shown).toBe(test)
    expect(test.trimEnd().split('\n').length).toBeLessThan(30)
  })
})

describe('the guide to testing', () => {
  const guide = readFileSync('docs/testing.md', 'utf8')
  /** The code of the guide that starts with these words. */
  const codeOf = (start: string): string => {
    const code = [...guide.matchAll(/^```\w+\n([\s\S]*?)^```/gm)].find(([, text]) => text!.startsWith(start))
    return code![1]!
  }
  /** Runs a Node program in a folder with these files. */
  async function runIn(files: Record<string, string>, args: string[], env: Record<string, string> = {}) {
    const folder = mkdtempSync(join(tmpdir(), 'trunkline-guide-'))
    try {
      for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text)
      mkdirSync(join(folder, 'node_modules'))
      symlinkSync(resolve('.'), join(folder, 'node_modules', name))
      symlinkSync(resolve('node_modules/vitest'), join(folder, 'node_modules/vitest'))
      const running = promisify(execFile)(process.execPath, args, {
        cwd: folder,
        env: { PATH: process.env.PATH, HOME: process.env.HOME, CI: '1', NO_COLOR: '1', ...env },
      })
      endWithUs(running.child)
      return (await running).stdout
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }

  it('has a test for node:test that passes as it stands', async () => {
    const stdout = await runIn({ 'guide.test.mjs': codeOf('import assert') }, [
      '--test',
      '--test-reporter=tap',
    ])
    expect(stdout).toContain('# pass 1\n# fail 0')
  })

  it.each([
    ['vitest', [resolve('node_modules/vitest/vitest.mjs'), 'run'], /Tests +4 passed \(4\)/],
    ['node:test', ['--test', '--test-reporter=tap'], /# pass 4\n# fail 0/],
  ] as const)(
    'has a parallel suite for %s that passes on one server and leaves no world',
    async (runner, args, passed) => {
      const server = await spawnServer()
      const suite = codeOf(`// ${runner}: `)
      const files = Object.fromEntries(['a', 'b', 'c', 'd'].map((file) => [`${file}.test.js`, suite]))
      const project = { 'world.js': codeOf('// world.js'), 'package.json': '{ "type": "module" }' }
      const stdout = await runIn({ ...files, ...project }, [...args], { TRUNKLINE_URL: server.url })
      expect(stdout).toMatch(passed)
      const left = await fetch(`${server.url}/sim/worlds`, { headers: credentials('test') })
      expect(await left.json()).toEqual({ data: [] })
      await server.kill()
    },
    120_000,
  )

  it('names every member of a world and every option', () => {
    const source = readFileSync('src/testing/trunkline.ts', 'utf8')
    const membersOf = (type: string) =>
      [
        ...(new RegExp(`export interface ${type} \\{([\\s\\S]*?)\\n\\}`).exec(source)?.[1] ?? '').matchAll(
          /^ {2}(?:readonly )?(\w+)/gm,
        ),
      ].map(([, member]) => member!)
    const members = [...membersOf('Trunkline'), ...membersOf('TrunklineOptions')]
    expect(members.length).toBeGreaterThan(15)
    expect(members.filter((member) => !guide.includes(`| \`${member}`))).toEqual([])
  })
})
