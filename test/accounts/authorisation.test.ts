import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Policy } from '../../src/api/http/policies.js'
import { DEFAULT_WORLD } from '../../src/services/accounts/default-world.js'
import { createWorld, credentials, ENGINES, LINE, type Who, type World } from '../support/world.js'

/**
 * The route table is the only source: every route is tried by everyone. What a route does with its own and with
 * others' things is the matter of its own tests; here is who gets in.
 */
const STRANGERS = [
  'none',
  'wrong secret',
  'expired token',
  'revoked token',
  'both schemes',
  'token in the query',
  'cookie without its header',
  'cookie from another origin',
  'cookie of an ended session',
] as const
const CALLERS = [
  'live',
  'test',
  'account token',
  'confined token',
  'other account',
  'admin',
  'live as Basic',
  'console',
] as const
type Stranger = (typeof STRANGERS)[number]
type Caller = (typeof CALLERS)[number]

/** Whether a caller gets in, by what the route says. */
function expected(policy: Policy, caller: Caller): 'in' | 401 | 403 {
  if (policy.access === 'open') return 'in'
  // Its session holds both kinds of key: each route takes the one it is for.
  if (caller === 'console') return 'in'
  if (caller === 'live as Basic') return policy.basic ? expected(policy, 'live') : 401
  if (caller === 'confined token' && !policy.confined) return 403
  const isToken = caller === 'account token' || caller === 'confined token'
  switch (policy.access) {
    case 'any':
      return 'in'
    case 'account':
      return caller === 'admin' ? 403 : 'in'
    case 'live key':
      return caller === 'admin' || caller === 'test' || isToken ? 403 : 'in'
    case 'admin':
      return caller === 'admin' ? 'in' : 403
  }
}

/** The words in which a caller is turned away at the door, as opposed to a route's own 403. */
const isOfPhones = ({ url }: Policy) => url.startsWith('/mobile/v1/')

const TURNED_AWAY = /^This needs |^This token is confined to some lines and cannot/

