import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest'
import { npmInstall, runIn } from '../support/packed.js'
import { eventually } from '../support/server.js'
import { endWithUs } from '../support/watchdog.js'

/** The package as people get it: packed, installed by npm into an empty project, without our lockfile and overrides. */

const SCENARIO = `async function roundTrip() {
  const world = await createTrunkline()
  try {
    const ada = world.phone('+12025550101')
    await world.request('POST', '/api/send-message', { number: ada.number, from_number: world.line, content: 'Code 481516' })
    return (await ada.waitForMessage({ extract: 'otp' })).extracted
  } finally {
    await world.close()
  }
}
`
const IMPORT = "import { createTrunkline } from 'trunkline'\n"
const REQUIRE = "const { createTrunkline } = require('trunkline')\n"
/** As it stands in the guide. */
const [, JEST_GUIDE = ''] =
  /^## In Jest\n\n```js\n([\s\S]*?)^```/m.exec(readFileSync('docs/testing.md', 'utf8')) ?? []
const VITEST_TEST = "test('a code arrives', async () => expect(await roundTrip()).toBe('481516'))\n"
const NODE_TEST = "test('a code arrives', async () => assert.equal(await roundTrip(), '481516'))\n"
const FILES: Record<string, string> = {
  'package.json': '{ "name": "empty", "private": true }',
  'jest/code.test.js': JEST_GUIDE,
  'vitest/code.test.mjs': `import { expect, test } from 'vitest'\n${IMPORT}${SCENARIO}${VITEST_TEST}`,
  'node/code.mjs': `import assert from 'node:assert'\nimport test from 'node:test'\n${IMPORT}${SCENARIO}${NODE_TEST}`,
  'node/code.cjs': `const assert = require('node:assert')\nconst test = require('node:test')\n${REQUIRE}${SCENARIO}${NODE_TEST}`,
  'types/code.mts': `${IMPORT}export const url: Promise<string> = createTrunkline().then((world) => world.url)\n`,
  'types/code.cts': `import trunkline = require('trunkline')
import driver = require('trunkline/driver')
export const url: Promise<string> = trunkline.createTrunkline().then((world) => world.url)
export const phone = (world: trunkline.Trunkline): trunkline.Phone => world.phone('+12025550101')
export const fault: Error = new driver.LineFault('unreachable', 'gone')
`,
}

let folder: string
let tarball: string
/** Why the packages could not be fetched. */
let offline: string | undefined

async function run(command: string, ...args: string[]): Promise<string> {
  const { stdout, stderr } = await runIn(folder, command, args)
  return stdout + stderr
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-consumer-'))
  for (const [file, text] of Object.entries(FILES)) {
    mkdirSync(join(folder, file, '..'), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
  await run('npm', 'pack', '--silent', '--pack-destination', folder, resolve('.'))
  tarball = join(folder, readdirSync(folder).find((file) => file.endsWith('.tgz'))!)
  offline = await npmInstall(folder, tarball, 'jest@30', 'vitest@4')
  if (offline) console.warn(`${offline}: the tests of an installed package are skipped`)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const installed = (work: () => Promise<void>) => (context: TestContext) =>
  offline ? context.skip(offline) : work()

/** A server, or a bot, that runs until it is stopped; what it has written so far. */
function start(command: string, args: string[], options: { cwd: string; env?: Record<string, string> }) {
  const env = { ...process.env, ...options.env }
  const running = endWithUs(spawn(command, args, { cwd: options.cwd, env }))
  let output = ''
  for (const stream of [running.stdout, running.stderr]) stream.on('data', (text) => (output += text))
  const wrote = (pattern: RegExp) => eventually(async () => pattern.exec(output)?.[1], Boolean)
  return { running, wrote }
}

async function startServer(data: string) {
  const args = ['trunkline', 'serve', '--json', '--port', '0', '--data', join(folder, data)]
  const { running, wrote } = start('npx', args, { cwd: folder })
  return { server: running, url: (await wrote(/"url":"([^"]+)"/))! }
}

const has = (name: string) => existsSync(join(folder, 'node_modules', name))

describe('a project with the installed package', () => {
  it(
    'has few packages, and none of those that only our overrides mend',
    installed(async () => {
      expect(has('trunkline')).toBe(true)
      expect(['fastify', 'light-my-request'].filter(has)).toEqual([])
    }),
  )

  it(
    'passes a test of Jest, which only requires',
    installed(async () => {
      expect(await run('npx', 'jest', '--rootDir', 'jest')).toMatch(/Tests: +1 passed/)
    }),
  )

  it(
    'passes a test of Vitest',
    installed(async () => {
      expect(await run('npx', 'vitest', 'run', '--root', 'vitest')).toMatch(/Tests +1 passed/)
    }),
  )

  for (const kind of ['mjs', 'cjs'])
    it(
      `passes a test of node:test that is ${kind}`,
      installed(async () => {
        expect(await run(process.execPath, '--test', `node/code.${kind}`)).toMatch(/pass 1\n/)
      }),
    )

  it(
    'has types for both kinds of modules',
    installed(async () => {
      const tsc = resolve('node_modules/typescript/bin/tsc')
      const strictly = ['--noEmit', '--strict', '--module', 'node16']
      await run(process.execPath, tsc, ...strictly, 'types/code.mts', 'types/code.cts')
    }),
  )

  for (const signal of ['SIGTERM', 'SIGKILL'] as const)
    it(
      `stops the server when npx gets ${signal}`,
      installed(async () => {
        const { server, url } = await startServer(signal)
        // The metrics of the process load only now.
        expect(await (await fetch(`${url}/metrics`)).text()).toContain('process_cpu_seconds_total ')
        server.kill(signal)
        const isGone = () =>
          fetch(`${url}/livez`).then(
            () => false,
            () => true,
          )
        await eventually(isGone, Boolean)
      }),
    )
})

describe('a bot that "trunkline new bot" writes', () => {
  const bot = () => join(folder, 'bot')

  it(
    'passes its own test once npm has installed it',
    installed(async () => {
      expect(await run('npx', 'trunkline', 'new', 'bot')).toContain('npm install\n  npm test')
      // Not on the registry before a release: the version that the bot asks for, from the tarball.
      const project = JSON.parse(readFileSync(join(bot(), 'package.json'), 'utf8'))
      const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
      expect(project.devDependencies).toEqual({ trunkline: `^${version}` })
      expect(await npmInstall(bot(), '--save-dev', tarball)).toBeUndefined()
      const { stdout } = await runIn(bot(), 'npm', ['test'])
      expect(stdout).toMatch(/pass 3\n.*fail 0\n/)
    }),
  )

  it(
    'answers a virtual phone as its README says',
    installed(async () => {
      const { server, url } = await startServer('for-bot')
      const env = { SENDBLUE_API_BASE_URL: url, PORT: '0' }
      // What "npm start" runs: npm ends before its script does.
      const { scripts } = JSON.parse(readFileSync(join(bot(), 'package.json'), 'utf8'))
      const [program, ...args] = scripts.start.split(' ')
      const { running, wrote } = start(program, args, { cwd: bot(), env })
      await wrote(/(The bot answers)/)
      const at = ['--url', url]
      await run('npx', 'trunkline', 'phones', 'text', '+12025550101', 'Hello', ...at)
      const waited = await run('npx', 'trunkline', 'wait', '--to', '+12025550101', '--timeout', '60s', ...at)
      expect(waited).toContain('You said: Hello')
      running.kill()
      server.kill()
    }),
  )
})
