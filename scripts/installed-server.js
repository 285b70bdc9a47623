// A server of the installed package in a project, for test-nodes.js.
import { spawn } from 'node:child_process'
import { join } from 'node:path'

const KEYS = { 'sb-api-key-id': 'dev-live-key', 'sb-api-secret-key': 'dev-live-secret' }
const LINE = '+12025550100'
const ADA = '+12025550101'
const PATIENCE_MS = 60_000

/** Starts `trunkline serve` in the project and waits until it is ready. The first Node of the path runs it. */
export async function startInstalled(project, path) {
  const program = join(project, 'node_modules/.bin/trunkline')
  const child = spawn(program, ['serve', '--json', '--port', '0', '--data', join(project, 'data')], {
    env: { PATH: path },
  })
  const end = () => child.kill('SIGKILL')
  process.once('exit', end)
  let [stdout, stderr, code] = ['', '', undefined]
  child.stdout.on('data', (text) => (stdout += text))
  child.stderr.on('data', (text) => (stderr += text))
  const closed = new Promise((resolve) => child.once('close', resolve))
  void closed.then((status) => (code = status))
  child.once('error', (error) => (stderr += error.message))

  const address = () => {
    if (code !== undefined) throw new Error(`The server ended with ${code}:\n${stdout}${stderr}`)
    return /"url":"([^"]+)"/.exec(stdout)?.[1]
  }
  const url = await until('has an address', async () => address())
  await until('is ready', async () => (await fetch(`${url}/readyz`)).ok)

  const call = async (path, request) => {
    const answer = await fetch(url + path, {
      ...request,
      headers: { ...KEYS, 'content-type': 'application/json' },
    })
    const body = await answer.json()
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(body)}`)
    return body
  }
  return {
    /** Sends a message and returns its handle. */
    async send(content) {
      const body = JSON.stringify({ from_number: LINE, number: ADA, content })
      return (await call('/api/send-message', { method: 'POST', body })).message_handle
    },
    untilDelivered: (handle) =>
      until(`delivers ${handle}`, async () => {
        const { status } = await call(`/api/status?handle=${handle}`)
        return status === 'DELIVERED'
      }),
    async metrics() {
      return (await fetch(`${url}/metrics`)).text()
    },
    /** Stops the server; fails if it ended badly or has printed a warning. */
    async stop() {
      child.kill('SIGTERM')
      await closed
      process.off('exit', end)
      if (code !== 0) throw new Error(`The server ended with ${code}:\n${stderr}`)
      if (stderr !== '') throw new Error(`The server wrote to standard error:\n${stderr}`)
    },
  }
}

async function until(what, ask) {
  const last = performance.now() + PATIENCE_MS
  for (;;) {
    const answer = await ask()
    if (answer) return answer
    if (performance.now() > last) throw new Error(`No server that ${what} within ${PATIENCE_MS / 1000} s`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
