import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADA, createWorld, type Json, LINE, SHARED_LINE, type World } from '../support/world.js'

/** Every example of the API document succeeds in a fresh default world, sent as it is shown. */
const document: Json = JSON.parse(readFileSync('openapi.json', 'utf8'))
const examples = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
  Object.entries<Json>(item).flatMap(([method, operation]) => {
    const media: Json = operation.requestBody?.content['application/json']
    return media ? [{ name: `${method} ${path}`, method, path, operation, example: media.example }] : []
  }),
)

type Values = Record<string, string>

/** In paths; an example also names them in braces where its body needs an id. */
const COMMON: Values = { number: ADA, phone_number: ADA, sendblue_number: LINE, name: 'receipt-late' }
/** Only the session of the console needs it, and its description says so. */
const CONSOLE = { 'x-trunkline-console': '1' }
const FAY = '+12025550151'

const lineOf = async (world: World, number: string): Promise<Json> =>
  (await world.get('/admin/lines', 'admin')).body.data.find(
    (line: Json) => line.number === number && line.world === 'live',
  )
const accountOf = async (world: World) => (await lineOf(world, LINE)).account_id

async function sent(world: World, fields: Json = {}): Promise<Values> {
  const { message_handle } = await world.send(fields)
  await world.advance(5000)
  return { message_handle }
}
async function group(world: World): Promise<Values> {
  const { body } = await world.post('/api/create-group', { from_number: LINE, numbers: [ADA, FAY] })
  await world.advance(1000)
  return { group_id: body.group_id }
}
async function phoneGroup(world: World): Promise<Values> {
  const { body } = await world.post('/sim/groups', {
    by: ADA,
    line: LINE,
    members: [FAY, '+12025550153', '+12025550154'],
  })
  await world.advance(1000)
  return { id: body.id }
}
async function texted(world: World): Promise<Values> {
  await world.text(ADA, 'Hello')
  await world.advance(1000)
  return {}
}
async function service(world: World): Promise<Values> {
  const { body } = await world.post('/api/v2/verify/services', { friendly_name: 'Shop' })
  return { service_sid: body.sid }
}
const line = async (world: World): Promise<Values> => ({ id: (await lineOf(world, LINE)).id })
const account = async (world: World): Promise<Values> => {
  const id = await accountOf(world)
  return { id, account_id: id }
}

/** A phone dials https addresses only. */
const worldFor = ({ operationId }: Json) =>
  operationId === 'pairPhone' ? { env: { TRUNKLINE_PUBLIC_URL: 'https://trunkline.example' } } : {}

