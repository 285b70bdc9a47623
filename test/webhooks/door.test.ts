import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { AppError } from '../../src/core/errors.js'
import { addressFault, type UrlRules } from '../../src/core/url.js'
import { fetchImage } from '../../src/services/media/images.js'
import { createDoor, type Door } from '../../src/services/webhooks/door/door.js'
import type { PostFailed } from '../../src/services/webhooks/door/failure.js'
import type { Lookup } from '../../src/services/webhooks/door/guard.js'
import { type FileServer, GIF, JPEG, PNG, serve } from '../support/files.js'
import { LOOPBACK, names, PUBLIC } from '../support/web/names.js'
import { CERT, KEY } from '../support/web/tls.js'
import { createWorld, type World } from '../support/world.js'

const MB = 1_000_000
const UNREACHABLE = 'could not be fetched: the address cannot be reached or is not allowed'

let plain: FileServer
let secure: { port: number; close(): Promise<void> }
/** Everything that reached a server, and what it holds. */
let seen: string[] = []
let doors: Door[] = []
let body: Buffer | 'drip' | 'endless' | 'hang' = PNG
let answer: { status: number; headers: Record<string, string> } = { status: 200, headers: {} }

beforeAll(async () => {
  const listener: Parameters<typeof serve>[0] = (request, response) => {
    seen.push(`${request.method} ${request.headers.host?.split(':')[0]} ${request.url}`)
    const to = new URL(request.url!, 'http://x').searchParams.get('to')
    if (to) return void response.writeHead(302, { location: to }).end('moved')
    if (request.url === '/loop') return void response.writeHead(302, { location: '/loop' }).end()
    if (request.url === '/headers') return void response.end(JSON.stringify(request.headers))
    if (body === 'hang') return
    response.writeHead(answer.status, answer.headers)
    if (body === 'drip') {
      const drip = setInterval(() => response.write('x'), 20)
      response.on('close', () => clearInterval(drip))
    } else if (body === 'endless') {
      const piece = Buffer.alloc(64 * 1024)
      const more = () => {
        while (!response.destroyed && response.write(piece));
        if (!response.destroyed) response.once('drain', more)
      }
      more()
    } else response.end(body)
  }
  plain = await serve(listener)
  const server = createTlsServer({ key: KEY, cert: CERT }, listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  secure = {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
})
afterAll(async () => {
  await plain.close()
  await secure.close()
})
afterEach(async () => {
  await Promise.all(doors.map((door) => door.close()))
  doors = []
  seen = []
  body = PNG
  answer = { status: 200, headers: {} }
})

function door(rules: UrlRules, lookup?: Lookup, ca?: string): Door {
  const made = createDoor(rules, { lookup, ca })
  doors.push(made)
  return made
}

const OPEN_WORLD: UrlRules = { allowLoopback: false, allowHosts: [] }
const DEFAULT_WORLD: UrlRules = { allowLoopback: true, allowHosts: [] }
const get = (through: Door, url: string, limits = {}) => through.download(url, { maxBytes: MB, ...limits })
const why = (through: Door, url: string, limits = {}) =>
  get(through, url, limits).then(
    () => 'it was fetched',
    (error: AppError) => error.message,
  )

describe('where the door leads', () => {
  it.each([
    ['loopback', [LOOPBACK]],
    ['loopback by IPv6', [{ address: '::1', family: 6 }]],
    ['loopback by a mapped address', [{ address: '::ffff:127.0.0.1', family: 6 }]],
    ['a private network', [{ address: '10.0.0.1', family: 4 }]],
    ['the metadata service', [{ address: '169.254.169.254', family: 4 }]],
    ['carrier-grade NAT', [{ address: '100.64.0.1', family: 4 }]],
    ['NAT64 of loopback', [{ address: '64:ff9b::7f00:1', family: 6 }]],
    ['a unique local address', [{ address: 'fd00:ec2::254', family: 6 }]],
    ['a link-local address with a zone', [{ address: 'fe80::1%lo', family: 6 }]],
    ['public and private addresses', [PUBLIC, LOOPBACK]],
    ['a thousand addresses and one private', [...Array(1000).fill(PUBLIC), LOOPBACK]],
    ['no address', []],
    ['something that is no address', [{ address: 'localhost', family: 4 }]],
  ])('a public name that leads to %s is refused in the words of a dead one', async (_name, addresses) => {
    for (const rules of [OPEN_WORLD, DEFAULT_WORLD]) {
      const { lookup, asked } = names({ 'public.example': [addresses] })
      const through = door(rules, lookup, CERT)
      expect(await why(through, `https://public.example:${secure.port}/`)).toBe(UNREACHABLE)
      expect(await why(through, `https://unknown.example:${secure.port}/`)).toBe(UNREACHABLE)
      expect(asked).toEqual(['public.example', 'unknown.example'])
    }
    expect(seen).toEqual([])
  })

  it('a name that an operator allowed passes, with TLS and without', async () => {
    const { lookup } = names({ 'files.example': [[LOOPBACK]] })
    const through = door({ allowLoopback: false, allowHosts: ['files.example'] }, lookup, CERT)
    expect((await get(through, `https://files.example:${secure.port}/a.png`)).body).toEqual(PNG)
    expect((await get(through, `http://files.example:${plain.port}/a.png`)).body).toEqual(PNG)
    expect(seen).toEqual(['GET files.example /a.png', 'GET files.example /a.png'])
  })

  it('every connection asks for the name again', async () => {
    const { lookup, asked } = names({ 'files.example': [[LOOPBACK]] })
    const through = door({ allowLoopback: false, allowHosts: ['files.example'] }, lookup, CERT)
    for (let i = 0; i < 3; i++) await get(through, `https://files.example:${secure.port}/`)
    expect(asked).toHaveLength(3)
  })

  it('an address that turns into another one between the check and the connection is refused', async () => {
    let reads = 0
    const turncoat = {
      get address() {
        return reads++ === 0 ? PUBLIC.address : LOOPBACK.address
      },
      family: 4,
    }
    const { lookup } = names({ 'public.example': [[turncoat]] })
    const through = door(OPEN_WORLD, lookup, CERT)
    const url = `https://public.example:${secure.port}/`
    expect(await why(through, url)).toBe(UNREACHABLE)
    reads = 0
    const posting = through.post(url, { account: 'a', headers: {}, body: '' })
    expect(await posting.catch((error: PostFailed) => error)).toMatchObject({
      reason: 'blocked',
      detail: 'the connection reached a blocked address',
    })
    expect(reads).toBeGreaterThan(1)
    expect(seen).toEqual([])
  })

  it('loopback is open in the default world and nowhere else', async () => {
    for (const host of [
      '127.0.0.1',
      'localhost',
      '127.1',
      '2130706433',
      '0x7f000001',
      '[::ffff:127.0.0.1]',
    ]) {
      const url = `http://${host}:${plain.port}/`
      const { lookup } = names({ localhost: [[LOOPBACK]] })
      expect([host, await why(door(DEFAULT_WORLD, lookup), url)]).toEqual([host, 'it was fetched'])
      expect([host, await why(door(OPEN_WORLD, lookup), url)]).toEqual([host, 'must be an https URL'])
      expect(await why(door(OPEN_WORLD, lookup), url.replace('http:', 'https:'))).toBe(
        'must not point to a private or reserved address',
      )
    }
    // The machine's own name is no way to another machine.
    const elsewhere = names({ localhost: [[{ address: '10.0.0.1', family: 4 }]] })
    expect(await why(door(DEFAULT_WORLD, elsewhere.lookup), `http://localhost:${plain.port}/`)).toBe(
      UNREACHABLE,
    )
  })

  it.each([
    'https://user:pass@files.example/',
    'https://files.example/#x',
    'https://files.example:22/',
    'https://files.example:6379/',
    'file:///etc/passwd',
    'gopher://files.example/',
    'ftp://files.example/',
    'data:text/plain,x',
    '//files.example/',
    'https://0/',
    'https://[::]/',
    'https://metadata.google.internal/',
  ])('%s goes nowhere, not even to a resolver', async (url) => {
    const { lookup, asked } = names({ 'files.example': [[LOOPBACK]] })
    expect(await why(door(OPEN_WORLD, lookup), url)).toMatch(/^must /)
    expect(asked).toEqual([])
  })

  it('knows public addresses from all others', () => {
    for (const address of ['93.184.216.34', '8.8.8.8', '2606:4700::1111', '::ffff:8.8.8.8'])
      expect(addressFault('public.example', address, OPEN_WORLD)).toBeUndefined()
    for (const address of [
      '127.0.0.1',
      '0.0.0.0',
      '',
      'x',
      '::',
      '2002:7f00:1::',
      '198.18.0.1',
      '255.255.255.255',
    ])
      expect(addressFault('public.example', address, DEFAULT_WORLD)).toBe('not public')
  })

  it('trusts no certificate that nobody vouches for, and none of another name', async () => {
    const { lookup } = names({ 'files.example': [[LOOPBACK]], 'other.example': [[LOOPBACK]] })
    const rules = { allowLoopback: false, allowHosts: ['files.example', 'other.example'] }
    expect(await why(door(rules, lookup), `https://files.example:${secure.port}/`)).toBe(UNREACHABLE)
    expect(await why(door(rules, lookup, CERT), `https://other.example:${secure.port}/`)).toBe(UNREACHABLE)
    expect(seen).toEqual([])
  })

  it('does not listen to proxy variables', async () => {
    const kept = { ...process.env }
    Object.assign(process.env, {
      HTTP_PROXY: 'http://127.0.0.1:9',
      http_proxy: 'http://127.0.0.1:9',
      ALL_PROXY: 'http://127.0.0.1:9',
    })
    try {
      expect(await why(door(DEFAULT_WORLD), `${plain.url}/`)).toBe('it was fetched')
    } finally {
      process.env = kept
    }
  })
})

describe('redirects', () => {
  const to = (url: string) => `/?to=${encodeURIComponent(url)}`

  it('are followed three times, and no more', async () => {
    const through = door(DEFAULT_WORLD)
    const twice = `${plain.url}${to(to('/end.png'))}`
    const fetched = await get(through, twice)
    expect(fetched).toMatchObject({ url: `${plain.url}/end.png`, body: PNG })
    expect(seen).toHaveLength(3)
    expect(await why(through, `${plain.url}/loop`)).toBe('redirects too often')
    expect(seen).toHaveLength(3 + 4)
    expect(await why(through, `${plain.url}${to('/end.png')}`, { redirects: 0 })).toBe('redirects too often')
  })

  it.each([
    ['http://127.0.0.1/', 'redirects away from https'],
    ['http://files.example/', 'redirects away from https'],
    ['file:///etc/passwd', 'redirects away from https'],
    ['gopher://files.example/', 'redirects away from https'],
    ['https://127.0.0.1/', 'leads to a URL that must not point to a private or reserved address'],
    ['https://2130706433/', 'leads to a URL that must not point to a private or reserved address'],
    ['https://[::1]/', 'leads to a URL that must not point to a private or reserved address'],
    ['https://user:x@public.example/', 'leads to a URL that must not contain credentials'],
    ['https://public.example:22/', 'leads to a URL that must not name a port of another service'],
    ['https://public.example/', UNREACHABLE],
    ['https://', 'redirects to something that is no URL'],
  ])('from https to %s are refused', async (target, message) => {
    const { lookup } = names({ 'files.example': [[LOOPBACK]], 'public.example': [[LOOPBACK]] })
    const through = door({ allowLoopback: false, allowHosts: ['files.example'] }, lookup, CERT)
    expect(await why(through, `https://files.example:${secure.port}${to(target)}`)).toBe(message)
    expect(seen).toHaveLength(1)
  })

  it.each([
    ['file:///etc/passwd', 'leads to a URL that must be an https URL'],
    ['http://10.0.0.1/', 'leads to a URL that must be an https URL'],
    ['https://10.0.0.1/', 'leads to a URL that must not point to a private or reserved address'],
  ])('from plain http in the default world to %s are refused', async (target, message) => {
    expect(await why(door(DEFAULT_WORLD), `${plain.url}${to(target)}`)).toBe(message)
    expect(seen).toHaveLength(1)
  })
})

describe('answers', () => {
  it('of any other status are no file', async () => {
    for (const status of [201, 204, 206, 304, 400, 404, 500]) {
      answer = { status, headers: {} }
      body = Buffer.alloc(0)
      expect(await why(door(DEFAULT_WORLD), `${plain.url}/`)).toBe(`answered ${status} instead of the file`)
    }
    answer = { status: 302, headers: {} }
    expect(await why(door(DEFAULT_WORLD), `${plain.url}/`)).toBe('answered 302 instead of the file')
  })

  it('may be as large as allowed and not a byte larger, announced or not', async () => {
    body = Buffer.alloc(MB)
    expect((await get(door(DEFAULT_WORLD), `${plain.url}/`)).body).toHaveLength(MB)
    body = Buffer.alloc(MB + 1)
    expect(await why(door(DEFAULT_WORLD), `${plain.url}/`)).toBe('is larger than 1 MB')
    answer.headers = { 'transfer-encoding': 'chunked' }
    expect(await why(door(DEFAULT_WORLD), `${plain.url}/`)).toBe('is larger than 1 MB')
    answer.headers = { 'content-length': String(10 ** 15) }
    body = Buffer.alloc(10)
    expect(await why(door(DEFAULT_WORLD), `${plain.url}/`)).toBe('is larger than 1 MB')
  })

  it('that never end are cut off at the limit', async () => {
    body = 'endless'
    expect(await why(door(DEFAULT_WORLD), `${plain.url}/`)).toBe('is larger than 1 MB')
  })

  it('must come in time, from the name to the last byte', async () => {
    for (const slow of ['drip', 'hang'] as const) {
      body = slow
      expect(await why(door(DEFAULT_WORLD), `${plain.url}/`, { timeoutMs: 300 })).toBe(UNREACHABLE)
    }
    const stuck: Lookup = () => {}
    const through = door({ allowLoopback: false, allowHosts: ['files.example'] }, stuck)
    expect(await why(through, 'https://files.example/', { timeoutMs: 300 })).toBe(UNREACHABLE)
  })

  it('are not inflated', async () => {
    body = gzipSync(Buffer.alloc(50 * MB))
    answer.headers = { 'content-encoding': 'gzip' }
    expect(await why(door(DEFAULT_WORLD), `${plain.url}/`)).toBe('answered with a compressed body')
    // Said to be a plain file: then it is one, as small as it came.
    answer.headers = {}
    expect((await get(door(DEFAULT_WORLD), `${plain.url}/`)).body).toEqual(body)
  })

  it('ask for nothing that could tell who asks', async () => {
    const { body: sent } = await get(door(DEFAULT_WORLD), `${plain.url}/headers`)
    const headers = JSON.parse(sent.toString())
    expect(Object.keys(headers).sort()).toEqual([
      'accept',
      'accept-encoding',
      'connection',
      'host',
      'user-agent',
    ])
    expect(headers).toMatchObject({ 'accept-encoding': 'identity', connection: 'close' })
  })

  it('that come while the server stops are nobody’s fault', async () => {
    body = 'drip'
    const through = door(DEFAULT_WORLD)
    const fetching = get(through, `${plain.url}/`).catch((error: AppError) => error.code)
    await expect.poll(() => seen.length).toBe(1)
    await through.close()
    expect(await fetching).toBe('unavailable')
  })
})

describe('posting', () => {
  const message = { account: 'a', headers: { 'content-type': 'application/json' }, body: '{}' }

  it('tells status and the beginning of the answer, and follows no redirect', async () => {
    answer = { status: 410, headers: { 'x-a': 'b' } }
    body = Buffer.alloc(MB, 'x')
    const through = door(DEFAULT_WORLD)
    const posted = await through.post(`${plain.url}/hook`, message)
    expect(posted).toMatchObject({ status: 410, headers: { 'x-a': 'b' }, ms: expect.any(Number) })
    expect(posted.body).toEqual(body.subarray(0, 8192))
    expect(await through.post(`${plain.url}/?to=${encodeURIComponent('/other')}`, message)).toMatchObject({
      status: 302,
    })
    expect(seen).toEqual(['POST 127.0.0.1 /hook', 'POST 127.0.0.1 /?to=%2Fother'])
  })

  it('is guarded like everything else', async () => {
    const { lookup } = names({ 'public.example': [[LOOPBACK]] })
    const post = (rules: UrlRules, url: string) =>
      door(rules, lookup, CERT)
        .post(url, { ...message, timeoutMs: 300 })
        .then(
          () => 'it arrived',
          (error: PostFailed) => `${error.reason}: ${error.message}`,
        )
    const words = 'the address cannot be reached or is not allowed'
    expect(await post(OPEN_WORLD, 'https://127.0.0.1/')).toBe(`blocked: ${words}`)
    expect(await post(OPEN_WORLD, `https://public.example:${secure.port}/`)).toBe(`blocked: ${words}`)
    expect(await post(OPEN_WORLD, `https://unknown.example:${secure.port}/`)).toBe(`connection: ${words}`)
    expect(seen).toEqual([])
    body = 'hang'
    expect(await post(DEFAULT_WORLD, `${plain.url}/`)).toBe('timeout: did not answer in time')
    body = 'drip'
    expect(await post(DEFAULT_WORLD, `${plain.url}/`)).toBe('it arrived')
  })
})

describe('fetchImage', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld('sqlite')
  })
  afterAll(() => world.close())
  const rules = { maxBytes: MB, types: ['image/png', 'image/jpeg'] as const }
  const image = (more: { maxPixels?: number } = {}) =>
    fetchImage(world.app.ctx, null, `${plain.url}/x.png`, { ...rules, ...more }).then(
      ({ type, body }) => `${type} ${body.length}`,
      (error: AppError) => `${error.code}: ${error.message}`,
    )

  it('takes what the bytes say, whatever the server says', async () => {
    answer.headers = { 'content-type': 'text/html' }
    expect(await image()).toBe(`image/png ${PNG.length}`)
    body = JPEG
    answer.headers = { 'content-type': 'image/png' }
    expect(await image()).toBe(`image/jpeg ${JPEG.length}`)
  })

  it.each<[string, Buffer]>([
    ['HTML', Buffer.from('<html>')],
    ['SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
    ['nothing', Buffer.alloc(0)],
    ['a GIF', GIF],
  ])('refuses %s', async (_name, bytes) => {
    body = bytes
    answer.headers = { 'content-type': 'image/png' }
    expect(await image()).toBe('invalid: is not an image of these types: PNG, JPEG')
  })

  it('refuses a small file that unfolds into an enormous picture', async () => {
    const bomb = Buffer.from(PNG)
    bomb.writeUInt32BE(100_000, 16)
    bomb.writeUInt32BE(100_000, 20)
    body = bomb
    expect(await image()).toBe(`image/png ${PNG.length}`)
    expect(await image({ maxPixels: 50_000_000 })).toBe(
      'invalid: is 100000 x 100000 pixels; at most 50000000 are taken',
    )
    body = PNG
    expect(await image({ maxPixels: 1 })).toBe(`image/png ${PNG.length}`)
    body = PNG.subarray(0, 12)
    expect(await image({ maxPixels: 1 })).toBe('invalid: is a damaged image: its size cannot be read')
  })
})
