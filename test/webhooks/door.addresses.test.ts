import type { LookupAddress } from 'node:dns'
import { createServer, type Server } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { AppError } from '../../src/core/errors.js'
import { type UrlRules, urlFault } from '../../src/core/url.js'
import { createDoor, type Door, type DoorOptions } from '../../src/services/webhooks/door/door.js'
import { PostFailed } from '../../src/services/webhooks/door/failure.js'
import type { Lookup } from '../../src/services/webhooks/door/guard.js'
import { type FileServer, serve } from '../support/files.js'
import { turns } from '../support/turns.js'
import { LOOPBACK, names, PUBLIC } from '../support/web/names.js'

const OPEN_WORLD: UrlRules = { allowLoopback: false, allowHosts: [] }
const DEFAULT_WORLD: UrlRules = { allowLoopback: true, allowHosts: [] }
const POST_WORDS = 'the address cannot be reached or is not allowed'
const GET_WORDS = `could not be fetched: ${POST_WORDS}`

/** Every address that is not public, one of each kind and the spellings that have fooled guards before. */
const V4 = [
  '0.0.0.0',
  '10.0.0.1',
  '100.64.0.1',
  '100.127.255.255',
  '127.0.0.1',
  '127.255.255.254',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.0.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
]
const V6 = [
  '::',
  '::1',
  '::ffff:10.0.0.1',
  '::ffff:169.254.169.254',
  '::127.0.0.1',
  '64:ff9b::10.0.0.1',
  '64:ff9b:1::1',
  '2002:7f00:1::',
  '2001::1',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fec0::1',
  '100::1',
  '2001:db8::1',
  '3fff::1',
  '5f00::1',
  'ff02::1',
]
const SPELLINGS = [
  'localhost',
  'LOCALHOST',
  '%6cocalhost',
  'localhost.',
  'app.localhost',
  '0',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '017700000001',
  '127.0.0.1.',
  '①②⑦.⓪.⓪.①',
  '１２７.０.０.１',
  '127。0。0。1',
  '0xa9fea9fe',
  '2852039166',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:7f00:1]',
  'metadata.google.internal',
  'metadata.google.internal.',
  'intranet',
]
const LITERALS = [...V4, ...V6.map((address) => `[${address}]`), ...SPELLINGS]

/** Listens on every address of this machine; nothing may ever knock. */
let knocks = 0
let listener: Server
let port: number
let receiver: FileServer
let connections = 0
let seen: { host: string; socket: object }[] = []
const doors: Door[] = []

beforeAll(async () => {
  listener = createServer((socket) => {
    knocks++
    socket.destroy()
  })
  await new Promise<void>((resolve) => listener.listen(0, resolve))
  port = (listener.address() as { port: number }).port
  receiver = await serve((request, response) => {
    seen.push({ host: request.headers.host!, socket: request.socket })
    const to = new URL(request.url!, 'http://x').searchParams.get('to')
    if (to) response.writeHead(301, { location: to }).end('moved')
    else response.end('ok')
  })
  receiver.server.on('connection', () => connections++)
})
afterAll(async () => {
  await new Promise((resolve) => listener.close(resolve))
  await receiver.close()
})
afterEach(async () => {
  await Promise.all(doors.splice(0).map((door) => door.close()))
  expect(knocks).toBe(0)
  connections = 0
  seen = []
})

function door(rules: UrlRules, options: DoorOptions = {}): Door {
  const made = createDoor(rules, options)
  doors.push(made)
  return made
}

/** The fate of a URL on each surface: webhooks and callbacks post, media and pictures are opened. */
async function tried(through: Door, url: string) {
  const post = await through.post(url, { account: 'a', headers: {}, body: '{}', timeoutMs: 1000 }).then(
    ({ status }) => `answered ${status}`,
    (error: unknown) =>
      error instanceof PostFailed ? `${error.reason}: ${error.message}` : `threw ${String(error)}`,
  )
  const get = await through.open(url, { maxBytes: 1000, timeoutMs: 1000 }).then(
    async ({ body }) => {
      for await (const _chunk of body);
      return 'opened'
    },
    (error: unknown) => (error instanceof AppError ? error.message : `threw ${String(error)}`),
  )
  return { post, get }
}
const BLOCKED = { post: `blocked: ${POST_WORDS}`, get: GET_WORDS }

