// How long the first steps of README.md take a stranger: from a clone, or an empty folder, with an empty npm cache.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { resolve } from 'node:path'
import { blocksOf } from './documents.js'
import { check, eventually, freePort, need, run, Skip, scratch } from './report.js'
import { start } from './server.js'

const FIRST_MESSAGE_S = 90
const OWN_TEST_S = 180

export async function checkTimes() {
  await check(`the first message, from a clone, within ${FIRST_MESSAGE_S} s`, () =>
    timed(FIRST_MESSAGE_S, sendFirstMessage),
  )
  await check(`a passing test, from an empty folder, within ${OWN_TEST_S / 60} minutes`, async () => {
    const packed = await pack()
    return timed(OWN_TEST_S, (step) => passOwnTest(step, packed))
  })
}

/** Runs the steps of a stranger and returns their seconds; fails if they are more than promised, unless others keep the machine busy. */
export async function timed(limitS, work) {
  const parts = []
  const [load] = loadavg()
  const started = performance.now()
  let before = started
  await work((name, seconds = (performance.now() - before) / 1000) => {
    parts.push(`${name} ${seconds.toFixed(1)} s`)
    before = performance.now()
  })
  const seconds = (performance.now() - started) / 1000
  const cores = availableParallelism()
  const said = `${seconds.toFixed(1)} s (${parts.join(', ')}; load ${load.toFixed(1)} on ${cores} cores before)`
  if (seconds > limitS && load > cores / 2) throw new Skip(`the machine is busy, it took ${said}`)
  if (seconds > limitS) throw new Error(`it took ${said}`)
  return said
}

async function sendFirstMessage(step) {
  need('git', 'curl')
  const [install, talk] = blocksOf('README.md', '# Trunkline', 'sh')
  const clone = scratch('clone')
  const env = { ...stranger('first-message'), PORT: String(await freePort()) }
  await run('git', ['clone', '-q', `file://${resolve('.')}`, clone])
  step('git clone')
  // A process group of its own, which ends as a whole: bash does not pass signals on.
  const server = start('bash', ['-c', install], { cwd: clone, env, detached: true })
  const ended = server.exited.then(() => {
    throw new Error(server.output())
  })
  try {
    await Promise.race([ended, eventually(() => server.output().includes('is ready in'), 10 * 60_000)])
    step(install.trim())
    const said = await run('bash', ['-c', talk.replaceAll(':4040', `:${env.PORT}`)], { env })
    if (!/"data":\[\{.*"content":"Hello Ada"/.test(said))
      throw new Error(`the phone does not show the message:\n${said}`)
    step('send and look')
  } finally {
    process.kill(-server.pid, 'SIGTERM')
    await server.exited
  }
}

/** The package as `npm publish` would send it. */
async function pack() {
  mkdirSync(scratch('packed'))
  await run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', scratch('packed')])
  return scratch('packed', readdirSync(scratch('packed'))[0])
}

async function passOwnTest(step, packed) {
  const [install] = blocksOf('README.md', '## In your own tests', 'sh')
  const [test] = blocksOf('README.md', '## In your own tests', 'js')
  const project = scratch('own-project')
  mkdirSync(project)
  const options = { cwd: project, env: stranger('own-test') }
  await run('npm', ['init', '-y'], options)
  await run('bash', ['-c', install.replace('trunkline', packed)], options)
  step('npm install')
  writeFileSync(`${project}/${/^\/\/ ([\w.-]+)/.exec(test)[1]}`, test)
  const said = await run('node', ['--test'], options)
  if (!/pass 1\n.*fail 0\n/.test(said)) throw new Error(said)
  step('node --test')
}

/** The environment of somebody without settings or a cache of npm. */
function stranger(name) {
  const home = scratch(`home-${name}`)
  mkdirSync(home)
  const { PATH, NODE_EXTRA_CA_CERTS } = process.env
  return { PATH, HOME: home, ...(NODE_EXTRA_CA_CERTS && { NODE_EXTRA_CA_CERTS }) }
}
