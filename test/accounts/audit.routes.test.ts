import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Policy } from '../../src/api/http/policies.js'
import { createWorld, type Json, LINE, type Who, type World } from '../support/world.js'

/** Routes that change a message or what belongs to it: typing, reading, reacting. Everything else is audited. */
const LIFE_OF_A_MESSAGE = [
  'DELETE /api/message/:message_handle',
  'DELETE /api/v2/messages/:message_id',
  'DELETE /v3/scheduled-messages/:handle',
  'GET /callbacks/:line/:token',
  'GET /callbacks/:line/:token/*',
  'PATCH /mobile/v1/device',
  'PATCH /mobile/v1/message',
  'POST /api/mark-read',
  'POST /api/messages/:message_handle/update-app-card',
  'POST /api/request-location',
  'POST /api/send-carousel',
  'POST /api/send-group-message',
  'POST /api/send-message',
  'POST /api/send-reaction',
  'POST /api/send-typing-indicator',
  'POST /callbacks/:line/:token',
  'POST /callbacks/:line/:token/*',
  'POST /mobile/v1/device',
  'POST /mobile/v1/received/:phone',
  'POST /sim/phones/:number/cards',
  'POST /sim/phones/:number/messages',
  'POST /sim/phones/:number/messages/:id/reactions',
  'POST /sim/phones/:number/read',
  'POST /sim/phones/:number/typing',
  'PUT /callbacks/:line/:token',
  'PUT /callbacks/:line/:token/*',
]
const READ_ONLY = ['POST /verify/hosted/:session_id/state']
/** Nobody is refused here for who they are; test/accounts/audit.test.ts shows their rows. */
const OPEN = ['DELETE /console/session', 'POST /console/session']

// Hooks, not storage: one engine shows it.
let world: World
let policies: Policy[]
beforeAll(async () => {
  world = await createWorld('sqlite')
  policies = world.app.server.policies()
})
afterAll(() => world.close())

/** Written out, not asked of the server: a method that it forgot would be missing here as well. */
const changes = ({ method, unaudited }: Policy) =>
  unaudited === undefined && ['POST', 'PUT', 'PATCH', 'DELETE'].includes(method)
const nameOf = ({ method, url }: Policy) => `${method} ${url}`

it('every route that is no GET writes the audit log, or is known to be part of a message or read-only', () => {
  const without = (why: string) =>
    policies.filter(
      ({ unaudited, method, url }) =>
        unaudited === why && !(method === 'GET' && !url.startsWith('/callbacks')),
    )
  expect(without('message').map(nameOf).sort()).toEqual(LIFE_OF_A_MESSAGE)
  expect(without('read-only').map(nameOf)).toEqual(READ_ONLY)
  const changing = policies.filter(changes)
  expect(changing.length).toBeGreaterThan(60)
  expect(
    changing
      .filter(({ access }) => access === 'open')
      .map(nameOf)
      .sort(),
  ).toEqual(OPEN)
})

it('each of them writes a row that names the route, whoever is refused or let in', async () => {
  const key = async (kind: string) => (await world.post('/admin/keys', { kind }, 'admin')).body
  const confined = (await world.post('/v3/auth/tokens', { phone_number: LINE })).body
  // Only so many refusals of one key are kept.
  const admins = [await key('admin'), await key('admin'), await key('admin'), await key('admin')]
  const audited = policies.filter((one) => one.access !== 'open' && changes(one))
  for (const [n, policy] of audited.entries()) {
    const stranger: Record<string, Who> = {
      admin: 'live',
      'live key': 'test',
      account: admins[n % 4],
      any: confined,
    }
    const isForAll = policy.access === 'any' && policy.confined
    const reply = await world.call(policy.method, policy.url.replace(/:\w+/g, encodeURIComponent(LINE)), {
      as: isForAll ? 'live' : stranger[policy.access]!,
      ...(policy.method === 'DELETE' ? {} : { body: { forwarding_number: '+12025550123' } }),
    })
    if (!isForAll) expect([nameOf(policy), reply.status]).toEqual([nameOf(policy), 403])
    const [row]: Json[] = (await world.get('/admin/audit?limit=1', 'admin')).body.data
    expect(row).toMatchObject({ action: nameOf(policy), status: reply.status })
  }
})
