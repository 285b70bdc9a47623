// The servers under measurement, each a process of its own.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export const ADMIN = {
  'sb-api-key-id': 'dev-admin-key',
  'sb-api-secret-key': 'dev-admin-secret',
  'content-type': 'application/json',
}
export const LIVE = {
  'sb-api-key-id': 'dev-live-key',
  'sb-api-secret-key': 'dev-live-secret',
  'content-type': 'application/json',
}

async function start(args, env) {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })
  const first = await new Promise((resolve, reject) => {
    lines.on(
      'line',
      (line) => line.startsWith('{') && /"(ready|port)"/.test(line) && resolve(JSON.parse(line)),
    )
    child.on('exit', (code) => reject(new Error(`the server ended with ${code}`)))
  })
  const exited = new Promise((resolve) => child.on('exit', resolve))
  const stop = () => {
    child.kill('SIGTERM')
    return exited
  }
  return { child, first, stop }
}

export async function startBare() {
  const server = await start(['bench/bare-server.js'], {})
  return { port: server.first.port, stop: server.stop }
}

async function makeOwnKeys(env) {
  const [{ createApp }, { loadConfig }, { DEFAULT_WORLD }] = await Promise.all([
    import('../dist/app.js'),
    import('../dist/config.js'),
    import('../dist/services/accounts/default-world.js'),
  ])
  const app = await createApp(loadConfig(env), { seed: true, keys: DEFAULT_WORLD.keys, worker: false })
  await app.stop()
}

/** A Trunkline in the default world. `line` are settings of its line, `add` is a further one. */
export async function startTrunkline({
  databaseUrl,
  line,
  add,
  publicUrl,
  data = mkdtempSync(join(tmpdir(), 'trunkline-bench-')),
} = {}) {
  const env = {
    PORT: '0',
    TRUNKLINE_DATA: data,
    LOG_LEVEL: 'error',
    TRUNKLINE_DRAIN_MS: '0',
    ...(databaseUrl ? { DATABASE_URL: databaseUrl } : {}),
  }
  if (publicUrl) env.TRUNKLINE_PUBLIC_URL = publicUrl
  if (add || publicUrl) {
    // Beside a real line the development keys end; the same names and secrets count as keys of one's own here.
    env.TRUNKLINE_ALLOW_HOSTS = '127.0.0.1'
    await makeOwnKeys(env)
  }
  const server = await start(['dist/main.js', 'serve', '--json'], env)
  const { url } = server.first
  const request = async (path, init = {}) => (await fetch(url + path, { headers: LIVE, ...init })).json()
  // One account stands for all: its own share of the machine is not what is measured.
  const { data: all } = await request('/admin/accounts', { headers: ADMIN })
  const budgets = { requests: 1_000_000, queued: 10_000_000, memory: 1_000_000_000 }
  await request(`/admin/accounts/${all[0].id}`, {
    method: 'PATCH',
    headers: ADMIN,
    body: JSON.stringify({ budgets }),
  })
  if (line) {
    const { data: lines } = await request('/admin/lines', { headers: ADMIN })
    const { id } = lines.find((one) => one.world === 'live' && one.number === '+12025550100')
    await request(`/admin/lines/${id}`, { method: 'PATCH', headers: ADMIN, body: JSON.stringify(line) })
  }
  if (add) {
    const body = JSON.stringify({ account_id: all[0].id, ...add })
    const { id } = await request('/admin/lines', { method: 'POST', headers: ADMIN, body })
    for (let state; state !== 'ONLINE'; )
      state = (await request(`/admin/lines/${id}`, { headers: ADMIN })).state
  }
  return {
    port: Number(new URL(url).port),
    pid: server.child.pid,
    request,
    rssMb: () =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.child.pid}/status`, 'utf8'))?.[1]) / 1024,
    /** Ends the process and keeps its data for the next one. */
    leave: server.stop,
    async stop() {
      await server.stop()
      rmSync(data, { recursive: true, force: true })
    },
  }
}