describe('an address in the URL itself', () => {
  it.each(LITERALS)('%s is refused when it is set and when it is used', async (host) => {
    const { lookup, asked } = names({})
    const through = door(OPEN_WORLD, { lookup })
    for (const url of [`https://${host}:${port}/`, `https://${host}/`]) {
      const fault = urlFault(url, OPEN_WORLD)
      expect(fault).toBe('must not point to a private or reserved address')
      expect(await tried(through, url)).toEqual({ post: BLOCKED.post, get: fault })
    }
    expect(asked).toEqual([])
  })

  it.each([
    'https://user:pass@public.example/',
    'https://public.example@10.0.0.1/',
    'https://public.example:x@10.0.0.1/',
    'https://@10.0.0.1/',
    'https://10.0.0.1\\@public.example/',
    'https://public.example\\.10.0.0.1/',
    'https:\\\\10.0.0.1\\',
    'https://public.example\t/',
    'https://pub\nlic.example/',
    'https://10.0.0.1\r/',
    ' https://public.example/',
    'https://public.example#@10.0.0.1/',
    'https://public.example/\u00a0',
    'https://10.0.0.1#.public.example/',
    'https://10.0.0.1?.public.example/',
    'https://10.0.0.1/.public.example/',
    'https://public.example%00.10.0.0.1/',
    'https://public.example%2f@10.0.0.1/',
    'https://[fe80::1%25lo]/',
    'https://[::1/',
    'https://xn--a/',
    'https://public.example:0/',
    'https://public.example:65536/',
    'https://public.example:99999999999/',
    'https://public.example:-1/',
    ...[21, 22, 25, 53, 80, 110, 143, 3306, 5432, 6379, 11211].map((n) => `https://public.example:${n}/`),
    'http://public.example/',
    'HTTP://public.example/',
    'ftp://public.example/',
    'file:///etc/passwd',
    'gopher://public.example/',
    'data:text/plain,x',
    'javascript:alert(1)',
    'unix:/var/run/docker.sock',
    '//public.example/',
    '/etc/passwd',
    '',
  ])('%j goes nowhere, not even to a resolver', async (url) => {
    const { lookup, asked } = names({ 'public.example': [[LOOPBACK]] })
    const { post, get } = await tried(door(OPEN_WORLD, { lookup }), url)
    expect(post).toBe(BLOCKED.post)
    expect(get).toMatch(/^must /)
    expect(asked).toEqual([])
  })

  it.each([
    ['https://PUBLIC.example:PORT/', 'public.example'],
    ['https://public.example:PORT?@10.0.0.1/', 'public.example'],
    ['https://public.example:PORT/@10.0.0.1', 'public.example'],
    ['https://ⓟⓤⓑⓛⓘⓒ.example:PORT/', 'public.example'],
    ['https://bücher.example:PORT/', 'xn--bcher-kva.example'],
    ['https://127.0.0.1.nip.example:PORT/', '127.0.0.1.nip.example'],
    ['https://0x7f000001.example:PORT/', '0x7f000001.example'],
  ])('%s is read once: what is looked up and checked is %s', async (url, host) => {
    const { lookup, asked } = names({ [host]: [[LOOPBACK]] })
    expect(urlFault(url.replace('PORT', '8443'), OPEN_WORLD)).toBeUndefined()
    expect(await tried(door(OPEN_WORLD, { lookup }), url.replace('PORT', String(port)))).toEqual(BLOCKED)
    expect(asked).toEqual([host, host])
  })
})

