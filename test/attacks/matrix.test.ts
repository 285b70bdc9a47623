import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tablesOf } from '../support/dump.js'
import { isStream, sample } from '../support/samples.js'
import { createWorld, credentials, ENGINES, type Json, LINE, type Who, type World } from '../support/world.js'
import { bodySchema, isNeeded, kindOf, type Route, type Slot, slotsOf } from './support/matrix-slots.js'
import { ABSENT, type Kind, makeThings, type Things } from './support/matrix-world.js'

const STRANGERS = ['no key', 'wrong key', 'expired token', 'revoked key'] as const
const CALLERS = ['other account', 'test twin', 'confined token', 'admin'] as const

/**
 * Every route of the route table, by everyone, with objects of one's own, of another account and of nobody. What its
 * parameters and fields name is told in support/matrix-slots.ts.
 */
describe.each(ENGINES)('every route by everyone on %s', (engine) => {
  let world: World
  let routes: Route[]
  let headers: Record<string, Record<string, string>>
  /** Objects of the account that is looked at from outside, and of each caller. */
  let victim: Things
  let own: Record<string, Things>
  let victimId: string

  beforeAll(async () => {
    world = await createWorld(engine, {
      document: true,
      env: { TRUNKLINE_AUTH_FAILURES_PER_MINUTE: '1000000' },
    })
    const b = await world.addAccount('b@example.com', '+12025550150')
    const admin = async (path: string): Promise<Json> => (await world.get(path, 'admin')).body
    const accounts = (await admin('/admin/accounts')).data
    const a = accounts.find((one: Json) => one.id !== b.id)
    victimId = a.id
    const ownLine = '+12025550160'
    await world.post('/admin/lines', { account_id: a.id, number: ownLine }, 'admin')
    await world.settle()
    const mint = async (body: object) => (await world.post('/v3/auth/tokens', body)).body
    const expired = await mint({ expires_in_seconds: 60 })
    const revoked = (await world.post('/admin/keys', { account_id: a.id }, 'admin')).body
    await world.call('DELETE', `/admin/keys/${revoked.id}`, { as: 'admin' })
    await world.advance(60_000)
    const things = (as: Who, line: string, people: string, accountId: string) =>
      makeThings(world, as, { line, people, accountId })
    victim = await things('live', LINE, '+1202555710', a.id)
    own = {
      'other account': await things(b.live, '+12025550150', '+1202555720', b.id),
      'test twin': await things('test', LINE, '+1202555730', a.test_account_id),
      'confined token': await things('live', ownLine, '+1202555740', a.id),
    }
    own.admin = victim
    own.owner = victim
    own['test twin']!.world = victim.world
    const confined = await mint({ expires_in_seconds: 86_400, phone_number: ownLine })
    headers = {
      'no key': {},
      'wrong key': credentials({ id: 'dev-live-key', secret: 'wrong' }),
      'expired token': credentials(expired),
      'revoked key': credentials(revoked),
      'other account': credentials(b.live),
      'test twin': credentials('test'),
      'confined token': credentials(confined),
      admin: credentials('admin'),
      owner: credentials('live'),
    }
    const { paths } = world.app.server.swagger() as Json
    routes = world.app.server
      .policies()
      .filter(({ access }) => access !== 'open')
      .map((policy) => {
        const path = policy.url.replace(/:(\w+)/g, '{$1}')
        const operation = paths[path]?.[policy.method.toLowerCase()]
        return { ...policy, operation, slots: slotsOf(policy, operation) }
      })
  })
  afterAll(() => world.close())

  /** Asks with the values in the slots, and gives the answer without the values that were asked for. */
  async function ask(
    { method, url, operation, slots }: Route,
    who: string,
    value: (slot: Slot) => string | undefined,
  ) {
    const asked: string[] = []
    const given = (slot: Slot) => {
      const text = value(slot)
      if (text !== undefined) asked.push(text)
      return text
    }
    const path = url.replace(/:(\w+)/g, (_, name) => {
      const slot = slots.find((one) => one.at === 'path' && one.name === name)
      return encodeURIComponent((slot && given(slot)) ?? String(sample(name, {})))
    })
    const query = new URLSearchParams()
    for (const one of operation?.parameters ?? [])
      if (one.in === 'query' && one.required) query.set(one.name, String(sample(one.name, one.schema)))
    const schema = bodySchema(operation)
    const body = schema && (sample('', schema) as Json)
    for (const slot of slots) {
      if (slot.at === 'path') continue
      const text = given(slot)
      if (text === undefined) continue
      if (slot.at === 'query') query.set(slot.name, text)
      else {
        // A field and its older names exclude each other.
        for (const name of Object.keys(body)) if (kindOf(url, name) === slot.kind) delete body[name]
        const { type, required } = schema.properties[slot.name]
        body[slot.name] = type === 'array' ? [text] : type === 'object' ? { [required[0]]: text } : text
      }
    }
    const target = query.size > 0 ? `${path}?${query}` : path
    const text =
      operation && isStream(operation)
        ? await head(method, target, who)
        : await whole(method, target, who, body)
    // Short ids could be part of anything.
    return asked
      .filter((one) => one.length > 3)
      .reduce(
        (shown, one) => shown.replaceAll(one, '<asked>').replaceAll(encodeURIComponent(one), '<asked>'),
        text,
      )
  }

  async function whole(method: string, path: string, who: string, body: unknown) {
    const reply = await world.call(method, path, { as: null, headers: headers[who]!, body })
    return `${reply.status} ${JSON.stringify(reply.body)}`.replace(GENERATED, '"$1":"<new>"')
  }

  /** The head of an answer that may not end. */
  async function head(method: string, path: string, who: string) {
    const stop = new AbortController()
    const reply = await fetch(world.app.url() + path, { method, headers: headers[who]!, signal: stop.signal })
    const type = reply.headers.get('content-type')
    const text = type?.includes('event-stream') ? type : await reply.text()
    stop.abort()
    return `${reply.status} ${text}`
  }

  const nameOf = (route: Route, who: string, slot?: Slot) =>
    `${route.method} ${route.url} by ${who}${slot ? `, ${slot.at} ${slot.name}` : ''}`
  const all =
    (things: Things) =>
    ({ at, kind }: Slot) =>
      at === 'path' ? things[kind] : undefined

  // Who is known is decided before a route looks for an object: one engine shows it.
  it.runIf(engine === ENGINES[0])('strangers get one 401, whatever they ask for', async () => {
    const others: string[] = []
    for (const route of routes)
      for (const who of STRANGERS)
        for (const things of route.slots.some(({ at }) => at === 'path') ? [victim, ABSENT] : [ABSENT]) {
          const answer = await ask(route, who, all(things))
          if (!/^401 .*"message":"Unauthorized"/.test(answer)) others.push(`${nameOf(route, who)}: ${answer}`)
        }
    expect(others).toEqual([])
  })

  /** Where a caller can tell another's object from an absent one. */
  async function differences(who: (typeof CALLERS)[number]): Promise<string[]> {
    const others = own[who]!
    const faults: string[] = []
    for (const route of routes)
      for (const slot of route.slots) {
        if (who === 'admin' ? route.access === 'admin' || route.access === 'any' : isOwn(who, route, slot))
          continue
        const put = (things: Things) => (one: Slot) => {
          if (one === slot) return things[one.kind]
          return one.at === 'path' || isNeeded(route, one, slot) ? others[one.kind] : undefined
        }
        const [foreign, absent] = [await ask(route, who, put(victim)), await ask(route, who, put(ABSENT))]
        if (foreign !== absent || foreign.startsWith('5'))
          faults.push(`${nameOf(route, who, slot)}: ${foreign} but ${absent}`)
      }
    return faults
  }

  /** The test world has its account's worlds and line numbers; a token is confined to lines, not to people. */
  function isOwn(who: string, route: Route, { kind }: Slot): boolean {
    if (who === 'confined token') return !(route.confined && OF_LINES.has(kind))
    return own[who]![kind] === victim[kind]
  }

  it("another's object and an absent object get the same answer, and nothing of the other changes", async () => {
    const before = await rowsOf(victimId)
    for (const who of ['other account', 'test twin', 'admin'] as const)
      expect(await differences(who)).toEqual([])
    await world.settle()
    expect(await rowsOf(victimId)).toEqual(before)
    expect(await differences('confined token')).toEqual([])
  })

  it('every caller finds its own objects, and no object, own or absent, is a 500', async () => {
    const withObjects = routes.filter(({ slots }) => slots.some(({ at }) => at === 'path'))
    const asked = ['owner', ...CALLERS].flatMap((who) => withObjects.map((route) => ({ who, route })))
    // Several callers have the same objects.
    const deletions = asked.filter(({ route }) => route.method === 'DELETE')
    const faults: string[] = []
    for (const { who, route } of [...asked.filter((one) => !deletions.includes(one)), ...deletions]) {
      const absent = await ask(route, who, all(ABSENT))
      const present = await ask(route, who, all(own[who]!))
      const say = (what: string) =>
        faults.push(`${nameOf(route, who)} ${what}: ${present}; absent: ${absent}`)
      if ([absent, present].some((one) => /^(5|401)/.test(one))) say('fails')
      if (who === 'confined token' && !route.confined && !/^403/.test(present)) say('is not refused')
      // The matrix shows something only as long as its objects are there.
      const mayAsk = route.method === 'GET' && !/^403/.test(absent)
      if (mayAsk && absent === present && !SEEN_EQUAL.includes(route.url)) say('is not found')
    }
    expect(faults).toEqual([])
  })

  async function rowsOf(accountId: string) {
    const tables = [...(await tablesOf(world.app))].filter(
      ([name]) => !name.startsWith('audit_') && name !== 'requests',
    )
    return Object.fromEntries(
      tables.map(([name, rows]) => [name, rows.filter((row) => row.includes(`"${accountId}"`))]),
    )
  }
})

/** Values that differ between two answers of the same kind. */
const GENERATED = /"(id|sid|token_id|group_id|contact_id|url|code)":"[^"]*"/g
/** Routes that answer alike for a person who shares nothing and for an unknown one. */
const SEEN_EQUAL = [
  '/v3/verified-contacts/:phone_number',
  '/api/location/:number',
  '/api/location/:number/watch',
  '/sim/phones/:number/cards',
  '/sim/phones/:number/location',
]
const OF_LINES = new Set<Kind>(['message', 'scheduled', 'group', 'line', 'contact', 'contactId'])
