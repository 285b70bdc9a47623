import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { createClock } from '../../src/base/clock.js'
import { NoAnswer } from '../../src/core/lines/no-answer.js'
import type { HttpAsk } from '../../src/drivers/host.js'
import { createLineHttp } from '../../src/services/lines/http.js'
import { drip, flood, misbehave } from '../support/web/hostile.js'
import { CERT, EXPIRED, KEY } from '../support/web/tls.js'

const opened: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

function client() {
  const clock = createClock()
  const line = createLineHttp({ clock, errand: (work) => work() })
  opened.push(() => line.close(), clock.stop)
  return line
}

async function listen<T extends TcpServer | Server>(server: T): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  opened.push(() => {
    ;(server as Server).closeAllConnections?.()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

async function serve(answer: (request: IncomingMessage, reply: ServerResponse) => void): Promise<string> {
  return `http://127.0.0.1:${await listen(createServer(answer))}`
}

async function rude(...args: Parameters<typeof misbehave>) {
  const server = await misbehave(...args)
  opened.push(server.close)
  return server
}

const POST: HttpAsk = { method: 'POST', path: '/send', body: 'hello', timeoutMs: 5000 }

async function noAnswer(asked: Promise<unknown>): Promise<NoAnswer> {
  const error = await asked.then(
    () => undefined,
    (error) => error,
  )
  expect(error).toBeInstanceOf(NoAnswer)
  return error
}

it('keeps the path of its base, and hands back status, headers and body', async () => {
  const base = await serve((request, reply) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () =>
      reply
        .writeHead(201, { 'x-own': 'yes' })
        .end(`${request.method} ${request.url} ${request.headers['x-key']} ${Buffer.concat(chunks)}`),
    )
  })
  const { http } = client()
  for (const slash of ['', '/']) {
    const answer = await http(`${base}/some/where${slash}`).request({
      ...POST,
      path: '/send?a=b',
      headers: { 'x-key': 'k' },
    })
    expect(answer).toMatchObject({ status: 201, headers: { 'x-own': 'yes' } })
    expect(String(answer.body)).toBe('POST /some/where/send?a=b k hello')
  }
  async function* pieces() {
    yield Buffer.from('in ')
    yield Buffer.from('pieces')
  }
  expect(String((await http(base).request({ ...POST, body: pieces() })).body)).toMatch(/in pieces$/)
})

it('takes a redirect for an answer, and calls nobody else', async () => {
  let other = 0
  const elsewhere = await serve((_request, reply) => {
    other++
    reply.end()
  })
  const base = await serve((_request, reply) => reply.writeHead(307, { location: elsewhere }).end())
  expect(await client().http(base).request(POST)).toMatchObject({
    status: 307,
    headers: { location: elsewhere },
  })
  expect(other).toBe(0)
})

it.each([
  ['ftp://host/', 'that is no http or https address'],
  ['not an address', 'that is no http or https address'],
  ['', 'that is no http or https address'],
])('has nothing leave for %j', async (base, message) => {
  expect(await noAnswer(client().http(base).request(POST))).toMatchObject({ left: false, message })
  expect(await noAnswer(client().http(base).open(POST))).toMatchObject({ left: false, message })
})

it('knows that nothing left when nobody listens', async () => {
  const server = createTcpServer()
  const port = await listen(server)
  server.close()
  for (const host of ['127.0.0.1', 'localhost'])
    expect(await noAnswer(client().http(`http://${host}:${port}`).request(POST))).toMatchObject({
      left: false,
      message: 'nobody listens at that address and port',
    })
})

it('knows that nothing left when the name means nothing, and does not repeat the address', async () => {
  const error = await noAnswer(client().http('http://user:hunter2@nowhere.invalid/').request(POST))
  expect(error.left).toBe(false)
  // A machine without a resolver cannot tell whether the name exists.
  expect(error.message).toBeOneOf(['no such host name', 'the host name cannot be looked up right now'])
  expect(`${error.stack}${JSON.stringify(error)}`).not.toContain('hunter2')
})

it.each([
  ['signs itself', CERT, 'its certificate is signed by itself alone'],
  ['has expired', EXPIRED, /signed by itself|expired/],
])('knows that nothing left when a certificate %s', async (_what, cert, message) => {
  let requests = 0
  const port = await listen(createTlsServer({ cert, key: KEY }, () => requests++) as unknown as Server)
  const error = await noAnswer(client().http(`https://127.0.0.1:${port}`).request(POST))
  expect(error).toMatchObject({ left: false, message: expect.stringMatching(message) })
  expect(requests).toBe(0)
})

it('knows that nothing left when the other side does not speak TLS', async () => {
  const base = await serve((_request, reply) => reply.end())
  const error = await noAnswer(client().http(base.replace('http', 'https')).request(POST))
  expect(error).toMatchObject({ left: false, message: 'it does not speak TLS there; try http' })
})

it('knows that nothing left when the time is over before there is a connection', async () => {
  // Connected, but the other side never says its part of the handshake.
  const server = await rude(() => {})
  const asked = client()
    .http(`https://127.0.0.1:${server.port}`)
    .request({ ...POST, timeoutMs: 60 })
  expect(await noAnswer(asked)).toMatchObject({ left: false, message: 'no answer in 60 ms' })
})

