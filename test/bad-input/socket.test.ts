import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADA, createWorld, credentials, LINE, type World } from '../support/world.js'

const CRLF = '\r\n'
const auth = Object.entries(credentials('live')).map(([name, value]) => `${name}: ${value}`)
const send = JSON.stringify({ from_number: LINE, number: ADA, content: 'Hello' })

interface Answer {
  status: number
  headers: string
  body: string
}

/** Writes bytes to the listening server and collects what it answers until it closes the connection. */
function raw(world: World, parts: (string | Buffer)[], options: { end?: boolean } = {}): Promise<Answer[]> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(world.app.url()).port), '127.0.0.1')
    const chunks: Buffer[] = []
    socket.setTimeout(8000, () => {
      socket.destroy()
      reject(new Error(`the connection stayed open after ${Buffer.concat(chunks)}`))
    })
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('error', () => {})
    socket.on('close', () => resolve(answers(Buffer.concat(chunks).toString())))
    for (const part of parts) socket.write(part)
    if (options.end) socket.end()
  })
}

/** Splits a connection's bytes into answers by their Content-Length, so that text inside a body cannot pass as one. */
function answers(text: string): Answer[] {
  const found: Answer[] = []
  for (let rest = text; rest !== ''; ) {
    const end = rest.indexOf(CRLF + CRLF)
    const headers = rest.slice(0, end)
    // Node's own refusals come in chunks and are always the last.
    const chunks = /^transfer-encoding: chunked/im.test(headers)
    const length = chunks ? rest.length : Number(/^content-length: (\d+)/im.exec(headers)?.[1] ?? 0)
    const body = chunks ? '' : rest.slice(end + 4, end + 4 + length)
    found.push({ status: Number(headers.split(' ')[1]), headers, body })
    rest = rest.slice(end + 4 + length)
  }
  return found
}

function post(headers: string[], body: string | Buffer, path = '/api/send-message'): (string | Buffer)[] {
  return [[`POST ${path} HTTP/1.1`, 'Host: t', ...auth, ...headers, '', ''].join(CRLF), body]
}

function get(path: string, ...headers: string[]): string {
  return [`GET ${path} HTTP/1.1`, 'Host: t', 'Connection: close', ...auth, ...headers, '', ''].join(CRLF)
}

const json = 'Content-Type: application/json'
const length = `Content-Length: ${send.length}`
const chunked = 'Transfer-Encoding: chunked'
const chunk = (text: string) => `${text.length.toString(16)}${CRLF}${text}${CRLF}`

async function stored(world: World): Promise<number> {
  return (await world.app.ctx.db.one<{ n: number }>('select count(*) as n from messages'))!.n
}