describe.each(ENGINES)('who gets in on %s', (engine) => {
  let world: World
  let policies: Policy[]
  let headers: Record<Exclude<Stranger | Caller, 'token in the query'>, Record<string, string>>
  let queryToken: string

  beforeAll(async () => {
    world = await createWorld(engine, {
      document: true,
      env: { TRUNKLINE_AUTH_FAILURES_PER_MINUTE: '1000000' },
    })
    const b = await world.addAccount('b@example.com', '+12025550150')
    const mint = async (body: object) => (await world.post('/v3/auth/tokens', body)).body
    const [live, account, confined, expiring, revoked] = [
      DEFAULT_WORLD.keys.live,
      await mint({ expires_in_seconds: 86_400 }),
      await mint({ expires_in_seconds: 86_400, phone_number: LINE }),
      await mint({ expires_in_seconds: 60 }),
      await mint({ expires_in_seconds: 86_400 }),
    ]
    await world.advance(60_000)
    await world.call('DELETE', `/v3/auth/tokens/${revoked.token_id}`)
    queryToken = account.token
    const as = (who: Who) => credentials(who)
    const header = { 'x-trunkline-console': '1' }
    const signIn = async (kind: 'live' | 'admin', cookie = '') => {
      const { id, secret } = DEFAULT_WORLD.keys[kind]
      const body = { key_id: id, secret }
      const reply = await world.post('/console/session', body, null, { ...header, cookie })
      return reply.headers['set-cookie']!.split(';')[0]!
    }
    const ended = await signIn('live')
    await world.call('DELETE', '/console/session', { as: null, headers: { ...header, cookie: ended } })
    const cookie = await signIn('admin', await signIn('live'))
    headers = {
      'cookie without its header': { cookie },
      'cookie from another origin': { ...header, cookie, origin: 'https://evil.example' },
      'cookie of an ended session': { ...header, cookie: ended },
      console: { ...header, cookie },
      none: {},
      'wrong secret': as({ id: live.id, secret: 'wrong' }),
      'expired token': as(expiring),
      'revoked token': as(revoked),
      'both schemes': { ...as('live'), ...as(account) },
      live: as('live'),
      test: as('test'),
      'account token': as(account),
      'confined token': as(confined),
      'other account': as(b.live),
      admin: as('admin'),
      'live as Basic': {
        authorization: `Basic ${Buffer.from(`${live.id}:${live.secret}`).toString('base64')}`,
      },
    }
    policies = world.app.server.policies()
  })
  afterAll(() => world.close())

  /** Over a real connection, and only as far as the head of the answer: some routes never end theirs. */
  async function knock({ method, url }: Policy, as: Stranger | Caller) {
    const path = url.replace(/:\w+|\*/g, 'x')
    const query = as === 'token in the query' ? `?token=${queryToken}&access_token=${queryToken}` : ''
    const withBody = !['GET', 'HEAD', 'DELETE', 'OPTIONS'].includes(method)
    const stop = new AbortController()
    const response = await fetch(world.app.url() + path + query, {
      method,
      signal: stop.signal,
      redirect: 'manual',
      headers: {
        ...(as === 'token in the query' ? {} : headers[as]),
        ...(withBody ? { 'content-type': 'application/json' } : {}),
      },
      ...(withBody ? { body: '{}' } : {}),
    })
    const refused = [401, 403].includes(response.status)
    const body = refused ? ((await response.json()) as { message?: string; error?: { message: string } }) : {}
    stop.abort()
    return { status: response.status, words: body.error?.message ?? body.message ?? '' }
  }

  it('every route of the router says whom it lets in', () => {
    expect(policies.length).toBeGreaterThan(30)
    const document = world.app.server.swagger() as unknown as {
      paths: Record<string, Record<string, object>>
    }
    const documented = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    )
    const told = policies.map(({ method, url }) => `${method} ${url.replace(/:(\w+)/g, '{$1}')}`)
    expect(told).toEqual(expect.arrayContaining(documented))
    for (const { access } of policies)
      expect(['account', 'live key', 'admin', 'any', 'open']).toContain(access)
    expect(
      policies.filter(({ access, confined }) => confined && !['account', 'any'].includes(access)),
    ).toEqual([])
    for (const { url, access } of policies) {
      if (url.startsWith('/admin/')) expect([url, access]).toEqual([url, 'admin'])
      if (/^\/(api|v3|accounts?|sim)\//.test(url)) expect([url, access]).not.toEqual([url, 'open'])
    }
  })

  // Who is turned away is decided before any route reads the database: one engine shows it.
  const once = it.runIf(engine === ENGINES[0])

  once('strangers get one and the same 401 everywhere', async () => {
    for (const policy of policies.filter(({ access }) => access !== 'open')) {
      for (const stranger of STRANGERS) {
        const name = `${policy.method} ${policy.url} ${stranger}`
        expect([name, await knock(policy, stranger)]).toEqual([name, { status: 401, words: 'Unauthorized' }])
      }
    }
  })

  // Before those who get in: what they do there may change the world.
  once('callers are turned away where the route says so', async () => {
    for (const policy of policies) {
      for (const caller of CALLERS) {
        const verdict = expected(policy, caller)
        if (verdict === 'in') continue
        const name = `${policy.method} ${policy.url} ${caller}`
        const { status, words } = await knock(policy, caller)
        expect([name, status]).toEqual([name, verdict])
        if (status === 403) expect([name, words]).toEqual([name, expect.stringMatching(TURNED_AWAY)])
      }
    }
  })

  it('no key opens the door of paired phones, which have tokens of their own', async () => {
    // Whoever asks is told their own address.
    const doors = policies.filter(
      (policy) => isOfPhones(policy) && `${policy.method} ${policy.url}` !== 'GET /mobile/v1/device',
    )
    expect(doors.length).toBeGreaterThan(6)
    for (const policy of doors) {
      for (const caller of CALLERS) {
        const name = `${policy.method} ${policy.url} ${caller}`
        expect([name, [401, 404, 429].includes((await knock(policy, caller)).status)]).toEqual([name, true])
      }
    }
  })

  it('and get in where it says so', async () => {
    for (const policy of policies.filter((one) => !isOfPhones(one))) {
      for (const caller of CALLERS) {
        if (expected(policy, caller) !== 'in') continue
        const name = `${policy.method} ${policy.url} ${caller}`
        const { status, words } = await knock(policy, caller)
        expect(`${name} ${status}`).not.toBe(`${name} 401`)
        expect([name, status]).not.toEqual([name, 500])
        if (status === 403) expect([name, words]).toEqual([name, expect.not.stringMatching(TURNED_AWAY)])
      }
    }
    expect(world.logs.filter((line) => line.includes('request failed'))).toEqual([])
  })
})
