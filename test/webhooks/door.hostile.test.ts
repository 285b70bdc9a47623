import type { Socket } from 'node:net'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import {
  createDoor,
  type Door,
  type DoorOptions,
  type PostRequest,
} from '../../src/services/webhooks/door/door.js'
import type { PostFailed } from '../../src/services/webhooks/door/failure.js'
import { turns } from '../support/turns.js'
import { drip, flood, misbehave, type Receiver } from '../support/web/hostile.js'
import { LOOPBACK, names } from '../support/web/names.js'
import { CERT, EXPIRED, KEY } from '../support/web/tls.js'

/** Receivers on real sockets that do what no receiver should, and what each leads to. */

const OK = 'HTTP/1.1 200 OK\r\n'
/** For posts that end by their time limit; long enough for an answer that comes first on a loaded machine. */
const HANG_MS = 500
/** For posts that end by themselves. */
const PATIENT_MS = 30_000
let opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(opened.map((one) => one.close()))
  opened = []
})

function door(options: DoorOptions = {}): Door {
  const made = createDoor({ allowLoopback: true, allowHosts: ['files.example', 'public.example'] }, options)
  opened.push(made)
  return made
}

async function receiver(
  act: (socket: Socket, request: string) => void,
  greeting?: string,
): Promise<Receiver> {
  const made = await misbehave(act, greeting)
  opened.push(made)
  return made
}

const post = (through: Door, url: string, more: Partial<PostRequest> = {}) =>
  through.post(url, { account: 'a', headers: {}, body: '{}', timeoutMs: PATIENT_MS, ...more }).then(
    ({ status, body }) => ({ status, body: body.toString('latin1') }),
    (error: PostFailed) => error.reason ?? error,
  )

/** The result of a single post to such a receiver. */
const outcome = async (act: (socket: Socket) => void, more?: Partial<PostRequest>) =>
  post(door(), (await receiver(act)).url, more)

describe('a status line is an answer, whatever comes after it', () => {
  it.each<[string, (socket: Socket) => void, string]>([
    ['nothing, and no end', (s) => s.write(`${OK}\r\n`), ''],
    ['a body that never comes', (s) => s.write(`${OK}Content-Length: 10\r\n\r\n`), ''],
    ['a body that stops half way', (s) => s.write(`${OK}Content-Length: 10\r\n\r\nhalf`), 'half'],
    ['a body that is cut off', (s) => s.end(`${OK}Content-Length: 10\r\n\r\nhalf`), 'half'],
    [
      'a reset in the middle of the body',
      (s) =>
        s.write(`${OK}Content-Length: 10\r\n\r\nhalf`, () => void turns(20).then(() => s.resetAndDestroy())),
      'half',
    ],
    ['a body longer than announced', (s) => s.end(`${OK}Content-Length: 4\r\n\r\nhalfmore`), 'half'],
    [
      'a gigabyte that is announced and does not come',
      (s) => s.write(`${OK}Content-Length: 1000000000\r\n\r\nx`),
      'x',
    ],
    [
      'pieces of no size',
      (s) => s.write(`${OK}Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nzz\r\n`),
      'half',
    ],
    [
      'a piece of all the bytes there are',
      (s) => s.write(`${OK}Transfer-Encoding: chunked\r\n\r\nfffffffffffffff\r\nhalf`),
      'half',
    ],
  ])('%s', async (_name, act, body) => {
    expect(await outcome(act, { timeoutMs: HANG_MS })).toEqual({ status: 200, body })
  })

  it('a body of one byte at a time is cut off in time', async () => {
    const act = (socket: Socket) => {
      socket.write(`${OK}\r\n`)
      drip(socket, '', 'x')
    }
    const got = await outcome(act, { timeoutMs: HANG_MS })
    expect(got).toEqual({ status: 200, body: expect.stringMatching(/^x+$/) })
  })

  it('a bomb is not set off', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000))
    const got = await outcome((socket) => {
      socket.write(`${OK}Content-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`)
      socket.end(bomb)
    })
    expect(got).toEqual({ status: 200, body: bomb.subarray(0, 8192).toString('latin1') })
  })

  it('a failure stays a failure, too', async () => {
    const act = (socket: Socket) => socket.write('HTTP/1.1 503 Busy\r\nRetry-After: 9\r\n\r\n')
    expect(await outcome(act, { timeoutMs: HANG_MS })).toEqual({ status: 503, body: '' })
  })

  it('of every class, each with its number', async () => {
    let status = 0
    const url = (await receiver((s) => s.write(`HTTP/1.1 ${status} X\r\nContent-Length: 0\r\n\r\n`))).url
    const through = door()
    for (status of [
      200, 201, 202, 204, 299, 300, 301, 302, 304, 307, 308, 399, 400, 401, 404, 410, 418, 429, 451, 499, 500,
      501, 502, 503, 504, 599, 600, 999,
    ])
      expect([status, await post(through, url)]).toEqual([status, { status, body: '' }])
  })

  it('also after others that were only interim', async () => {
    const act = (socket: Socket) =>
      socket.write(
        `HTTP/1.1 102 X\r\n\r\nHTTP/1.1 103 Y\r\nLink: </a>\r\n\r\n${OK}Content-Length: 2\r\n\r\nok`,
      )
    expect(await outcome(act)).toEqual({ status: 200, body: 'ok' })
  })
})

