// Tries the packed package, and the tests of the wire and the storage, on several versions of Node. `npm run test:nodes`
// takes the supported ones, `npm run test:nodes -- 22 24` those that are named. Needs the npm registry.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { startInstalled } from './installed-server.js'

const SUPPORTED = ['20.19', '22', '24', '26']
const QUIETLY = ['--no-audit', '--no-fund', '--loglevel=error']
const wanted = process.argv.slice(2)
const versions = wanted.length > 0 ? wanted : SUPPORTED
const folder = mkdtempSync(join(tmpdir(), 'trunkline-nodes-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))

const rows = []
await run('npm', ['run', 'build', '--silent'])
await run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder])
const packed = join(folder, readdirSync(folder)[0])
for (const version of versions) await tryVersion(version)

console.log('')
for (const row of [['Node', 'Step', 'Result', 'Seconds'], ...rows])
  console.log([row[0].padEnd(10), row[1].padEnd(10), row[2].padEnd(8), row[3]].join('').trimEnd())
if (rows.some(([, , result]) => result !== 'ok')) process.exitCode = 1

async function tryVersion(version) {
  const home = join(folder, version)
  const project = join(home, 'project')
  mkdirSync(project, { recursive: true })
  writeFileSync(join(project, 'package.json'), '{ "name": "empty", "private": true }')
  let name = version
  let env
  let handle
  const step = (title, work) => tryStep(() => name, title, work)

  const isFetched = await step('fetch', async () => {
    const bin = join(home, 'node/node_modules/node/bin')
    const options = [...QUIETLY, '--no-save', '--prefix', join(home, 'node')]
    await run('npm', ['install', ...options, `node@${version}`])
    if (!existsSync(join(bin, 'node'))) throw new Error('The package "node" has no program for this machine')
    env = { ...process.env, PATH: [bin, process.env.PATH].join(delimiter), NO_COLOR: '1' }
    name = (await run('node', ['--version'], { env })).trim().slice(1)
  })
  if (!isFetched) return
  const isInstalled = await step('install', () =>
    run('npm', ['install', ...QUIETLY, '--engine-strict', '--prefix', project, packed], {
      cwd: project,
      env,
    }),
  )
  const isStarted =
    isInstalled &&
    (await step('start', async () => {
      const server = await startInstalled(project, env.PATH)
      handle = await server.send('Hello')
      const metrics = await server.metrics()
      if (!metrics.includes(`nodejs_version_info{version="v${name}"`)) throw new Error('Another Node runs it')
      await server.stop()
    }))
  if (isStarted)
    await step('restart', async () => {
      const server = await startInstalled(project, env.PATH)
      await server.untilDelivered(handle)
      await server.stop()
    })
  for (const suite of ['wire', 'storage'])
    await step(suite, () =>
      run('node', ['node_modules/vitest/vitest.mjs', 'run', `test/${suite}`], {
        env,
        onLine: (line) => /^ [✓❯×] /.test(line) && console.log(`    ${line.trim()}`),
      }),
    )
}

/** Runs a step and adds its row. Returns whether it worked. */
async function tryStep(name, title, work) {
  console.log(`${name()}  ${title} …`)
  const startedAt = performance.now()
  const failure = await work().then(
    () => undefined,
    (error) => error,
  )
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  rows.push([name(), title, failure ? 'FAILED' : 'ok', seconds])
  console.log(`${name()}  ${title}  ${failure ? `FAILED: ${failure.message}` : 'ok'}  ${seconds} s`)
  return !failure
}

/** Runs a command. Returns its output; if it fails, the error has the end of it. */
function run(command, args, { cwd, env = process.env, onLine } = {}) {
  return new Promise((done, fail) => {
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    let line = ''
    const take = (text) => {
      output += text
      const lines = (line + text).split('\n')
      line = lines.pop()
      for (const one of lines) onLine?.(one)
    }
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', take)
    child.once('error', fail)
    child.once('close', (code) => {
      if (code === 0) return done(output)
      const end = output.trim().split('\n').slice(-40).join('\n')
      fail(new Error(`${command} ${args.join(' ')} ended with ${code}\n${end}`))
    })
  })
}