it('does not let a request leave whose time was over when the connection came', async () => {
  let heard = 0
  let accept = () => {}
  const gate = new Promise<void>((resolve) => {
    accept = resolve
  })
  const tls = createTlsServer({ cert: CERT, key: KEY }, (_request, reply) => {
    heard++
    reply.end()
  })
  // Plain bytes in between, which are passed on only after the time is over.
  const inner = await listen(tls as unknown as Server)
  const { connect } = await import('node:net')
  const front = createTcpServer((socket) => {
    socket.on('error', () => {})
    socket.pause()
    void gate.then(() => {
      const through = connect(inner, '127.0.0.1')
      through.on('error', () => {})
      socket.pipe(through).pipe(socket)
    })
  })
  const port = await listen(front)
  const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  try {
    const { http } = client()
    const base = http(`https://127.0.0.1:${port}`)
    expect(await noAnswer(base.request({ ...POST, timeoutMs: 50 }))).toMatchObject({ left: false })
    accept()
    // The connection that came too late serves the next one, and that is the only one.
    expect(await base.request(POST)).toMatchObject({ status: 200 })
    expect(heard).toBe(1)
  } finally {
    if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
    else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before
  }
})

it.each([
  ['cut at once', (end: () => void) => end()],
  [
    'cut after a part of the answer',
    (end: () => void, write: (text: string) => void) => {
      write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf')
      end()
    },
  ],
])('knows that the request may have arrived when the connection is %s', async (_what, act) => {
  const server = await rude((socket) =>
    act(
      () => socket.end(() => socket.resetAndDestroy()),
      (text) => socket.write(text),
    ),
  )
  const error = await noAnswer(client().http(server.url).request(POST))
  expect(error).toMatchObject({ left: true, message: 'the connection was cut' })
})

it.each([
  ['no answer comes', () => {}],
  [
    'the answer comes too slowly',
    (socket: Parameters<typeof drip>[0]) =>
      drip(socket, 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n', 'x'),
  ],
])('knows that the request may have arrived when %s', async (_what, act) => {
  const server = await rude(act)
  const asked = client()
    .http(server.url)
    .request({ ...POST, timeoutMs: 120 })
  expect(await noAnswer(asked)).toMatchObject({ left: true, message: 'no answer in 120 ms' })
})

it('knows that the request may have arrived when the answer is no HTTP', async () => {
  const server = await rude((socket) => socket.end('SSH-2.0-OpenSSH_9.7\r\n'))
  expect(await noAnswer(client().http(server.url).request(POST))).toMatchObject({
    left: true,
    message: 'it does not speak HTTP there',
  })
})

it('reads so much and no more', async () => {
  const base = await serve((_request, reply) => reply.end('x'.repeat(1000)))
  const { http } = client()
  expect((await http(base).request({ ...POST, maxBytes: 1000 })).body).toHaveLength(1000)
  expect(await noAnswer(http(base).request({ ...POST, maxBytes: 999 }))).toMatchObject({
    left: true,
    message: 'the answer is larger than 999 bytes',
  })
  const endless = await rude((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    flood(socket, Buffer.alloc(64 * 1024))
  })
  expect((await noAnswer(http(endless.url).request(POST))).message).toMatch(/larger than 10000000 bytes/)
})

it('hands the body on as it comes, and fails where it breaks off', async () => {
  let breakOff = () => {}
  const base = await serve((_request, reply) => {
    reply.write('one')
    breakOff = () => reply.destroy()
  })
  const { status, body } = await client()
    .http(base)
    .open({ ...POST, method: 'GET', body: undefined })
  expect(status).toBe(200)
  const pieces = body[Symbol.asyncIterator]()
  expect(String((await pieces.next()).value)).toBe('one')
  breakOff()
  expect(await noAnswer(pieces.next())).toMatchObject({ left: true })
})

it('ends what is under way when the line is closed, and begins nothing any more', async () => {
  let arrived = () => {}
  const there = new Promise<void>((resolve) => {
    arrived = resolve
  })
  const base = await serve(() => arrived())
  const line = client()
  const asked = noAnswer(line.http(base).request(POST))
  await there
  await line.close()
  expect(await asked).toMatchObject({ left: true, message: 'the line is being closed' })
  expect(await noAnswer(line.http(base).request(POST))).toMatchObject({
    left: false,
    message: 'the line is being closed',
  })
})

it('waits by the clock of the world', async () => {
  const clock = createClock(1000)
  const line = createLineHttp({ clock, errand: (work) => work() })
  opened.push(() => line.close())
  let arrived = () => {}
  const there = new Promise<void>((resolve) => {
    arrived = resolve
  })
  const base = await serve(() => arrived())
  const asked = noAnswer(line.http(base).request({ ...POST, timeoutMs: 30_000 }))
  await there
  await clock.advance(30_000, async () => {})
  expect(await asked).toMatchObject({ left: true, message: 'no answer in 30000 ms' })
})