/** What has to be there before an example, by the name of its operation. */
const BEFORE: Record<string, (world: World) => Promise<Values>> = {
  updateAppCard: (world) =>
    sent(world, {
      content: undefined,
      app_card: {
        appName: 'Game',
        extensionBundleId: 'com.example.game',
        teamId: 'ABCDE12345',
        layout: { caption: 'Play' },
        url: 'https://example.com/game?turn=1',
      },
    }),
  sendReaction: sent,
  shareProfile: async (world) => {
    const profile = { fromNumber: LINE, firstName: 'Trunk' }
    await world.post('/api/v2/contact-sharing/profile', profile)
    return sent(world)
  },
  requestLocation: sent,
  sendTypingIndicator: sent,
  markRead: texted,
  updateContact: async (world) => {
    await world.post('/api/v2/contacts', { number: ADA })
    return {}
  },
  modifyGroup: group,
  renameGroup: group,
  setGroupPhoto: group,
  updateAccount: account,
  keepBodiesOfAccount: account,
  rotateKey: async (world) => ({
    id: (await world.post('/admin/keys', { kind: 'admin', label: 'Old' }, 'admin')).body.id,
  }),
  createLine: account,
  pairPhone: async (world) => {
    const phone = { account_id: await accountOf(world), number: '+12025550123', driver: 'phone' }
    return { line_id: (await world.post('/admin/lines', phone, 'admin')).body.id }
  },
  createPool: async (world) => ({ line_id: (await lineOf(world, LINE)).id }),
  changePool: async (world) => {
    const pool = { name: 'phones', lines: [(await lineOf(world, LINE)).id] }
    return { id: (await world.post('/admin/pools', pool, 'admin')).body.id }
  },
  createSeat: account,
  updateSeat: async (world) => {
    const seat = { account_id: await accountOf(world), email: 'grace@example.com' }
    return { id: (await world.post('/admin/seats', seat, 'admin')).body.id }
  },
  testLine: line,
  updateLine: line,
  addLineMember: async (world) => ({
    id: (await lineOf(world, SHARED_LINE)).id,
    account_id: (await world.addAccount('grace@example.com', '+12025550123')).id,
  }),
  releaseConversation: async (world) => {
    const { id } = await world.setLine(LINE, { config: { latency_ms: 0 }, loop_limit: 4 })
    for (let i = 0; i < 6; i++) {
      await world.text(ADA, `machine ${i}`)
      await world.advance(100)
      await world.send({ content: `answer ${i}` })
      await world.advance(100)
    }
    return { line_id: id }
  },
  createVerification: service,
  updateVerification: async (world) => {
    const { service_sid } = await service(world)
    const url = `/api/v2/verify/services/${service_sid}/verifications`
    return { service_sid: service_sid!, sid: (await world.post(url, { to: ADA })).body.sid }
  },
  updateSimGroup: phoneGroup,
  addSimGroupMember: phoneGroup,
  leaveSimGroup: phoneGroup,
  movePhone: async (world) => {
    const place = { to: LINE, latitude: 48.85, longitude: 2.35 }
    await world.call('PUT', `/sim/phones/${ADA}/location`, { body: place })
    return {}
  },
  acceptLocationRequest: async (world) => {
    await sent(world)
    await world.post('/api/request-location', { from_number: LINE, number: ADA })
    await world.advance(1000)
    return {}
  },
  reactFromPhone: async (world) => {
    await sent(world)
    return { id: (await world.inbox(ADA)).at(-1).id }
  },
}

describe('the examples of the API document', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld('sqlite')
  })
  afterAll(() => world?.close())

  it('are there for every JSON body', () => {
    expect(examples.filter(({ example }) => example === undefined)).toEqual([])
    expect(examples.length).toBeGreaterThan(70)
  })

  it.each(examples)('$name', async ({ method, path, operation, example }) => {
    const isAdmin = path.startsWith('/admin/')
    // Accounts, keys and lines outlive a reset.
    const fresh = isAdmin ? await createWorld('sqlite', worldFor(operation)) : world
    try {
      if (!isAdmin) await world.reset()
      const values = { ...COMMON, ...(await BEFORE[operation.operationId]?.(fresh)) }
      const fill = (text: string) =>
        text.replace(/\{(\w+)\}/g, (_, name: string) => {
          if (!values[name]) throw new Error(`${operation.operationId}: nothing gives it ${name}`)
          return encodeURIComponent(values[name])
        })
      const body = JSON.parse(
        JSON.stringify(example)
          .replace(/"\{(\w+)\}"/g, (braced) => JSON.stringify(decodeURIComponent(fill(braced.slice(1, -1)))))
          // The server of the default world listens elsewhere in a test.
          .replaceAll('http://127.0.0.1:4040', fresh.app.url()),
      )
      const as = isAdmin ? 'admin' : 'live'
      const reply = await fresh.call(method.toUpperCase(), fill(path), { as, body, headers: CONSOLE })
      expect(reply.status, JSON.stringify(reply.body)).toBeGreaterThanOrEqual(200)
      expect(reply.status, JSON.stringify(reply.body)).toBeLessThan(300)
    } finally {
      if (isAdmin) await fresh.close()
    }
  })
})
