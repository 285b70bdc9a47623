import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { csvLine } from '../../src/cli/messages/csv.js'
import { runCli } from '../support/cli.js'
import { spawnCli, temporaryDirectory } from '../support/server.js'
import { createSink, type Sink } from '../support/web/sink.js'
import { ADA, BOB, createWorld, ENGINES, type Json, LINE, type World } from '../support/world.js'

const CONTACTS = 2300

describe.each(ENGINES)('trunkline export on %s', (engine) => {
  let world: World
  let sink: Sink
  const cli = (args: string[], url = world.app.url()) => runCli(['export', '--url', url, ...args])
  const rows = (stdout: string): Json[] =>
    stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  const numberOf = (n: number) => `+1415555${String(n).padStart(4, '0')}`
  let middle: string

  beforeAll(async () => {
    // The world's clock is ahead of the machine's.
    const startAt = Date.parse('2060-03-01T12:00:00Z')
    world = await createWorld(engine, { startAt, line: { pace: 0, config: { latency_ms: 0 } } })
    sink = await createSink()
    await world.post('/api/account/webhooks', { webhooks: [`${sink.url}/hook`], type: 'receive' })
    for (const [i, content] of [
      '=1+1',
      'plain',
      'two\nlines, "quoted"',
      '@SUM(A1)',
      '-2',
      '\ttab',
    ].entries()) {
      await world.text(i % 2 ? BOB : ADA, content)
      await world.settle()
      if (i === 2) {
        await world.advance(60_000)
        middle = new Date(world.app.ctx.clock.now()).toISOString()
      }
      await world.advance(1000)
    }
    for (let from = 0; from < CONTACTS; ) {
      const contacts = Array.from({ length: Math.min(500, CONTACTS - from) }, (_, i) => ({
        number: numberOf(from + i),
      }))
      const reply = await world.post('/api/v2/contacts/bulk', { contacts })
      if (reply.status !== 200) throw new Error(JSON.stringify(reply.body))
      from += contacts.length
    }
    await world.settle()
  })
  afterAll(async () => {
    await world.close()
    await sink.close()
  })
  it('writes messages, all and of a period', async () => {
    const ran = await cli(['messages'])
    expect(ran.code).toBe(0)
    const messages = rows(ran.stdout)
    const wanted = (await world.get('/api/v2/messages?order_direction=asc')).body.data
    expect(messages).toEqual(wanted)
    expect(messages).toHaveLength(6)
    expect(ran.stderr).toBe('6 messages\n')
    expect(rows((await cli(['messages', '--since', middle])).stdout)).toEqual(wanted.slice(3))
    expect(rows((await cli(['messages', '--until', middle])).stdout)).toEqual(wanted.slice(0, 3))
    expect(rows((await cli(['messages', '--json'])).stdout)).toEqual(wanted)
  })

  it('goes on where a server gives fewer rows than it was asked for', async () => {
    const stingy = createServer(async (request, response) => {
      const path = request.url!.replace('limit=1000', 'limit=2')
      const headers = request.headers as Record<string, string>
      response.end(await (await fetch(world.app.url() + path, { headers })).text())
    })
    await new Promise<void>((resolve) => stingy.listen(0, '127.0.0.1', resolve))
    const ran = await cli(['messages'], `http://127.0.0.1:${(stingy.address() as AddressInfo).port}`)
    stingy.close()
    expect(ran).toMatchObject({ code: 0, stderr: '6 messages\n' })
  })

  it('writes thousands of contacts of one moment, each once', async () => {
    const contacts = rows((await cli(['contacts'])).stdout)
    const phones = contacts.map((one) => one.phone)
    expect(new Set(phones).size).toBe(phones.length)
    expect(phones.filter((phone) => phone.startsWith('+1415555'))).toHaveLength(CONTACTS)
  })

  it('writes the log of events, and the deliveries of webhooks', async () => {
    const events = rows((await cli(['events'])).stdout)
    const wanted = await world.events()
    expect(events.map((one) => [one.sequence, one.type])).toEqual(wanted.map((one) => [one.seq, one.type]))
    const ended = await cli(['events', '--since', String(events.at(-1)!.sequence - 2)])
    expect(rows(ended.stdout)).toEqual(events.slice(-2))
    expect((await cli(['events', '--since', String(events.at(-1)!.sequence)])).stdout).toBe('')
    expect(
      rows((await cli(['events', '--until', middle])).stdout).every((one) => one.occurred_at < middle),
    ).toBe(true)
    const deliveries = rows((await cli(['deliveries'])).stdout)
    expect(deliveries).toEqual((await world.get('/v3/webhook-deliveries?limit=1000')).body.data)
    expect(deliveries).toHaveLength(6)
  })

  it('writes CSV whose cells are no formulas', async () => {
    const { stdout } = await cli(['messages', '--format', 'csv'])
    const [head, ...lines] = stdout.split('\r\n')
    expect(head).toMatch(/^message_handle,date_created,/)
    expect(stdout).toContain(`,"'=1+1",`)
    expect(stdout).toContain(`,"'@SUM(A1)",`)
    expect(stdout).toContain(`,"'-2",`)
    expect(stdout).toContain(`,"'\ttab",`)
    expect(stdout).toContain(',"two\nlines, ""quoted""",')
    expect(lines[0]).toContain(`,${ADA},${LINE},`)
    expect(
      csvLine(['+12025550101', '+1+cmd|calc', '＝1', "it's", ' padded', null, 3, -3, true, ['a,b'], '\r=1']),
    ).toBe(`+12025550101,"'+1+cmd|calc","'＝1","it's"," padded",,3,-3,true,"[""a,b""]","'\r=1"\r\n`)
  })

  it('writes a file completely or not at all', async () => {
    // A server that is gone after the first page.
    let pages = 0
    const proxy = createServer(async (request, reply) => {
      if (++pages > 1) return void reply.destroy()
      const headers = Object.fromEntries(
        Object.entries(request.headers).filter(([name]) => name.startsWith('sb-')),
      )
      const answer = await fetch(world.app.url() + request.url, {
        headers: headers as Record<string, string>,
      })
      reply.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const folder = temporaryDirectory()
    const file = join(folder, 'contacts.csv')
    const args = ['contacts', '--format', 'csv']
    const cut = await cli([...args, '--out', file], url)
    expect([cut.code, cut.stdout, pages]).toEqual([1, '', 2])
    expect(cut.stderr).toMatch(/^No server answers/)
    expect(readdirSync(folder)).toEqual([])
    // A process that was killed leaves this behind.
    writeFileSync(`${file}.part`, 'half a ro')
    expect(await cli([...args, '--out', file])).toMatchObject({ code: 0, stdout: '' })
    expect(readdirSync(folder)).toEqual(['contacts.csv'])
    const whole = (await cli(args)).stdout
    expect(readFileSync(file, 'utf8')).toBe(whole)
    expect(whole.split('\r\n').length).toBeGreaterThan(CONTACTS)
    expect(statSync(file).mode & 0o077).toBe(0)
    const again = await cli([...args, '--out', file])
    expect([again.code, again.stderr]).toEqual([
      1,
      `${file} exists already. Remove it, or give another file.\n`,
    ])
    proxy.close()
  })

  it('writes the same in a process of its own, and ends quietly when its reader has enough', async () => {
    const env = { TRUNKLINE_URL: world.app.url() }
    const args = ['export', 'contacts']
    expect(await spawnCli(args, env)).toEqual(await cli(args.slice(1)))
    const piped = `set -o pipefail; "${process.execPath}" dist/main.js ${args.join(' ')} | head -n 1`
    const { status, stdout, stderr } = await new Promise<Json>((resolve) =>
      execFile(
        'bash',
        ['--norc', '-c', piped],
        { env: { PATH: process.env.PATH, ...env } },
        (error, stdout, stderr) => resolve({ status: error?.code ?? 0, stdout, stderr }),
      ),
    )
    expect([status, stderr, rows(stdout).length]).toEqual([141, '', 1])
  })

  it('ends with 2 and a reason, or 1 and a reason', async () => {
    const failing: [string[], number, RegExp][] = [
      [[], 2, /^Give one of messages, contacts, events, deliveries/],
      [['phones'], 2, /^There is no "phones" to export\. Use messages, contacts, /],
      [['toString'], 2, /^There is no "toString" to export\./],
      [['messages', '--format', 'xml'], 2, /^--format must be ndjson or csv/],
      [['messages', '--format', 'csv', '--json'], 2, /exclude each other/],
      [['messages', '--since', 'yesterday'], 2, /^--since must be a date/],
      [['messages', '--since', '1200'], 2, /^--since must be a date/],
      [['events', '--until', '1200'], 2, /^--until must be a date/],
      [['messages', '--url', 'http://127.0.0.1:1'], 1, /^No server answers/],
    ]
    for (const [args, code, words] of failing) {
      const ran = await cli(args)
      expect([args, ran.code, ran.stdout]).toEqual([args, code, ''])
      expect(ran.stderr).toMatch(words)
    }
  })
})
