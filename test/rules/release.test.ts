import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { stdioClient } from '../support/mcp.js'
import { temporaryDirectory } from '../support/server.js'
import { createWorld } from '../support/world.js'

const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
const CHANGELOG = readFileSync('CHANGELOG.md', 'utf8')
const WORKFLOWS = '.github/workflows'

/** Runs the check of a release against other files than ours. */
function check(tag: string, changelog: string) {
  const folder = temporaryDirectory()
  mkdirSync(join(folder, 'scripts'))
  for (const file of ['package.json', 'scripts/check-release.js']) cpSync(file, join(folder, file))
  writeFileSync(join(folder, 'CHANGELOG.md'), changelog)
  const { status, stderr } = spawnSync(process.execPath, ['scripts/check-release.js', tag], {
    cwd: folder,
    encoding: 'utf8',
  })
  return { status, stderr }
}

describe('the version in package.json', () => {
  it('is what the command line, the API document, the console and agents are told', async () => {
    expect((await runCli(['--version'])).stdout).toBe(`${version}\n`)
    const world = await createWorld('sqlite')
    try {
      const get = async (path: string) => (await world.call('GET', path, { as: null })).body
      expect((await get('/openapi.json')).info.version).toBe(version)
      expect((await get('/console/session')).version).toBe(version)
      const mcp = await stdioClient([], {
        TRUNKLINE_URL: world.app.url(),
        TRUNKLINE_MCP_STATE: temporaryDirectory(),
      })
      expect(mcp.client.getServerVersion()?.version).toBe(version)
      await mcp.close()
    } finally {
      await world.close()
    }
  })

  it('has no copy in the code', () => {
    const files = ['src', 'console/src', 'scripts', 'bench'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name)),
    )
    expect(files.length).toBeGreaterThan(500)
    expect(files.filter((file) => readFileSync(file, 'utf8').includes(`'${version}'`))).toEqual([])
  })

  it('is in the lockfile and is the newest of the changelog', () => {
    const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'))
    expect([lock.version, lock.packages[''].version]).toEqual([version, version])
    const [, newest, day] = /^## \[(.+?)\] - (.+)$/m.exec(CHANGELOG) ?? []
    expect(newest).toBe(version)
    expect(day).toMatch(/^(unreleased|\d{4}-\d{2}-\d{2})$/)
  })
})

describe('a release', () => {
  const released = CHANGELOG.replace(/^(## \[.+?\]) - .+$/m, '$1 - 2026-01-31')

  it('goes out under the tag of its version, with its day', () => {
    expect(check(`v${version}`, released)).toEqual({ status: 0, stderr: '' })
  })

  it.each([
    ['another tag', 'v99.0.0', released, /The tag is v99\.0\.0/],
    ['a changelog of another version', `v${version}`, released.replace(version, '98.0.0'), /98\.0\.0/],
    ['a version without its day', `v${version}`, released.replace('2026-01-31', 'unreleased'), /no date/],
  ])('is refused with %s', (_, tag, changelog, reason) => {
    const { status, stderr } = check(tag, changelog)
    expect(status).toBe(1)
    expect(stderr).toMatch(reason)
  })

  it('is checked and signed before it is published, by actions of a stated version', () => {
    const publish = readFileSync(join(WORKFLOWS, 'publish.yml'), 'utf8')
    expect(publish).toMatch(/^ +id-token: write$/m)
    const steps = [...publish.matchAll(/^ +- run: (.+)$/gm)].map(([, command]) => command!)
    expect(steps.at(0)).toContain('scripts/check-release.js')
    expect(steps.indexOf('bash .ci/run')).toBeGreaterThan(0)
    expect(steps.at(-1)).toBe('npm publish --provenance --access public')
    for (const file of readdirSync(resolve(WORKFLOWS)))
      for (const [, action] of readFileSync(join(WORKFLOWS, file), 'utf8').matchAll(/uses: (.+)$/gm))
        expect(action).toMatch(/@v\d+$/)
  })
})
