import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import {
  eventually,
  type SpawnedServer,
  spawnCli,
  spawnServer,
  temporaryDirectory,
} from '../support/server.js'
import { ADA, credentials, type Json, LINE } from '../support/world.js'

const run = promisify(execFile)

const dataDirectory = () => ({ TRUNKLINE_DATA: join(temporaryDirectory(), 'data') })

const ask = async (server: SpawnedServer, path: string, headers = credentials('live')): Promise<Json> =>
  (await fetch(server.url + path, { headers })).json()

/** A command of the welcome, with the lines it goes on on. */
function printed(output: string, start: string): string {
  const lines = output.split('\n')
  const first = lines.findIndex((line) => line.trimStart().startsWith(start))
  let last = first
  while (lines[last]!.endsWith('\\')) last++
  return lines
    .slice(first, last + 1)
    .join('\n')
    .trim()
}

describe('trunkline serve', () => {
  it('prints what works', async () => {
    const server = await spawnServer()
    const { output, url } = server
    expect(output).toMatch(/Trunkline is ready in \d+ ms +SQLite in /)
    for (const who of ['live', 'test', 'admin'])
      expect(output).toContain(`dev-${who}-key / dev-${who}-secret`)
    expect(output).toContain(`${ADA} Ada (iMessage)`)

    const { stdout } = await run('bash', ['-c', printed(output, `curl -s ${url}/api/send-message`)])
    const sent = JSON.parse(stdout)
    expect(sent).toMatchObject({ status: 'QUEUED', number: ADA, content: 'Hello Ada' })
    const question = printed(output, `curl -s '${url}/api/status`).replace(
      '<message_handle>',
      sent.message_handle,
    )
    const status = async () => JSON.parse((await run('bash', ['-c', question])).stdout)
    await eventually(status, (answer) => answer.status === 'DELIVERED')
    const phone = await ask(server, `/sim/phones/${ADA}/inbox`)
    expect(phone.data).toMatchObject([{ content: 'Hello Ada', message_handle: sent.message_handle }])

    const variable = printed(output, 'export SENDBLUE_API_BASE_URL=')
    const script = `${variable}; node --input-type=module -e "import S from 'sendblue'; const c = new S(); console.log(JSON.stringify(await c.messages.list()))"`
    const env = {
      PATH: process.env.PATH,
      SENDBLUE_API_API_KEY: 'dev-live-key',
      SENDBLUE_API_API_SECRET: 'dev-live-secret',
    }
    const listed = JSON.parse((await run('bash', ['-c', script], { env })).stdout)
    expect(listed.data).toMatchObject([{ message_handle: sent.message_handle }])

    const reference = await fetch(/Reference +(\S+)/.exec(output)![1]!)
    expect(reference.status).toBe(200)
    expect(await reference.text()).toContain('Trunkline API')
    const document = await ask(server, '/openapi.json')
    expect(document.paths['/api/send-message'].post).toMatchObject({ summary: 'Send a message' })
    expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null })
  })

  it('keeps everything over a restart, and prints no keys that were revoked', async () => {
    const env = dataDirectory()
    const first = await spawnServer({ env })
    const sent = JSON.parse((await run('bash', ['-c', printed(first.output, 'curl -s')])).stdout)
    expect(
      (await runCli(['key', 'revoke', 'dev-test-key', '--yes'], { TRUNKLINE_URL: first.url })).code,
    ).toBe(0)
    expect((await first.kill('SIGINT')).code).toBe(0)
    const second = await spawnServer({ env })
    expect((await ask(second, `/api/status?handle=${sent.message_handle}`)).content).toBe('Hello Ada')
    expect(second.output).not.toContain('dev-test-secret')
    await second.kill()
  })

  it('refuses to share its data directory with a second server', async () => {
    const env = dataDirectory()
    const first = await spawnServer({ env })
    const second = await spawnCli(['serve'], { ...env, PORT: '0' })
    expect(second.code).toBe(1)
    expect(second.stderr).toContain(`The data directory ${env.TRUNKLINE_DATA} is in use by another Trunkline`)
    expect(second.stderr).not.toMatch(/^\s+at /m)
    expect((await fetch(`${first.url}/readyz`)).status, 'the first one goes on').toBe(200)
    await first.kill('SIGKILL')
    const third = await spawnServer({ env })
    await third.kill()
  })

  it('says so and ends when the port is taken', async () => {
    const first = await spawnServer()
    const { port } = new URL(first.url)
    const second = await spawnCli(['serve'], { ...dataDirectory(), PORT: port })
    expect(second.code).toBe(1)
    expect(second.stderr).toContain(port)
    await first.kill()
  })

  it('listens to the world only with keys of your own, and then the fixed ones are dead', async () => {
    const env = { ...dataDirectory(), HOST: '0.0.0.0', PORT: '0' }
    const local = await spawnServer({ env: { TRUNKLINE_DATA: env.TRUNKLINE_DATA } })
    expect((await fetch(`${local.url}/api/v2/messages`, { headers: credentials('live') })).status).toBe(200)
    await local.kill()

    const refused = await spawnCli(['serve'], env)
    expect(refused.code).toBe(1)
    expect(refused.stdout).toBe('')
    expect(refused.stderr).toContain('Not starting. The development keys end here')
    expect(refused.stderr).toContain('the server listens on 0.0.0.0')
    // The way out is printed, and it works as printed.
    const command = /trunkline (init)/.exec(refused.stderr)![1]!
    const made = await runCli([command, '--json'], env)
    const { id, secret } = JSON.parse(made.stdout).keys.admin

    const open = await spawnServer({ env })
    expect(open.output).not.toMatch(/dev-\w+-(key|secret)/)
    const status = async (headers: Record<string, string>, path = '/api/v2/messages') =>
      (await fetch(open.url + path, { headers })).status
    for (const who of ['live', 'test', 'admin'] as const)
      expect(await status(credentials(who)), who).toBe(401)
    expect(await status(credentials('admin'), '/admin/accounts')).toBe(401)
    expect(await status(credentials({ id, secret }), '/admin/accounts')).toBe(200)
    await open.kill()
  })

  it('drains on the first signal and ends at once on the second', async () => {
    const env = { ...dataDirectory(), TRUNKLINE_DRAIN_MS: '60000' }
    const server = await spawnServer({ env })
    const admin = { headers: { ...credentials('admin'), 'content-type': 'application/json' } }
    const lines = (await ask(server, '/admin/lines', credentials('admin'))).data
    const line = lines.find((one: Json) => one.number === LINE && one.world === 'live')
    const body = JSON.stringify({ config: { fault: 'silence' } })
    await fetch(`${server.url}/admin/lines/${line.id}`, { ...admin, method: 'PATCH', body })
    await eventually(
      () => ask(server, `/admin/lines/${line.id}`, credentials('admin')),
      (shown) => shown.driven_here && shown.config.fault === 'silence',
    )
    await run('bash', ['-c', printed(server.output, 'curl -s')])
    const metrics = async () => (await fetch(`${server.url}/metrics`)).text()
    // On the wire, not only queued: a stop that finds nothing on the wire is over at once.
    await eventually(metrics, (text) => text.includes(`trunkline_in_flight_messages{line="${line.id}"} 1`))

    void server.kill('SIGTERM')
    const ready = async () => (await fetch(`${server.url}/readyz`)).status
    await eventually(ready, (status) => status === 503)
    expect((await fetch(`${server.url}/livez`)).status, 'it still answers while a send is on the wire').toBe(
      200,
    )
    expect(await server.kill('SIGTERM')).toEqual({ code: 1, signal: null })
  })
})