describe('without a status line the post failed', () => {
  it.each<[string, (socket: Socket) => void, string]>([
    ['never answers', () => {}, 'timeout'],
    [
      'drips its status line',
      (s) => drip(s, `${OK}\r\n`.repeat(100).replace('OK', 'O'.repeat(500))),
      'timeout',
    ],
    ['drips its headers', (s) => drip(s, OK, 'x'), 'timeout'],
    ['answers in interim answers only', (s) => s.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 'timeout'],
    ['hangs up', (s) => s.end(), 'connection'],
    ['resets', (s) => s.resetAndDestroy(), 'connection'],
    ['hangs up in its status line', (s) => s.end('HTTP/1.1 2'), 'connection'],
    ['hangs up in its headers', (s) => s.end(`${OK}Content-Le`), 'connection'],
    [
      'resets in its headers',
      (s) => s.write(OK, () => void turns(20).then(() => s.resetAndDestroy())),
      'connection',
    ],
    ['tells us to go on with what we have said', (s) => s.write('HTTP/1.1 100 Continue\r\n\r\n'), 'protocol'],
    [
      'changes the protocol',
      (s) => s.write('HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
      'protocol',
    ],
    ['speaks something else', (s) => s.write('SSH-2.0-OpenSSH_9.2p1\r\n'), 'protocol'],
    ['speaks TLS', (s) => s.write(Buffer.from('15030100020228', 'hex')), 'protocol'],
    ['answers with a page and nothing else', (s) => s.end('<html>ok</html>'), 'protocol'],
    ['says an impossible status', (s) => s.write('HTTP/1.1 20 OK\r\n\r\n'), 'protocol'],
    ['says no number', (s) => s.write('HTTP/1.1 abc OK\r\n\r\n'), 'protocol'],
    ['says another version', (s) => s.write('HTTP/9.9 200 OK\r\n\r\n'), 'protocol'],
    ['says two lengths', (s) => s.write(`${OK}Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx`), 'protocol'],
    ['says a length that is none', (s) => s.write(`${OK}Content-Length: -1\r\n\r\n`), 'protocol'],
    ['has a header of a megabyte', (s) => s.write(`${OK}X-A: ${'x'.repeat(1_000_000)}\r\n\r\n`), 'protocol'],
    [
      'has headers without end',
      (s) => {
        s.write(OK)
        flood(s, Buffer.from('X-A: b\r\n'.repeat(1000)))
      },
      'protocol',
    ],
    ['has a NUL in a header', (s) => s.write(`${OK}X-A: \0\r\n\r\n`), 'protocol'],
  ])('when the receiver %s', async (_name, act, reason) => {
    expect(await outcome(act, reason === 'timeout' ? { timeoutMs: HANG_MS } : {})).toBe(reason)
  })

  it('when it does not even read what we say', async () => {
    const act = (socket: Socket) => socket.pause()
    expect(await outcome(act, { body: Buffer.alloc(20_000_000), timeoutMs: HANG_MS })).toBe('timeout')
  })

  it('when nobody is there', async () => {
    const gone = await misbehave(() => {})
    await gone.close()
    expect(await post(door(), gone.url)).toBe('connection')
  })

  it('when we were about to say something that is no HTTP', async () => {
    const { url, count } = await receiver((socket) => socket.end())
    expect(await post(door(), url, { headers: { 'x-a': 'b\r\nx-c: d' } })).toBe('protocol')
    expect(await post(door(), url, { headers: { 'x a': 'b' } })).toBe('protocol')
    expect(count()).toBe(0)
  })
})

describe('one post and the next', () => {
  it('a receiver that closes after each answer without a word gets each', async () => {
    const { url, count } = await receiver((socket) => socket.end(`${OK}Content-Length: 2\r\n\r\nok`))
    const through = door()
    for (let i = 0; i < 5; i++) {
      expect(await post(through, url)).toEqual({ status: 200, body: 'ok' })
      await turns(5)
    }
    expect(count()).toBe(5)
  })

  it('an answer to a question nobody asked is not taken for the next one', async () => {
    const { url } = await receiver((socket, request) => {
      if (request.includes('first'))
        socket.write(`${OK}Content-Length: 0\r\n\r\nHTTP/1.1 418 Forged\r\nContent-Length: 0\r\n\r\n`)
      else socket.write('HTTP/1.1 204 X\r\n\r\n')
    })
    const through = door()
    expect(await post(through, `${url}first`)).toMatchObject({ status: 200 })
    await new Promise(setImmediate)
    expect(await post(through, `${url}second`)).toMatchObject({ status: 204 })
  })

  it('a hung receiver holds up no other, not even of the same account', async () => {
    const hung = await receiver(() => {})
    const fine = await receiver((socket) => socket.write(`${OK}Content-Length: 0\r\n\r\n`))
    const through = door()
    let ended = 0
    const waiting = Array.from({ length: 100 }, () => post(through, hung.url).finally(() => ended++))
    for (let i = 0; i < 20; i++) expect(await post(through, fine.url)).toMatchObject({ status: 200 })
    expect(ended).toBe(0)
    await hung.close()
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['connection']))
  })
})

