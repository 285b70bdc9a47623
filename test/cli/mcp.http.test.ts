import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { httpClient, httpServer, spawnedHttpServer } from '../support/mcp.js'
import { temporaryDirectory } from '../support/server.js'
import { ADA, createWorld, type World } from '../support/world.js'

describe('trunkline mcp --http', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld('sqlite')
  })
  afterAll(() => world.close())
  const SECRET = 'a secret of the agents'.replaceAll(' ', '-')
  const env = () => ({ TRUNKLINE_URL: world.app.url(), TRUNKLINE_MCP_STATE: temporaryDirectory() })
  const ping = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  /** Unlike fetch, this can lie about the name it called. */
  const ask = (
    url: string,
    headers: Record<string, string> = {},
    method = 'POST',
    body = JSON.stringify(ping),
  ) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const accept = 'application/json, text/event-stream'
      const all = { 'content-type': 'application/json', accept, ...headers }
      const call = request(url, { method, headers: all }, (reply) => {
        let text = ''
        reply.setEncoding('utf8').on('data', (part) => (text += part))
        reply.on('end', () => resolve({ status: reply.statusCode!, text }))
      })
      call.on('error', reject)
      call.end(body)
    })

  it('lets no web page in, by whatever name it comes', async () => {
    const url = await httpServer(
      ['--allow-host', 'Sms.example.com', '--allow-origin', 'https://ok.example'],
      env(),
    )
    expect(new URL(url).hostname).toBe('127.0.0.1')
    const port = new URL(url).port
    const fine: Record<string, string>[] = [
      {},
      { host: `localhost:${port}` },
      { host: 'sms.example.com' },
      { host: '[::1]:80' },
      { origin: 'http://localhost:3000' },
      { origin: 'https://ok.example' },
    ]
    for (const headers of fine) expect([headers, (await ask(url, headers)).status]).toEqual([headers, 200])
    const wrong = [
      { host: 'evil.example' },
      { host: `evil.example:${port}` },
      { host: '127.0.0.1.evil.example' },
      { host: 'localhost.evil.example' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'http://localhost.evil.example' },
      { origin: 'https://ok.example.evil.example' },
    ]
    for (const headers of wrong) {
      const { status, text } = await ask(url, headers as never)
      expect([headers, status]).toEqual([headers, 403])
      expect(text).not.toContain('send_message')
    }
    expect((await ask(url, {}, 'GET', '')).status).toBe(405)
    expect((await ask(url, {}, 'DELETE', '')).status).toBe(405)
    expect((await ask(url.replace('/mcp', '/other'))).status).toBe(404)
    expect((await ask(url, {}, 'POST', '{')).status).toBe(400)
    expect((await ask(url, {}, 'POST', JSON.stringify('x'.repeat(2 ** 20)))).status).toBe(413)
    expect((await ask(url)).text).toContain('send_message')
  })

  it('asks for its secret, and beyond loopback does not start without one', async () => {
    const url = await httpServer([], { ...env(), TRUNKLINE_MCP_SECRET: SECRET })
    for (const authorization of [undefined, 'Bearer', 'Bearer wrong', `Basic ${SECRET}`, `Bearer ${SECRET}x`])
      expect((await ask(url, authorization ? { authorization } : {})).status).toBe(401)
    expect((await ask(url, { authorization: `Bearer ${SECRET}` })).status).toBe(200)
    const client = await httpClient(url, { authorization: `Bearer ${SECRET}` })
    expect((await client.ask('lookup', { number: ADA })).service).toBe('iMessage')
    await client.close()

    const bare = await runCli(['mcp', '--http', '--host', '0.0.0.0', '--port', '0'], env())
    expect(bare.code).toBe(2)
    expect(bare.stderr).toMatch(/^Other machines can reach 0\.0\.0\.0: set TRUNKLINE_MCP_SECRET/)
    const short = await runCli(['mcp', '--http'], { ...env(), TRUNKLINE_MCP_SECRET: 'short' })
    expect([short.code, short.stderr]).toEqual([
      2,
      expect.stringMatching(/^The secret must have at least 16/),
    ])
    const wide = await spawnedHttpServer(['--host', '0.0.0.0'], { ...env(), TRUNKLINE_MCP_SECRET: SECRET })
    const there = wide.url.replace('0.0.0.0', '127.0.0.1')
    expect((await ask(there)).status).toBe(401)
    expect((await ask(there, { authorization: `Bearer ${SECRET}` })).status).toBe(200)
    expect(await wide.cli.kill('SIGTERM')).toEqual({ code: 0, signal: null })
  })

  it('does not serve the development keys to a client that comes through a proxy', async () => {
    const url = await httpServer([], env())
    const asked = (headers: Record<string, string>) => httpClient(url, headers)
    const near = await asked({})
    expect((await near.ask('lookup', { number: ADA })).service).toBe('iMessage')
    await near.close()
    const far = await asked({ 'x-forwarded-for': '203.0.113.9' })
    await expect(far.ask('lookup', { number: ADA })).rejects.toThrow(/trunkline init/)
    await far.close()
  })

  it('ends with 2 and a reason when called wrongly, with 1 when it could keep no count', async () => {
    const failing: [string[], number, RegExp][] = [
      [['--allow', '2025550101'], 2, /^--allow must be a number/],
      [['--max-per-hour', '-1'], 2, /--max-per-hour/],
      [['--max-per-hour', 'many'], 2, /^--max-per-hour must be a whole number/],
      [['--http', '--port', '99999'], 2, /^--port must be/],
      [['x'], 2, /^This command takes no arguments besides options, not "x"/],
      [['--state', '/dev/null/state'], 1, /^\/dev\/null\/state\/mcp-\w+\.db cannot be used .*--state\.\n$/s],
    ]
    for (const [args, code, words] of failing) {
      const ran = await runCli(['mcp', ...args], env(), '')
      expect([args, ran.code, ran.stdout]).toEqual([args, code, ''])
      expect(ran.stderr).toMatch(words)
    }
    // Its client closes the input: a regular end, without a word.
    expect(await runCli(['mcp'], env(), '')).toEqual({ code: 0, stdout: '', stderr: '' })
  })

  it('costs a server nothing: no other command loads the SDK', () => {
    const seen = new Set<string>()
    const outside = new Set<string>()
    const follow = (file: string) => {
      if (seen.has(file)) return
      seen.add(file)
      // Static imports only: neither types nor `import()`.
      for (const [, name] of readFileSync(file, 'utf8').matchAll(
        /^(?:import|export) (?!type )[^;]*?from '([^']+)'/gm,
      ))
        if (name!.startsWith('.')) follow(join(dirname(file), name!.replace(/\.js$/, '.ts')))
        else outside.add(name!)
    }
    follow('src/main.ts')
    follow('src/app.ts')
    expect(seen).toContain('src/cli/mcp/mcp.ts')
    expect(seen).toContain('src/api/http/server.ts')
    expect(outside).toContain('fastify')
    expect([...outside].filter((name) => name.startsWith('@modelcontextprotocol'))).toEqual([])
    const loaded = [...seen].filter((file) => file.startsWith('src/cli/mcp/'))
    expect(loaded).toEqual(['src/cli/mcp/mcp.ts'])
  })
})
