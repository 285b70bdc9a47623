import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import {
  eventually,
  type SpawnedServer,
  spawnServer,
  startCli,
  temporaryDirectory,
} from '../support/server.js'
import { createSink, type Received, type Sink } from '../support/web/sink.js'
import { ADA, credentials, type Json, LINE } from '../support/world.js'

const SECRET = `whsec_${Buffer.from('a key of twenty-four byt').toString('base64')}`

describe('trunkline listen', () => {
  let server: SpawnedServer
  let sink: Sink
  beforeAll(async () => {
    server = await spawnServer()
    sink = await createSink()
  })
  afterAll(() => sink.close())

  const post = async (path: string, body: object, method = 'POST') => {
    const headers = { ...credentials('live'), 'content-type': 'application/json' }
    const reply = await fetch(server.url + path, { method, headers, body: JSON.stringify(body) })
    expect(reply.status, path).toBeLessThan(300)
    return (await reply.json()) as Json
  }
  const text = (content: string) =>
    post(`/sim/phones/${encodeURIComponent(ADA)}/messages`, { to: LINE, content })
  const at = (path: string) => sink.received.filter((one) => one.path === path)
  const arrived = (path: string, n: number) =>
    eventually(
      async () => at(path),
      (all) => all.length >= n,
    )
  const contents = (posts: Received[]) => posts.map((one) => one.body.content)
  const ready = (cli: { stdout: string }) =>
    eventually(
      async () => cli.stdout,
      (out) => out.includes('\n'),
    )

  it('posts exactly what a webhook would be, signed', async () => {
    const folder = temporaryDirectory()
    const secretFile = join(folder, 'secret')
    writeFileSync(secretFile, `${SECRET}\n`)
    const hook = (path: string) => ({ url: sink.url + path, secret: SECRET })
    await post('/api/account/webhooks', { webhooks: [hook('/hook')], type: 'receive' })
    await post('/api/account/webhooks', { webhooks: [hook('/hook')], type: 'outbound' })
    const args = ['listen', '--forward-to', `${sink.url}/same`, '--secret-file', secretFile, '--json']
    const cli = startCli([...args, '--types', 'receive,outbound'], {
      TRUNKLINE_URL: server.url,
      TRUNKLINE_DATA: folder,
    })
    await ready(cli)
    await text('Exactly')
    await post('/api/send-message', { number: ADA, from_number: LINE, content: 'the same' })
    const isDone = (all: Received[]) => all.some((one) => one.body.status === 'DELIVERED')
    const forwarded = await eventually(async () => at('/same'), isDone)
    const hooked = await eventually(async () => at('/hook'), isDone)
    expect(forwarded.length).toBeGreaterThan(2)

    const ids = (posts: Received[]) => posts.map((one) => Number(one.headers['x-trunkline-sequence']))
    expect(ids(forwarded)).toEqual([...ids(forwarded)].sort((a, b) => a - b))
    const own = (one: Received) =>
      Object.entries(one.headers).filter(([name]) =>
        /^(x-)?(webhook-id|trunkline|sb-)|content-type|user-agent/.test(name),
      )
    for (const one of forwarded) {
      expect(new Webhook(SECRET).verify(one.text, one.headers as Record<string, string>)).toEqual(one.body)
      const twin = hooked.find((other) => other.headers['webhook-id'] === one.headers['webhook-id'])!
      expect(one.text).toBe(twin.text)
      expect(Object.fromEntries(own(one))).toEqual(Object.fromEntries(own(twin)))
    }
    const [greeting, first] = cli.stdout.split('\n').map((line) => line && JSON.parse(line))
    expect(greeting).toMatchObject({ ready: true, forward_to: `${sink.url}/same` })
    expect(first).toMatchObject({ type: 'receive', event_type: 'message.received', http_status: 200 })
    expect(cli.stdout).not.toContain(SECRET)
    expect(await cli.kill('SIGINT')).toEqual({ code: 0, signal: null })
  })

  it('killed and started again, loses nothing; a receiver that fails is asked again, in order', async () => {
    const folder = temporaryDirectory()
    const args = ['listen', '--forward-to', `${sink.url}/kept`, '--types', 'receive']
    const start = (...more: string[]) =>
      startCli([...args, ...more], { TRUNKLINE_URL: server.url, TRUNKLINE_DATA: folder })
    const first = start()
    // With development keys it is shown without being asked for.
    const secret = /signed with (whsec_\S+)/.exec(await ready(first))![1]!
    await text('kept 1')
    await text('kept 2')
    await arrived('/kept', 2)

    // Down: the third is tried again and again, and the killing falls into that.
    sink.answer(({ path }) => (path === '/kept' ? 503 : 200))
    await text('kept 3')
    await text('kept 4')
    await arrived('/kept', 4)
    await first.kill('SIGKILL')
    await text('kept 5')
    const before = at('/kept').length
    expect(contents(at('/kept')).filter((one) => one === 'kept 4')).toEqual([])
    const [name] = readdirSync(folder).filter((file) => /^listen-\w{16}\.json$/.test(file))
    const file = join(folder, name!)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ after: expect.any(Number), secret })

    const second = start()
    await arrived('/kept', before + 1)
    sink.answer(() => 200)
    await arrived('/kept', before + 4)
    await text('kept 6')
    await eventually(
      async () => contents(at('/kept')),
      (all) => all.includes('kept 6'),
    )
    expect(await second.kill('SIGTERM')).toEqual({ code: 0, signal: null })
    expect(second.stdout).toMatch(
      / receive +message\.received +\S+ RECEIVED {2}503 in \d+ ms, again in 250 ms\n/,
    )

    const all = at('/kept')
    expect([...new Set(contents(all))]).toEqual([1, 2, 3, 4, 5, 6].map((n) => `kept ${n}`))
    // The repetition came before the next delivery, under its old id.
    expect(contents(all)).toEqual([...contents(all)].sort())
    expect(new Set(all.map((one) => one.headers['webhook-id'])).size).toBe(6)
    for (const one of all) new Webhook(secret).verify(one.text, one.headers as Record<string, string>)
  })

  it('killed in the middle of deliveries again and again, posts everything, in order, with one signature', async () => {
    const folder = temporaryDirectory()
    const args = ['listen', '--forward-to', `${sink.url}/storm`, '--types', 'receive', '--since', '0']
    const start = (...more: string[]) =>
      startCli([...args, ...more], { TRUNKLINE_URL: server.url, TRUNKLINE_DATA: folder })
    const total = 40
    const mine = () => at('/storm').filter((one) => String(one.body.content).startsWith('storm '))
    const numberIn = (one: Received) => Number(String(one.body.content).slice(6))
    // Every ninth gets no answer the first time: whoever is killed then has posted it, and it was not taken.
    const unanswered = new Set<number>()
    const taken: number[] = []
    let posts = 0
    sink.answer((post) => {
      if (post.path !== '/storm' || !String(post.body.content).startsWith('storm ')) return 200
      const n = numberIn(post)
      if (n % 9 === 0 && !unanswered.has(n)) return void unanswered.add(n)
      if (++posts % 7 === 0) return 503
      taken.push(n)
      return 200
    })
    for (let n = 1; n <= total; n++) await text(`storm ${n}`)
    const first = start('--print-secret')
    const secret = /signed with (whsec_\S+)/.exec(await ready(first))![1]!
    let running = first
    for (let n = 9; n <= total; n += 9) {
      await eventually(
        async () => unanswered.has(n),
        (isPosted) => isPosted,
      )
      await running.kill('SIGKILL')
      running = start()
    }
    await text(`storm ${total + 1}`)
    await eventually(
      async () => taken.includes(total + 1),
      (isTaken) => isTaken,
    )
    expect(await running.kill('SIGTERM')).toEqual({ code: 0, signal: null })
    sink.answer(() => 200)
    expect(unanswered.size).toBe(4)
    expect([...new Set(taken)]).toEqual(Array.from({ length: total + 1 }, (_, i) => i + 1))
    // Repeats stand next to what they repeat, and have its name and its text.
    const all = mine().map(numberIn)
    expect(all).toEqual([...all].sort((a, b) => a - b))
    const names = new Map<string, string>()
    for (const one of mine()) {
      new Webhook(secret).verify(one.text, one.headers as Record<string, string>)
      const id = one.headers['webhook-id'] as string
      expect(names.get(id) ?? one.text).toBe(one.text)
      names.set(id, one.text)
    }
    expect(names.size).toBe(total + 1)
  })

  it('lets no second listener onto the same bookmark, and is not stopped by one that was killed', async () => {
    const env = { TRUNKLINE_URL: server.url, TRUNKLINE_DATA: temporaryDirectory() }
    const args = ['listen', '--forward-to', `${sink.url}/alone`]
    const first = startCli(args, env)
    await ready(first)
    const second = await runCli(args, env)
    expect([second.code, second.stdout]).toEqual([1, ''])
    expect(second.stderr).toMatch(
      /^Another process \(\d+\) uses .*listen-\w+\.json\. Stop it, or use another file/,
    )
    // Another receiver is another listener.
    const other = startCli(['listen', '--forward-to', `${sink.url}/other`], env)
    await ready(other)
    await other.kill('SIGINT')
    await first.kill('SIGKILL')
    const third = startCli(args, env)
    await ready(third)
    expect(await third.kill('SIGINT')).toEqual({ code: 0, signal: null })
    expect(readdirSync(env.TRUNKLINE_DATA).filter((file) => file.endsWith('.pid'))).toEqual([])
  })

  it('goes on after a server that was killed and started again', async () => {
    const storage = { TRUNKLINE_DATA: join(temporaryDirectory(), 'data') }
    const other = await spawnServer({ env: storage })
    const port = new URL(other.url).port
    const path = `/sim/phones/${encodeURIComponent(ADA)}/messages`
    const say = (content: string) =>
      fetch(other.url + path, {
        method: 'POST',
        headers: { ...credentials('live'), 'content-type': 'application/json' },
        body: JSON.stringify({ to: LINE, content }),
      })
    const bookmark = join(temporaryDirectory(), 'mark.json')
    const args = ['listen', '--forward-to', `${sink.url}/server`, '--bookmark', bookmark]
    const cli = startCli([...args, '--types', 'receive'], { TRUNKLINE_URL: other.url })
    await ready(cli)
    await say('server 1')
    await arrived('/server', 1)
    await other.kill('SIGKILL')
    await spawnServer({ env: { ...storage, PORT: port } })
    await say('server 2')
    await arrived('/server', 2)
    expect(contents(at('/server'))).toEqual(['server 1', 'server 2'])
    expect(cli.stderr).toMatch(/^The connection broke/)
    await cli.kill('SIGINT')
  })

  it('ends with 1 and a reason, or 2 and the help', async () => {
    const folder = temporaryDirectory()
    const torn = join(folder, 'torn.json')
    writeFileSync(torn, '{"after":')
    const to = ['--forward-to', sink.url]
    const failing: [string[], number, RegExp][] = [
      [[], 2, /^--forward-to is required\nSee trunkline listen --help\./],
      [['--forward-to', 'localhost:3000'], 2, /^--forward-to must be a URL, like .*, not "localhost:3000"/],
      [[...to, 'x'], 2, /^This command takes no arguments besides options, not "x"/],
      [[...to, '--types', 'odd'], 1, /^types: there is no odd\. There are receive, /],
      [[...to, '--since', '99999999'], 1, /^since: this account has no event/],
      [[...to, '--bookmark', torn], 1, /is not a bookmark/],
      [[...to, '--secret-file', '/nowhere/at/all'], 1, /^The file \/nowhere\/at\/all cannot be read/],
      [[...to, '--url', 'http://127.0.0.1:1'], 1, /^No server answers at /],
    ]
    const env = () => ({ TRUNKLINE_URL: server.url, TRUNKLINE_DATA: temporaryDirectory() })
    const runs = await Promise.all(failing.map(([args]) => runCli(['listen', ...args], env())))
    for (const [i, [args, code, words]] of failing.entries()) {
      expect([args.join(' '), runs[i]!.code, runs[i]!.stdout]).toEqual([args.join(' '), code, ''])
      expect(runs[i]!.stderr).toMatch(words)
    }
  })
})
