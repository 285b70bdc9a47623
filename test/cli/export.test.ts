import { appendFileSync, existsSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { csvLine } from '../../src/cli/messages/csv.js'
import { runCli, temporaryDirectory } from '../support/server.js'
import { createSink, type Sink } from '../support/web/sink.js'
import { ADA, BOB, createWorld, ENGINES, type Json, LINE, type World } from '../support/world.js'

const CONTACTS = 2300

describe.each(ENGINES)('trunkline export on %s', (engine) => {
  let world: World
  let sink: Sink
  const cli = (args: string[], url = world.app.url()) => runCli(['export', ...args], { TRUNKLINE_URL: url })
  const rows = (stdout: string): Json[] =>
    stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  const numberOf = (n: number) => `+1415555${String(n).padStart(4, '0')}`
  let middle: string

  beforeAll(async () => {
    world = await createWorld(engine, { line: { pace: 0, config: { latency_ms: 0 } } })
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
  }, 120_000)
  afterAll(async () => {
    await world.close()
    await sink.close()
  })
  // The world's clock is not the machine's.
  const all = ['--until', '2100-01-01']

  it('writes messages, all and of a period, and says where to go on', async () => {
    const ran = await cli(['messages', ...all])
    expect(ran.code).toBe(0)
    const messages = rows(ran.stdout)
    const wanted = (await world.get('/api/v2/messages?order_direction=asc')).body.data
    expect(messages).toEqual(wanted)
    expect(messages).toHaveLength(6)
    const cursor = /^6 messages; what comes later is after (\S+)\n$/.exec(ran.stderr)![1]!
    expect(rows((await cli(['messages', '--since', middle, ...all])).stdout)).toEqual(wanted.slice(3))
    expect(rows((await cli(['messages', '--until', middle])).stdout)).toEqual(wanted.slice(0, 3))
    const [nothing] = [await cli(['messages', '--after', cursor, ...all])]
    expect([nothing.stdout, nothing.code]).toEqual(['', 0])
    await world.text(ADA, 'Later')
    await world.settle()
    expect(
      rows((await cli(['messages', '--after', cursor, ...all])).stdout).map((one) => one.content),
    ).toEqual(['Later'])
    expect(rows((await cli(['messages', '--json', ...all])).stdout)).toHaveLength(7)
  })

  it('writes thousands of contacts of one moment, each once', async () => {
    const contacts = rows((await cli(['contacts', ...all])).stdout)
    const phones = contacts.map((one) => one.phone)
    expect(new Set(phones).size).toBe(phones.length)
    expect(phones.filter((phone) => phone.startsWith('+1415555'))).toHaveLength(CONTACTS)
  })

  it('writes the log of events, and the deliveries of webhooks', async () => {
    const events = rows((await cli(['events', ...all])).stdout)
    const wanted = await world.events()
    expect(events.map((one) => [one.sequence, one.type])).toEqual(wanted.map((one) => [one.seq, one.type]))
    const ended = await cli(['events', '--after', String(events.at(-1)!.sequence - 2), ...all])
    expect(rows(ended.stdout)).toEqual(events.slice(-2))
    expect((await cli(['events', '--after', String(events.at(-1)!.sequence), ...all])).stdout).toBe('')
    expect(
      rows((await cli(['events', '--until', middle])).stdout).every((one) => one.occurred_at < middle),
    ).toBe(true)
    const deliveries = rows((await cli(['deliveries', ...all])).stdout)
    expect(deliveries).toEqual((await world.get('/v3/webhook-deliveries?limit=1000')).body.data)
    expect(deliveries).toHaveLength(7)
  })

  it('writes CSV whose cells are no formulas', async () => {
    const { stdout } = await cli(['messages', '--format', 'csv', ...all])
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

  it('goes on where it was cut off, and the file is as if it never had been', async () => {
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
    for (const format of ['ndjson', 'csv']) {
      pages = 0
      const whole = await cli(['contacts', '--format', format, ...all])
      const file = join(folder, format)
      const args = ['contacts', '--format', format, '--out', file, ...all]
      const cut = await cli(args, url)
      expect([cut.code, cut.stdout]).toEqual([1, ''])
      expect(cut.stderr).toMatch(/1000 contacts are written; go on with the same command with --resume\.\n$/)
      appendFileSync(file, 'half a ro')
      expect((await cli(args)).stderr).toMatch(/is there already: go on with --resume/)
      const other = await cli(['messages', '--format', format, '--out', file, '--resume'])
      expect(other.stderr).toMatch(/belongs to an export of contacts/)
      expect((await cli([...args, '--resume'])).code).toBe(0)
      expect(readFileSync(file, 'utf8')).toBe(whole.stdout)
      expect(existsSync(`${file}.cursor`)).toBe(false)
      expect(statSync(file).mode & 0o077).toBe(0)
    }
    // What never began leaves nothing behind that would stand in the way.
    const early = await cli(['contacts', '--out', join(folder, 'early'), '--url', 'http://127.0.0.1:1'])
    expect([early.code, existsSync(join(folder, 'early'))]).toEqual([1, false])
    pages = 0
    const loose = await cli(['contacts', ...all], url)
    const cursor = /go on with --after (\S+)\.\n$/.exec(loose.stderr)![1]!
    const rest = await cli(['contacts', '--after', cursor, ...all])
    expect(loose.stdout + rest.stdout).toBe((await cli(['contacts', ...all])).stdout)
    proxy.close()
  })

  it('ends with 2 and a reason, or 1 and a reason', async () => {
    const failing: [string[], number, RegExp][] = [
      [[], 2, /^Name one of messages, contacts, events, deliveries/],
      [['phones'], 2, /^There is no "phones"\./],
      [['toString'], 2, /^There is no "toString"\./],
      [['messages', '--format', 'xml'], 2, /^--format must be ndjson or csv/],
      [['messages', '--format', 'csv', '--json'], 2, /exclude each other/],
      [['messages', '--since', 'yesterday'], 2, /^--since must be a date/],
      [['messages', '--resume'], 2, /^--resume needs --out/],
      [['messages', '--after', 'x'], 1, /is not where an export of this kind has ended/],
      [['events', '--after', 'x'], 1, /is not where an export/],
      [['deliveries', '--after', 'x'], 1, /cursor/],
      [['messages', '--url', 'http://127.0.0.1:1'], 1, /^No server answers/],
    ]
    for (const [args, code, words] of failing) {
      const ran = await cli(args)
      expect([args, ran.code, ran.stdout]).toEqual([args, code, ''])
      expect(ran.stderr).toMatch(words)
    }
  })
})
