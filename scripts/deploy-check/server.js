// Real servers of ours and of others, ended at the end.
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { request } from 'node:https'
import { deployBlock } from './documents.js'
import { eventually, freePort, run, scratch } from './report.js'

const MAIN = 'dist/main.js'
const running = new Set()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Starts a program; `stop` sends SIGTERM and resolves with its exit code. */
export function start(program, args, options = {}) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
    })
  running.add(child)
  const exited = new Promise((resolve) => {
    child
      .once('error', (error) => resolve(error.message))
      .once('exit', (code, signal) => resolve(code ?? signal))
  })
  exited.then(() => running.delete(child))
  return {
    pid: child.pid,
    output: () => output,
    exited,
    stop(signal = 'SIGTERM') {
      child.kill(signal)
      return exited
    },
  }
}

/** A server of ours with keys of its own, as docs/deploy.md sets it up. */
export async function startTrunkline(name, env = {}) {
  const port = await freePort()
  const all = {
    PATH: process.env.PATH,
    PORT: String(port),
    TRUNKLINE_DATA: scratch(name, 'data'),
    TRUNKLINE_TRUST_PROXY: '127.0.0.1,::1',
    ...env,
  }
  mkdirSync(scratch(name))
  const keys = scratch(name, 'keys')
  await run(process.execPath, [MAIN, 'init', '--email', 'you@example.com', '--write', keys], { env: all })
  const server = start(process.execPath, [MAIN, 'serve', '--json'], { env: all })
  const url = `http://127.0.0.1:${port}`
  await untilReady(url, server)
  return { ...server, port, url, keys }
}

export async function untilReady(url, server) {
  const ended = server.exited.then((code) => {
    throw new Error(`ended with ${code} instead of starting:\n${server.output()}`)
  })
  await Promise.race([ended, eventually(async () => (await fetch(`${url}/readyz`)).ok, 60_000)])
}

/** The headers of a key that `trunkline init --write` has made. */
export function credentials(keys, kind) {
  const [id, secret] = readFileSync(`${keys}/${kind}.env`, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(/=(.*)/s)[1])
  return { 'sb-api-key-id': id, 'sb-api-secret-key': secret }
}

/** An HTTPS request that checks the certificate; `onText` sees the body while it arrives. */
export function ask(url, { ca, method = 'GET', headers = {}, body, from, onText } = {}) {
  return new Promise((resolve, reject) => {
    const sent = request(url, { ca, method, headers, localAddress: from, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part) => {
        text += part
        onText?.(text, sent)
      })
      response.once('close', () => resolve({ status: response.statusCode, text }))
    })
    sent.once('error', reject).end(body)
  })
}

/** Runs the block of docs/deploy.md under a heading, with `as` made for this server. */
export async function runDocumented(heading, url, keys, env = {}) {
  const as = `as() { env $(cat ${keys}/$1.env) TRUNKLINE_URL=${url} ${process.execPath} ${MAIN} "\${@:2}"; }\n`
  return run('bash', ['--norc', '-euo', 'pipefail', '-c', as + deployBlock(heading)], {
    env: { PATH: process.env.PATH, ...env },
  })
}

export const HELLO = 'Hello from the other side of TLS'
