import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase } from '../support/database.js'
import { installed, type Project } from '../support/packed.js'
import { ENGINES } from '../support/world.js'

const EXAMPLE = 'examples/driver-signal'
const MAIN = 'node_modules/trunkline/dist/main.js'

describe('the example of a driver', () => {
  let project: Project
  beforeAll(() => {
    project = installed(EXAMPLE)
  })
  afterAll(() => project.remove())

  it('compiles and passes its own tests', async () => {
    const { stdout } = await project.run('npm', ['test'])
    expect(stdout).toMatch(/# pass 22\n# fail 0/)
  })

  it.runIf(ENGINES.includes('postgres'))(
    'passes them on PostgreSQL',
    async () => {
      const database = await createDatabase()
      const args = ['--test', '--test-reporter=tap', 'dist/']
      const { stdout } = await project.run(process.execPath, args, { DATABASE_URL: database.url })
      expect(stdout).toMatch(/# pass 22\n# fail 0/)
      await database.release()
    },
    240_000,
  )

  it('is listed by the doctor, from a path and as a package', async () => {
    const { name } = JSON.parse(readFileSync(`${EXAMPLE}/package.json`, 'utf8'))
    symlinkSync(project.folder, join(project.folder, 'node_modules', name))
    for (const from of ['./dist/driver.js', name]) {
      const { stdout } = await project.run(process.execPath, [MAIN, 'doctor', '--port', '0'], {
        TRUNKLINE_DRIVERS: from,
      })
      expect(stdout).toMatch(
        /^ok +drivers +smsgate, phone, smpp, twilio, telnyx, bluebubbles, simulator are built in$/m,
      )
      expect(stdout).toMatch(
        new RegExp(`^ok +driver signal +Signal through signal-cli-rest-api, ${from}$`, 'm'),
      )
    }
  })

  it('keeps a server from starting, and the doctor from content, when it is broken', async () => {
    const broken = readFileSync(join(project.folder, 'dist/driver.js'), 'utf8').replace(
      "'signal'",
      "'Signal!'",
    )
    writeFileSync(join(project.folder, 'dist/broken.js'), broken)
    const env = { TRUNKLINE_DRIVERS: './dist/driver.js, ./dist/broken.js' }
    const fault = 'The driver ./dist/broken.js cannot be used: "kind" must be small letters'
    await expect(project.run(process.execPath, [MAIN, 'serve', '--port', '0'], env)).rejects.toThrow(fault)
    await expect(project.run(process.execPath, [MAIN, 'doctor', '--port', '0'], env)).rejects.toThrow(fault)
  })

  const sources = () =>
    readdirSync(EXAMPLE)
      .filter((name) => /^(?!fake|driver\.test).*\.ts$/.test(name))
      .map((name) => readFileSync(join(EXAMPLE, name), 'utf8'))

  it('is short, and loads nothing but Node and the public part of Trunkline', () => {
    for (const source of sources()) expect(source.trimEnd().split('\n').length).toBeLessThanOrEqual(150)
    const loaded = sources().flatMap((source) =>
      [...source.matchAll(/^import (?!type)[^;]*?from '([^']+)'/gm)].map(([, from]) => from!),
    )
    const outside = new Set(loaded.filter((from) => !from.startsWith('./')))
    expect([...outside].sort()).toEqual(['node:stream/consumers', 'trunkline/driver'])
  })

  it('is shown in the guide as it is', () => {
    const shown = [...readFileSync('docs/drivers.md', 'utf8').matchAll(/```ts\n([^`]*(?:`[^`]+)*?)```/g)]
    expect(shown.length).toBeGreaterThan(8)
    for (const [, code] of shown)
      expect(
        sources().some((source) => source.includes(code!)),
        code,
      ).toBe(true)
  })

  it('has a guide that names everything a driver, a connection and a host must have', () => {
    const guide = readFileSync('docs/drivers.md', 'utf8')
    const driver = readFileSync('src/drivers/contract.ts', 'utf8')
    const host = readFileSync('src/drivers/host.ts', 'utf8')
    const membersOf = (source: string, type: string) =>
      [
        ...(
          new RegExp(`export interface ${type}[^{]*\\{([\\s\\S]*?)\\n\\}`).exec(source)?.[1] ?? ''
        ).matchAll(/^ {2}(\w+)/gm),
      ].map(([, name]) => name!)
    const members = [
      ...membersOf(driver, 'Driver'),
      ...membersOf(driver, 'Connection'),
      ...membersOf(host, 'DriverHost').filter((name) => name !== 'locationsChanged'),
      ...membersOf(host, 'ProbeHost'),
    ]
    expect(members.length).toBeGreaterThan(20)
    expect(members.filter((name) => !new RegExp(`\\b${name}\\b`).test(guide))).toEqual([])
  })
})
