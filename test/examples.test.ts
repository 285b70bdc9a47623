import { execFile } from 'node:child_process'
import {
  cpSync,
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

const EXAMPLE = 'examples/vitest-otp'
const { name, files } = JSON.parse(readFileSync('package.json', 'utf8'))
const { dependencies, devDependencies } = JSON.parse(readFileSync(`${EXAMPLE}/package.json`, 'utf8'))

/** The example as somebody has it who copied and installed it; what npm would fetch comes from our own folder. */
describe('the example project', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-example-'))
  beforeAll(() => {
    cpSync(EXAMPLE, folder, { recursive: true })
    const modules = join(folder, 'node_modules')
    mkdirSync(join(modules, '.bin'), { recursive: true })
    mkdirSync(join(modules, name))
    for (const file of ['package.json', ...files])
      cpSync(file, join(modules, name, file), { recursive: true })
    symlinkSync(resolve('node_modules'), join(modules, name, 'node_modules'))
    for (const other of [...Object.keys({ ...dependencies, ...devDependencies }), 'typescript', '@types'])
      if (other !== name) symlinkSync(resolve('node_modules', other), join(modules, other))
    symlinkSync(resolve('node_modules/vitest/vitest.mjs'), join(modules, '.bin/vitest'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const run = (command: string, ...args: string[]) =>
    promisify(execFile)(command, args, {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, CI: '1', NO_COLOR: '1' },
    }).catch((error) => {
      throw new Error(`${error.stdout}\n${error.stderr}`)
    })

  it('passes its own tests', async () => {
    const { stdout } = await run('npm', 'test')
    expect(stdout).toMatch(/Tests +2 passed \(2\)/)
    expect(readdirSync(folder).sort()).toEqual([...readdirSync(EXAMPLE), 'node_modules'].sort())
  }, 120_000)

  it('has types that a strict compiler is content with', async () => {
    await run(process.execPath, 'node_modules/typescript/bin/tsc', '-p', '.')
  }, 120_000)

  it('shows the tests in its README as they are, in under 30 lines', () => {
    const test = readFileSync(`${EXAMPLE}/sign-up.test.ts`, 'utf8')
    const [, shown] = /```ts\n([^`]*)```/.exec(readFileSync(`${EXAMPLE}/README.md`, 'utf8')) ?? []
    expect(shown).toBe(test)
    expect(test.trimEnd().split('\n').length).toBeLessThan(30)
  })
})

describe('the guide to testing', () => {
  const guide = readFileSync('docs/testing.md', 'utf8')

  it('has a test for node:test that passes as it stands', async () => {
    const [, code] = /```js\n(import assert[^`]*)```/.exec(guide) ?? []
    const folder = mkdtempSync(join(tmpdir(), 'trunkline-guide-'))
    try {
      writeFileSync(join(folder, 'guide.test.mjs'), code!)
      mkdirSync(join(folder, 'node_modules'))
      symlinkSync(resolve('.'), join(folder, 'node_modules', name))
      const { stdout } = await promisify(execFile)(process.execPath, [
        '--test',
        '--test-reporter=tap',
        folder,
      ])
      expect(stdout).toContain('# pass 1\n# fail 0')
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }, 60_000)

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