describe('an address that a name leads to', () => {
  const answers: [string, LookupAddress[]][] = [
    ...V4.map((address): [string, LookupAddress[]] => [address, [{ address, family: 4 }]]),
    ...V6.map((address): [string, LookupAddress[]] => [address, [{ address, family: 6 }]]),
    ['fe80::1%lo', [{ address: 'fe80::1%lo', family: 6 }]],
    ['public and private', [PUBLIC, LOOPBACK]],
    ['private and public', [LOOPBACK, PUBLIC]],
    ['public IPv4 and private IPv6', [PUBLIC, { address: '::1', family: 6 }]],
    ['nothing', []],
    ['a thousand addresses', Array(1000).fill(PUBLIC)],
    ['a thousand addresses and one private', [...Array(1000).fill(PUBLIC), LOOPBACK]],
    ['no address', [{ address: 'localhost', family: 4 }]],
  ]
  it.each(answers)('%s is refused in the words of a name that does not exist', async (_name, addresses) => {
    for (const rules of [OPEN_WORLD, DEFAULT_WORLD]) {
      const { lookup } = names({ 'public.example': [addresses] })
      const through = door(rules, { lookup })
      expect(await tried(through, `https://public.example:${port}/`)).toEqual(BLOCKED)
      expect(await tried(through, `https://unknown.example:${port}/`)).toEqual({
        post: `connection: ${POST_WORDS}`,
        get: GET_WORDS,
      })
    }
  })

  it('is told to the operator, not to the world', async () => {
    const { lookup } = names({ 'public.example': [[LOOPBACK]] })
    const error = await door(OPEN_WORLD, { lookup })
      .post(`https://public.example:${port}/`, { account: 'a', headers: {}, body: '' })
      .catch((failed: PostFailed) => failed)
    expect(error).toMatchObject({ message: POST_WORDS, detail: 'the name leads to a blocked address' })
  })

  it('is asked for as long as the time allows, and no longer', async () => {
    const stuck: Lookup = () => {}
    const through = door(OPEN_WORLD, { lookup: stuck, connectMs: 50 })
    const url = `https://public.example:${port}/`
    const message = { account: 'a', headers: {}, body: '' }
    // The whole would be given 45 seconds, the first step of it is not.
    const [failed, late] = await Promise.all([
      through.post(url, message).catch((error: PostFailed) => error),
      through.post(url, { ...message, timeoutMs: 20 }).catch((error: PostFailed) => error),
      expect(through.open(url, { maxBytes: 1, timeoutMs: 20 })).rejects.toThrow(GET_WORDS),
    ])
    expect(failed).toMatchObject({ reason: 'timeout', detail: expect.stringContaining('CONNECT_TIMEOUT') })
    expect(late).toMatchObject({ reason: 'timeout', detail: 'no answer in 20 ms' })
  })
})

describe('a name that moves', () => {
  const post = (through: Door, account = 'a') =>
    through.post(`http://localhost:${receiver.port}/`, { account, headers: {}, body: '{}' }).then(
      ({ status }) => String(status),
      (error: PostFailed) => error.reason,
    )
  const PRIVATE: LookupAddress = { address: '10.0.0.1', family: 4 }

  it('inside is found out by each account’s next connection', async () => {
    const { lookup, asked } = names({ localhost: [[LOOPBACK], [PRIVATE]] })
    const through = door(DEFAULT_WORLD, { lookup })
    expect(await post(through)).toBe('200')
    // The library takes a connection back with the next turn of the loop.
    await new Promise(setImmediate)
    // The connection that was checked is still good; a new one is checked anew.
    expect([await post(through), await post(through, 'b')]).toEqual(['200', 'blocked'])
    expect(asked).toHaveLength(2)
  })

  it('is asked for again when the account’s connections have lived long enough', async () => {
    const { lookup, asked } = names({ localhost: [[LOOPBACK], [PRIVATE]] })
    const through = door(DEFAULT_WORLD, { lookup, agentLifeMs: 30 })
    expect(await post(through)).toBe('200')
    await expect.poll(() => post(through), { interval: 5 }).toBe('blocked')
    expect(asked.length).toBeGreaterThan(1)
  })

  it('with each query is checked each time', async () => {
    const { lookup } = names({ localhost: [[LOOPBACK], [PRIVATE], [LOOPBACK], [PRIVATE]] })
    const through = door(DEFAULT_WORLD, { lookup })
    const got = []
    for (const account of ['a', 'b', 'c', 'd']) got.push(await post(through, account))
    expect(got).toEqual(['200', 'blocked', '200', 'blocked'])
    expect(seen).toHaveLength(2)
  })
})