describe('memory', () => {
  it('stays where it is however much comes', async () => {
    let sent = 0
    const { url } = await receiver((socket) => {
      socket.write(`${OK}\r\n`)
      flood(socket, Buffer.alloc(65_536, 'x'))
      socket.on('close', () => {
        sent += socket.bytesWritten
      })
    })
    const through = door()
    const got = (results: unknown[]) =>
      expect(results).toEqual(results.map(() => ({ status: 200, body: 'x'.repeat(8192) })))
    got([await post(through, url, { timeoutMs: 5000 })])
    const before = process.memoryUsage()
    for (let round = 0; round < 5; round++)
      got(await Promise.all(Array.from({ length: 20 }, () => post(through, url, { timeoutMs: 5000 }))))
    const after = process.memoryUsage()
    expect(after.rss - before.rss).toBeLessThan(150_000_000)
    expect(after.heapUsed + after.external - before.heapUsed - before.external).toBeLessThan(100_000_000)
    await expect.poll(() => sent).toBeGreaterThan(0)
    // The kernel's buffers on both sides were filled; the rest of the endless body was not sent.
    expect(sent / 101).toBeLessThan(20_000_000)
  })
})

describe('TLS', () => {
  async function secure(
    options: TlsOptions,
  ): Promise<{ port: number; requests: () => number; names: (string | false | null)[] }> {
    let requests = 0
    const asked: (string | false | null)[] = []
    const server = createTlsServer({ key: KEY, cert: CERT, ...options }, (socket) => {
      asked.push(socket.servername)
      socket.on('error', () => {})
      socket.on('data', () => {
        requests++
        socket.end(`${OK}Content-Length: 0\r\n\r\n`)
      })
    })
    server.on('tlsClientError', () => {})
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    opened.push({ close: () => new Promise((resolve) => server.close(() => resolve())) })
    return { port: (server.address() as { port: number }).port, requests: () => requests, names: asked }
  }
  const { lookup } = names({ 'files.example': [[LOOPBACK]], 'public.example': [[LOOPBACK]] })

  it('with a good certificate is fine, and asks for the name of the URL', async () => {
    const server = await secure({})
    expect(await post(door({ lookup, ca: CERT }), `https://files.example:${server.port}/`)).toMatchObject({
      status: 200,
    })
    expect(server.names).toEqual(['files.example'])
  })

  it.each<[string, TlsOptions, { ca?: string; host?: string }, string]>([
    ['that has expired', { cert: EXPIRED }, { ca: EXPIRED }, 'CERT_HAS_EXPIRED'],
    ['of another name', { cert: EXPIRED }, { ca: CERT, host: 'public.example' }, ''],
    ['of no such name', {}, { ca: CERT, host: '127.0.0.1' }, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['that vouches for itself', {}, {}, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    [
      'in TLS 1.0',
      { minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: 'ALL@SECLEVEL=0' },
      { ca: CERT },
      'ERR_SSL_',
    ],
    [
      'in TLS 1.1',
      { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'ALL@SECLEVEL=0' },
      { ca: CERT },
      'ERR_SSL_',
    ],
    [
      'and the demand for ours in TLS 1.2',
      { requestCert: true, rejectUnauthorized: true, maxVersion: 'TLSv1.2' },
      { ca: CERT },
      '',
    ],
  ])(
    'with a certificate %s fails and says so',
    async (_name, options, { ca, host = 'files.example' }, code) => {
      const server = await secure(options)
      const failed = await door({ lookup, ca })
        .post(`https://${host}:${server.port}/`, {
          account: 'a',
          headers: {},
          body: 'secret',
          timeoutMs: 2000,
        })
        .catch((error: PostFailed) => error)
      expect(failed).toMatchObject({ reason: 'tls', message: 'no secure connection could be made' })
      expect((failed as PostFailed).detail).toContain(code)
      expect(server.requests()).toBe(0)
    },
  )

  it('with the demand for a certificate of ours fails, in TLS 1.3 only after the handshake', async () => {
    const server = await secure({ requestCert: true, rejectUnauthorized: true })
    const reason = await post(door({ lookup, ca: CERT }), `https://files.example:${server.port}/`)
    // The alert that says why may be lost in the reset that follows it.
    expect(['tls', 'connection']).toContain(reason)
    expect(server.requests()).toBe(0)
  })

  it('that is none fails, and is not tried without', async () => {
    let heard = ''
    const silent = await receiver((_socket, request) => {
      heard += request
    })
    expect(
      await post(door({ lookup, ca: CERT }), `https://files.example:${silent.port}/`, { timeoutMs: HANG_MS }),
    ).toBe('timeout')
    expect(heard).toBe('')
    const { port } = await receiver(() => {}, 'HTTP/1.1 200 OK\r\n\r\n')
    expect(
      await post(door({ lookup, ca: CERT }), `https://files.example:${port}/`, { timeoutMs: 2000 }),
    ).toBe('tls')
  })
})
