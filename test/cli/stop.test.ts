import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { eventually, spawnServer, startCli, temporaryDirectory, temporaryStorage } from '../support/server.js'
import { endWithUs, signalAfterUs } from '../support/watchdog.js'
import { createWorld } from '../support/world.js'

it('a stop does not wait for someone who connects and says nothing', async () => {
  const world = await createWorld('sqlite')
  const { hostname, port } = new URL(world.app.url())
  const silent = connect(Number(port), hostname)
  await new Promise((connected) => silent.once('connect', connected))
  const gone = new Promise((closed) => silent.once('close', closed))
  silent.on('error', () => {})
  await world.close()
  expect(await gone).toBe(false)
})

it('a start that waits for its database ends at a signal, also as the first process of a container', async () => {
  // The kernel drops signals that the first process of a container has no handler for.
  const server = startCli(['serve'], { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing', PORT: '0' })
  await eventually(
    async () => server.stderr,
    (text) => text.includes('Trying again'),
  )
  expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null })
})

it.each([
  ['the shell of npx', ''],
  ['npx above its shell', 'sh -c '],
])('a server stops when a signal ends %s', async (_, above) => {
  const server = `"${process.execPath}" "${resolve('dist/main.js')}" serve --json & echo "pid $!"; wait`
  const script = above ? `${above}'${server}'; true` : server
  const env = {
    PATH: process.env.PATH,
    PORT: '0',
    ...(await temporaryStorage('sqlite')),
    npm_command: 'exec',
  }
  const shell = endWithUs(spawn('sh', ['-c', script], { env }))
  let output = ''
  shell.stdout.setEncoding('utf8').on('data', (text) => (output += text))
  const find = (pattern: RegExp) => eventually(async () => pattern.exec(output)?.[1] ?? '', Boolean)
  const hasEnded = signalAfterUs(Number(await find(/^pid (\d+)$/m)), 'SIGKILL')
  const url = await find(/"url":"([^"]+)"/)
  shell.kill('SIGKILL')
  const answers = () => fetch(`${url}/livez`).then(Boolean, () => false)
  await eventually(answers, (isThere) => !isThere)
  hasEnded()
})

it('a stopped process ends, although something in it is still open', async () => {
  const open = join(temporaryDirectory(), 'open.cjs')
  writeFileSync(open, 'setInterval(() => {}, 2 ** 30)\n')
  const server = await spawnServer({ env: { NODE_OPTIONS: `--require ${open}` } })
  expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null })
})