describe('broken HTTP on a real socket', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld('sqlite')
  })
  afterAll(() => world.close())

  const smuggled = `GET /livez HTTP/1.1${CRLF}Host: t${CRLF}${CRLF}`
  it.each<[string, (string | Buffer)[]]>([
    ['a negative Content-Length', post([json, 'Content-Length: -5'], send)],
    ['a Content-Length with a sign', post([json, `Content-Length: +${send.length}`], send)],
    ['a hexadecimal Content-Length', post([json, 'Content-Length: 0x20'], send)],
    ['an empty Content-Length', post([json, 'Content-Length:'], send)],
    ['a listed Content-Length', post([json, `Content-Length: ${send.length}, ${send.length}`], send)],
    ['a Content-Length beyond all numbers', post([json, `Content-Length: ${'9'.repeat(30)}`], send)],
    ['two equal Content-Lengths', post([json, length, length], send)],
    ['two different Content-Lengths', post([json, length, 'Content-Length: 0'], send)],
    [
      'Content-Length, then Transfer-Encoding',
      post([json, length, chunked], chunk(send) + chunk('') + smuggled),
    ],
    [
      'Transfer-Encoding, then Content-Length',
      post([json, chunked, 'Content-Length: 4'], chunk(send) + chunk('') + smuggled),
    ],
    ['an unknown Transfer-Encoding', post([json, 'Transfer-Encoding: xchunked'], chunk(send) + chunk(''))],
    ['chunked not last', post([json, 'Transfer-Encoding: chunked, identity'], chunk(send) + chunk(''))],
    ['a space before the colon', post([json, 'Transfer-Encoding : chunked'], chunk(send) + chunk(''))],
    ['two Transfer-Encodings', post([json, chunked, 'Transfer-Encoding: identity'], chunk(send) + chunk(''))],
    ['a chunk length that is no number', post([json, chunked], `zz${CRLF}${send}${CRLF}0${CRLF}${CRLF}`)],
    ['a negative chunk length', post([json, chunked], `-5${CRLF}${send}${CRLF}0${CRLF}${CRLF}`)],
    ['a chunk length beyond all numbers', post([json, chunked], `${'f'.repeat(20)}${CRLF}${send}${CRLF}`)],
    ['a chunk longer than it says', post([json, chunked], `5${CRLF}${send}${CRLF}0${CRLF}${CRLF}`)],
    ['a NUL in a header', post([json, length, 'X-Odd: a\0b'], send)],
    [
      'a NUL in a credential',
      [`GET /api/v2/messages HTTP/1.1${CRLF}Host: t${CRLF}sb-api-key-id: dev\0${CRLF}${CRLF}`],
    ],
    ['a header without a colon', post([json, length, 'Nonsense'], send)],
    ['a header without a name', post([json, length, ': value'], send)],
    ['no Host', [`GET /livez HTTP/1.1${CRLF}Connection: close${CRLF}${CRLF}`]],
    ['an unknown version', [`GET /livez HTTP/9.9${CRLF}Host: t${CRLF}${CRLF}`]],
    ['an unknown method', [`GRAB /livez HTTP/1.1${CRLF}Host: t${CRLF}${CRLF}`]],
    ['a NUL in the path', [`GET /api/\0 HTTP/1.1${CRLF}Host: t${CRLF}${CRLF}`]],
    ['the greeting of TLS', [Buffer.from('16030100a5010000a10303', 'hex')]],
  ])('%s: 400 and the connection closes', async (_name, parts) => {
    const got = await raw(world, parts)
    expect(got.map((answer) => answer.status)).toEqual([400])
    expect(got[0]!.headers.toLowerCase()).toContain('connection: close')
    if (got[0]!.body !== '') expect(JSON.parse(got[0]!.body)).toMatchObject({ status: 'ERROR' })
    expect(await stored(world)).toBe(0)
  })

  it('a body shorter than its Content-Length stores nothing', async () => {
    const got = await raw(world, post([json, `Content-Length: ${send.length + 10}`], send), { end: true })
    expect(got.map((answer) => answer.status)).toEqual([400])
    expect(await stored(world)).toBe(0)
  })

  it('what follows a body that is longer than its Content-Length is no request', async () => {
    const got = await raw(world, post([json, 'Content-Length: 5'], send))
    expect(new Set(got.map((answer) => answer.status))).toEqual(new Set([400]))
    expect(await stored(world)).toBe(0)
  })

  it.each<[string, string[], number]>([
    ['headers of 20 KB in one piece', [get('/livez', `X-Big: ${'x'.repeat(20_000)}`)], 431],
    [
      'credentials of 20 KB',
      [
        `GET /api/v2/messages HTTP/1.1${CRLF}Host: t${CRLF}sb-api-key-id: ${'x'.repeat(20_000)}${CRLF}${CRLF}`,
      ],
      431,
    ],
    ['3,000 headers', [get('/livez', ...Array.from({ length: 3000 }, (_, i) => `X-${i}: ${i}`))], 431],
    ['a path of 16 KB', [get(`/${'x'.repeat(16_384)}`)], 414],
    ['a query of 16 KB', [get(`/api/v2/messages?number=${'1'.repeat(16_384)}`)], 414],
    ['a path of 10 KB', [get(`/${'x'.repeat(10_000)}`)], 414],
  ])('%s: %3$s', async (_name, parts, status) => {
    const [answer, ...more] = await raw(world, parts)
    expect(answer!.status).toBe(status)
    expect(JSON.parse(answer!.body)).toMatchObject({ status: 'ERROR' })
    expect(more).toEqual([])
  })

  it('headers of 20 KB in several packets are too large too, and not taken for a long URL', async () => {
    const socket = connect({ port: Number(new URL(world.app.url()).port), host: '127.0.0.1', noDelay: true })
    const text = get('/livez', `X-Big: ${'x'.repeat(20_000)}`)
    const got = await new Promise<string>((resolve) => {
      let all = ''
      let at = 0
      const next = () => {
        if (at >= text.length || !socket.writable) return
        socket.write(text.slice(at, at + 1000), () => setImmediate(next))
        at += 1000
      }
      socket.on('data', (data) => (all += data)).on('error', () => {})
      socket.on('connect', next).on('close', () => resolve(all))
    })
    expect(answers(got)[0]).toMatchObject({ status: 431 })
  })

  it.each<[string, string, number]>([
    ['an unknown path', '/nowhere', 404],
    ['a doubled slash in front', '//api/v2/messages', 404],
    ['a doubled slash inside', '/api//v2/messages', 404],
    ['a dot segment', '/api/./v2/messages', 404],
    ['a dot-dot segment', '/api/x/../v2/messages', 404],
    ['an encoded dot-dot segment', '/api/x/%2e%2e/v2/messages', 404],
    ['a trailing slash', '/api/v2/messages/', 404],
    ['an upper-case path', '/API/V2/MESSAGES', 404],
    ['an encoded slash between segments', '/api%2Fv2/messages', 404],
    ['a slash inside an id', '/api/v2/messages/a%2Fb', 404],
    ['a climb inside an id', '/api/v2/messages/..%2F..%2Fadmin%2Fkeys', 404],
    ['a dot-dot id', '/api/v2/messages/..', 404],
    ['an encoded dot-dot id', '/api/v2/messages/%2e%2e', 404],
    ['an id of 600 characters', `/api/v2/messages/${'x'.repeat(600)}`, 414],
    ['NUL as an id', '/api/v2/messages/%00', 400],
    ['NUL inside an id', '/api/v2/messages/a%00b', 400],
    ['a broken escape', '/api/v2/messages/%zz', 400],
    ['half an escape', '/api/v2/messages/%f', 400],
    ['an escape that is not UTF-8', '/api/v2/messages/%ff', 400],
    ['a lone surrogate as an escape', '/api/v2/messages/%ed%a0%80', 400],
    ['backslashes', '/api\\v2\\messages', 404],
    ['a NUL in the query', '/api/status?handle=a%00b', 400],
  ])('%s never reaches a route by accident', async (_name, path, status) => {
    const [answer] = await raw(world, [get(path)])
    expect(answer!.status).toBe(status)
    expect(JSON.parse(answer!.body)).toMatchObject({ status: 'ERROR', message: expect.any(String) })
  })

  it('reads pipelined requests in their order', async () => {
    const first = get('/livez').replace(`Connection: close${CRLF}`, '')
    const got = await raw(world, [first + first + get('/nowhere')])
    expect(got.map((answer) => answer.status)).toEqual([200, 200, 404])
  })

  it('answers HTTP/1.0 and closes', async () => {
    expect((await raw(world, [`GET /livez HTTP/1.0${CRLF}${CRLF}`])).map((answer) => answer.status)).toEqual([
      200,
    ])
  })

  it('does not switch protocols', async () => {
    const upgrade = [
      'Upgrade: websocket',
      'Connection: Upgrade',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZQ==',
      'Sec-WebSocket-Version: 13',
    ]
    const got = await raw(world, [get('/livez', ...upgrade), get('/livez')])
    expect(got[0]!.status).toBe(200)
  })

  it('asks for the body when told Expect: 100-continue, and refuses other expectations', async () => {
    const before = await stored(world)
    const got = await raw(world, post([json, length, 'Expect: 100-continue', 'Connection: close'], send))
    expect(got.map((answer) => answer.status)).toEqual([100, 202])
    const odd = await raw(world, post([json, length, 'Expect: a miracle', 'Connection: close'], send))
    expect(odd.map((answer) => answer.status)).toEqual([417])
    expect(await stored(world)).toBe(before + 1)
  })

  it('serves others while 500 connections sit idle', async () => {
    const port = Number(new URL(world.app.url()).port)
    const idle = await Promise.all(
      Array.from(
        { length: 500 },
        () =>
          new Promise<ReturnType<typeof connect>>((resolve) => {
            const socket = connect(port, '127.0.0.1', () => resolve(socket))
          }),
      ),
    )
    expect((await raw(world, [get('/livez')]))[0]!.status).toBe(200)
    for (const socket of idle) socket.destroy()
  })

  it('cuts slow clients off', () => {
    expect(world.app.server.server).toMatchObject({ headersTimeout: 10_000, requestTimeout: 30_000 })
  })

  it('keeps two requests on one connection apart even when credentials differ', async () => {
    const first = get('/api/v2/messages').replace(`Connection: close${CRLF}`, '')
    const got = await raw(world, [
      `${first}GET /api/v2/messages HTTP/1.1${CRLF}Host: t${CRLF}Connection: close${CRLF}${CRLF}`,
    ])
    expect(got.map((answer) => answer.status)).toEqual([200, 401])
  })
})
