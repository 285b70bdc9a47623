import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { eventually, startCli } from '../support/server.js'
import { startProxy } from '../support/web/proxy.js'
import { createSink } from '../support/web/sink.js'
import {
  ADA,
  createWorld,
  credentials,
  DAN,
  EVE,
  type Json,
  LINE,
  SHARED_LINE,
  type World,
} from '../support/world.js'

describe('the everyday commands', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld('sqlite', { realTime: true })
  })
  afterAll(() => world.close())
  const env = () => ({ TRUNKLINE_URL: world.app.url() })
  const cli = (...args: string[]) => runCli(args, env())
  const json = async (...args: string[]) => {
    const ran = await cli(...args, '--json')
    expect(ran, args.join(' ')).toMatchObject({ code: 0 })
    return JSON.parse(ran.stdout)
  }
  const inbox = async (number: string) => {
    const path = `/sim/phones/${encodeURIComponent(number)}/inbox`
    const reply = await fetch(world.app.url() + path, { headers: credentials('live') })
    return ((await reply.json()) as Json).data.map((one: Json) => one.content)
  }
  const call = async (method: string, path: string, body: object) => {
    const headers = { ...credentials('live'), 'content-type': 'application/json' }
    const reply = await fetch(world.app.url() + path, { method, headers, body: JSON.stringify(body) })
    return (await reply.json()) as Json
  }
  const text = (content: string) =>
    call('POST', `/sim/phones/%2B${ADA.slice(1)}/messages`, { to: LINE, content })

  it('sends, waits for what becomes of it, and lists it', async () => {
    const ran = await cli('send', '--to', ADA, '--wait', 'Hello', 'Ada')
    expect(ran).toMatchObject({
      code: 0,
      stderr: `From ${LINE}, the first of 2 lines. Use --from to choose another.\n`,
    })
    expect(ran.stdout).toMatch(/^status +(SENT|DELIVERED)$/m)
    await eventually(
      () => inbox(ADA),
      (all) => all.includes('Hello Ada'),
    )

    const other = await json('send', '--to', ADA, '--from', SHARED_LINE, '--style', 'slam', 'From the other')
    expect(other).toMatchObject({ status: 'QUEUED', from_number: SHARED_LINE, send_style: 'slam' })
    const piped = await runCli(['send', '--to', ADA, '--from', LINE, '-', '--wait'], env(), 'two\nlines\n')
    expect(piped).toMatchObject({ code: 0, stderr: '' })
    await eventually(
      () => inbox(ADA),
      (all) => all.includes('two\nlines'),
    )

    const [newest, ...rest] = await json('messages', '--number', ADA, '--line', LINE)
    expect(newest).toMatchObject({ content: 'two\nlines', is_outbound: true })
    expect(rest).toMatchObject([{ content: 'Hello Ada' }])
    expect(await json('messages', '--limit', '1')).toHaveLength(1)
    const table = (await cli('messages', '--line', LINE)).stdout.split('\n').map((row) => row.split(/ {2,}/))
    expect(table[0]).toEqual([
      ...['time', 'direction', 'number', 'line', 'service', 'status', 'content', 'handle'],
    ])
    expect(table[1]!.slice(1, 5)).toEqual(['out', ADA, LINE, 'iMessage'])
    expect(table[1]![6]).toBe('two lines')
  })

  it('ends with 1 when it was not sent, and with 3 when nobody knows yet', async () => {
    const refused = await cli('send', '--to', EVE, '--from', LINE, '--wait', 'No')
    expect(refused.code).toBe(1)
    expect(refused.stdout).toMatch(/^status +ERROR$/m)
    expect(refused.stderr).toMatch(/^The message was not sent: ./)
    expect(await json('messages', '--status', 'error')).toMatchObject([{ number: EVE, status: 'ERROR' }])

    const line = JSON.parse((await runCli(['line', 'list', '--json'], env())).stdout).find(
      (one: Json) => one.number === SHARED_LINE && one.world === 'live',
    )
    await cli('line', 'set', line.id, '--config', '{"state":"OFFLINE"}')
    await world.settle()
    const waiting = await cli('send', '--to', DAN, '--from', SHARED_LINE, '--wait', '--timeout', '1', 'Later')
    expect(waiting).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/^The message is still \w+ after 1 s\. /),
    })
  })

  it('sends one message however often the network loses the answer', async () => {
    const network = await startProxy(world.app.url(), ['drop-answer', 'drop-request', 'drop-answer'])
    const ran = await runCli(['send', '--to', ADA, '--from', LINE, 'Once', '--wait'], {
      TRUNKLINE_URL: network.url,
    })
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    expect(network.lost).toHaveLength(2)
    await network.close()
    expect((await inbox(ADA)).filter((content: string) => content === 'Once')).toHaveLength(1)
  })

  it('follows events over broken connections: nothing is lost or repeated', async () => {
    const network = await startProxy(world.app.url(), [])
    const args = ['tail', '--types', 'message.received', '--since', '0']
    const tail = startCli([...args, '--json'], { TRUNKLINE_URL: network.url })
    const seen = () =>
      tail.stdout
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line).data.content)
    const arrived = (n: number) =>
      eventually(
        async () => seen(),
        (all) => all.length >= n,
      )
    await text('tail 1')
    await text('tail 2')
    await arrived(2)
    await network.cut()
    await text('tail 3')
    await text('tail 4')
    await network.mend()
    await arrived(4)
    await text('tail 5')
    await arrived(5)
    expect(seen()).toEqual([1, 2, 3, 4, 5].map((n) => `tail ${n}`))
    const again = network.requests.slice(1)
    expect(again.length).toBeGreaterThan(0)
    for (const request of again) expect(request).toMatch(/last-event-id: \d+/i)
    expect(await tail.kill('SIGINT')).toEqual({ code: 0, signal: null })
    await network.close()

    const words = startCli(args, env())
    await eventually(
      async () => words.stdout,
      (out) => out.includes('tail 5'),
    )
    expect(words.stdout.split('\n')[0]).toMatch(/^\S+Z +\d+ {2}message\.received +\+\S+ > \+\S+ .*"tail 1"/)
    expect(await words.kill('SIGTERM')).toEqual({ code: 0, signal: null })
  })

  it('posts webhooks again', async () => {
    const sink = await createSink()
    sink.answer(() => 400)
    await cli('webhooks', 'add', `${sink.url}/in`)
    const begun = new Date().toISOString()
    await text('again 1')
    await text('again 2')
    const posts = (n: number) =>
      eventually(
        async () => sink.received.length,
        (count) => count >= n,
      )
    await posts(2)
    const log = async (): Promise<Json[]> => {
      const reply = await fetch(`${world.app.url()}/v3/webhook-deliveries`, { headers: credentials('live') })
      return ((await reply.json()) as Json).data
    }
    const ended = (status: string) =>
      eventually(log, (all) => all.length === 2 && all.every((one) => one.status === status))
    await ended('failed')
    sink.answer(() => 200)
    expect(await json('replay', '--failed')).toEqual({ replayed: 2, more: false })
    await ended('delivered')
    const [{ id }] = (await log()) as [Json]
    expect(await json('replay', id)).toMatchObject({ id, status: 'pending' })
    await posts(5)
    await ended('delivered')
    expect(await json('replay', '--since', begun, '--type', 'receive')).toEqual({ replayed: 2, more: false })
    expect(await json('replay', '--until', begun)).toEqual({ replayed: 0, more: false })
    await posts(7)
    await sink.close()
  })

  it('keeps contacts, shows codes and makes tokens', async () => {
    const number = '+12025550166'
    expect(await json('contacts', 'add', number, '--first-name', 'Fay')).toMatchObject({ phone: number })
    await json('contacts', 'add', number, '--last-name', 'Gray')
    const [newest] = await json('contacts', 'list', '--limit', '1')
    expect(newest).toMatchObject({ phone: number, first_name: 'Fay', last_name: 'Gray' })
    expect((await cli('contacts', 'list')).stdout).toMatch(/\+12025550166 +Fay +Gray/)
    expect(await json('contacts', 'remove', number, '--yes')).toEqual({ number, removed: true })
    expect(await cli('contacts', 'remove', number)).toMatchObject({ code: 1, stdout: '' })

    const secret = await call('POST', '/api/v2/totp/secrets', { label: 'Bank', secret: 'JBSWY3DPEHPK3PXP' })
    expect(await json('totp', 'code', secret.totp_secret.id)).toEqual({
      code: expect.stringMatching(/^\d{6}$/),
      expires_in: expect.any(Number),
    })
    const token = await json('token', 'create', '--seconds', '600', '--lines', LINE)
    expect(token.phone_numbers).toEqual([LINE])
    const headers = { authorization: `Bearer ${token.token}` }
    const lines = await (await fetch(`${world.app.url()}/api/lines`, { headers })).json()
    expect(lines).toEqual({ numbers: [LINE] })
  })

  it('ends with 1 and a reason, or 2 and the help', async () => {
    const failing: [string[], number, RegExp][] = [
      [['send', 'x'], 2, /^--to is required\nSee trunkline send --help\.\n$/],
      [['send', '--to', ADA], 2, /^Give a text, - for standard input, or --media/],
      [
        ['send', '--to', ADA, '--timeout', '0', 'x'],
        2,
        /^--timeout must be a whole number, 1 or more, not "0"/,
      ],
      [['send', '--to', 'nobody', '--from', LINE, 'x'], 1, /^number: /],
      [['send', '--to', ADA, '--from', '+12025559999', 'x'], 1, /./],
      [['send', '--to', ADA, '--from', LINE, '--style', 'odd', 'x'], 1, /^send_style: /],
      [['messages', 'x'], 2, /^This command takes no arguments besides options, not "x"/],
      [['messages', '--limit', 'x'], 2, /^--limit must be a whole number, 1 or more, not "x"/],
      [['messages', '--status', 'odd'], 1, /^status: /],
      [['tail', '--types', 'odd'], 1, /^types: there is no odd/],
      [['tail', '--since', '99999999'], 1, /^since: this account has no event/],
      [['tail', '--url', 'http://127.0.0.1:1'], 1, /^No server answers at /],
      [['replay'], 2, /^Give one delivery id, or --failed/],
      [['replay', '1', '--failed'], 2, /^Give either the id of one delivery or options/],
      [['replay', '999999'], 1, /^There is no such delivery\n$/],
      [['replay', '--since', 'tomorrow'], 1, /^created_at_gte: /],
    ]
    const runs = await Promise.all(failing.map(([args]) => cli(...args)))
    for (const [i, [args, code, words]] of failing.entries()) {
      expect([args.join(' '), runs[i]!.code, runs[i]!.stdout]).toEqual([args.join(' '), code, ''])
      expect(runs[i]!.stderr, args.join(' ')).toMatch(words)
    }
  })
})
