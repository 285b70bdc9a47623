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
  }, 120_000)

  it('has types that a strict compiler is content with', async () => {
    await project.run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', '.'])
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