describe('connections', () => {
  const post = (through: Door, account: string, url = receiver.url) =>
    through.post(`${url}/`, { account, headers: {}, body: '{}' })

  it('are kept for an account and never lent to another', async () => {
    const through = door(DEFAULT_WORLD)
    for (let i = 0; i < 5; i++) for (const account of ['a', 'b', 'c']) await post(through, account)
    expect(connections).toBe(3)
    const sockets = seen.map(({ socket }) => socket)
    expect(new Set(sockets.slice(0, 3)).size).toBe(3)
    for (let i = 3; i < sockets.length; i++) expect(sockets[i]).toBe(sockets[i % 3])
    // A download gets a connection of its own, although one is free.
    await tried(through, `${receiver.url}/`)
    expect(connections).toBe(4)
  })

  it('of the account that was served first go when there are too many', async () => {
    const through = door(DEFAULT_WORLD, { maxAgents: 2 })
    for (const account of ['a', 'b', 'c', 'b', 'c', 'a']) await post(through, account)
    expect(connections).toBe(4)
  })

  it('finish what they carry when their time is over', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const sockets = new Set<unknown>()
    const slow = await serve((request, response) => {
      sockets.add(request.socket)
      vi.advanceTimersByTime(11)
      void turns(20).then(() => response.end('late'))
    })
    const through = door(DEFAULT_WORLD, { agentLifeMs: 10 })
    try {
      expect((await post(through, 'a', slow.url)).body.toString()).toBe('late')
      // The connection was over: the next request has one of its own.
      await post(through, 'a', slow.url)
      expect(sockets.size).toBe(2)
    } finally {
      vi.useRealTimers()
      await slow.close()
    }
  })

  it('carry the name of the URL, whatever address it leads to', async () => {
    const { lookup } = names({ 'hooks.example': [[LOOPBACK]] })
    const through = door({ allowLoopback: false, allowHosts: ['hooks.example'] }, { lookup })
    await through.post(`http://hooks.example:${receiver.port}/`, { account: 'a', headers: {}, body: '' })
    expect(seen[0]!.host).toBe(`hooks.example:${receiver.port}`)
  })

  it.each(['https://10.0.0.1/', 'file:///etc/passwd', 'http://127.0.0.1:9/', '/elsewhere'])(
    'lead nowhere else when a receiver answers with a redirect to %s',
    async (to) => {
      const posted = await door(DEFAULT_WORLD).post(`${receiver.url}/?to=${encodeURIComponent(to)}`, {
        account: 'a',
        headers: {},
        body: '',
      })
      expect(posted).toMatchObject({ status: 301, headers: { location: to } })
      expect(posted.body.toString()).toBe('moved')
      expect(seen).toHaveLength(1)
    },
  )

  it('end with the server, and that is nobody’s fault', async () => {
    const hung = await serve(() => {})
    const through = door(DEFAULT_WORLD)
    const posting = post(through, 'a', hung.url).catch((error: PostFailed) => error.reason)
    await new Promise((resolve) => hung.server.once('request', resolve))
    await through.close()
    expect(await posting).toBe('stopping')
    expect(await post(through, 'a').catch((error: PostFailed) => error.reason)).toBe('stopping')
    await hung.close()
  })
})
