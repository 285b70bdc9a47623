import { hash } from 'node:crypto'
import { Type } from 'typebox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Driver, Finding } from '../src/drivers/driver.js'
import type { ProbeHost } from '../src/drivers/host.js'
import { createSmsc, type Smsc } from './peers/smsc.js'
import { dumpOf } from './support/dump.js'
import { eventually } from './support/server.js'
import { ADA, BOB, CLEO, createWorld, ENGINES, type Json, type World } from './support/world.js'

const NUMBER = '+13105550140'
const HUGE = 'x'.repeat(50_000)

/** A carrier of our own: what it was told, and whatever a test wants it to find. */
function createCarrier() {
  const carrier = {
    connected: [] as Json[],
    tried: [] as Json[],
    sent: [] as string[],
    find: async (_host: ProbeHost): Promise<Finding[]> => [],
    say: (_detail: string) => {},
    driver: {} as Driver,
  }
  carrier.driver = {
    kind: 'post',
    title: 'Carrier pigeons',
    config: Type.Object({
      server: Type.String({ minLength: 1, maxLength: 200, description: 'Where the loft is' }),
      token: Type.String({ minLength: 4, maxLength: 200, secret: true, description: 'Opens the loft' }),
      pin: Type.Optional(Type.String({ maxLength: 20, secret: true, description: 'Opens the cage' })),
      birds: Type.Optional(Type.Integer({ minimum: 1, description: 'How many' })),
    }),
    defaults: { pace: 2 },
    capabilities: ({ server }) => ({
      services: (server as string).startsWith('rcs') ? ['RCS'] : ['SMS'],
      ...{ media: false, sendStyles: false, replies: false, groups: false, carousel: false, appCards: false },
      ...{ location: false, reactions: false, typing: false, readReceipts: false, profile: false },
    }),
    async connect(line, host) {
      carrier.connected.push(line.config)
      carrier.say = (detail) => host.state('DEGRADED', detail)
      host.state('ONLINE')
      const server = line.config.server as string
      return {
        async send({ ref, content }) {
          carrier.sent.push(`${server}: ${content}`)
          return server === 'silent'
            ? new Promise(() => {})
            : { outcome: 'accepted', providerId: ref, status: 'SENT' }
        },
        close: () => (server === 'silent' ? new Promise(() => {}) : Promise.resolve()),
      }
    },
    async probe(settings, host) {
      carrier.tried.push(settings)
      return carrier.find(host)
    },
  }
  return carrier
}

describe.each(ENGINES)('administration of lines on %s', (engine) => {
  let world: World
  let account: string
  const carrier = createCarrier()
  beforeAll(async () => {
    world = await createWorld(engine)
    ;(world.app.ctx.drivers as Map<string, Driver>).set('post', carrier.driver)
    account = (await world.get('/admin/accounts', 'admin')).body.data[0].id
  }, 60_000)
  afterAll(() => world?.close())

  const admin = (method: string, path: string, body?: unknown) =>
    world.call(method, `/admin/${path}`, { as: 'admin', body })
  let n = 0
  async function add(config: object = { server: 'loft', token: 'sesame' }, fields: object = {}) {
    const number = `+131055501${String(50 + n++)}`
    const reply = await admin('POST', 'lines', {
      account_id: account,
      number,
      driver: 'post',
      config,
      ...fields,
    })
    expect(reply.status, JSON.stringify(reply.body)).toBe(201)
    await world.settle()
    await world.app.ctx.lines.tended()
    return reply.body
  }
  async function change(id: string, body: object) {
    const reply = await admin('PATCH', `lines/${id}`, body)
    await world.app.ctx.lines.tended()
    return reply
  }

  it('GET /admin/drivers: what each must be told, with the secrets marked', async () => {
    const { body } = await admin('GET', 'drivers')
    const byKind = new Map<string, Json>(body.data.map((one: Json) => [one.kind, one]))
    expect([...byKind.keys()]).toEqual(expect.arrayContaining(['simulator', 'smpp']))
    const smpp = byKind.get('smpp')
    expect(smpp.settings.required).toEqual(['host', 'port', 'system_id', 'password'])
    expect(smpp.settings.properties.password).toMatchObject({ type: 'string', secret: true, maxLength: 64 })
    expect(smpp.settings.properties.port).toMatchObject({ type: 'integer', minimum: 1, maximum: 65535 })
    expect(smpp).toMatchObject({ secrets: ['password'], capabilities: { services: ['SMS'], media: false } })
    for (const { settings } of body.data)
      for (const one of Object.values<Json>(settings.properties)) expect(one.description).toMatch(/./)
    // Its capabilities need settings, and that is no fault of whoever asks.
    expect(byKind.get('post')).toMatchObject({ capabilities: null, defaults: { pace: 2 }, can_test: true })
    expect((await world.get('/admin/drivers', 'live')).status).toBe(403)
  })

  describe('secrets', () => {
    it('reach the driver, and are shown to nobody', async () => {
      const line = await add({ server: 'rcs.example', token: 'sesame', birds: 3 })
      expect(line.config).toEqual({ server: 'rcs.example', token: '(kept)', birds: 3 })
      expect(line.capabilities.services).toEqual(['RCS'])
      expect(line.pace).toBe(2)
      expect(carrier.connected.at(-1)).toEqual({ server: 'rcs.example', token: 'sesame', birds: 3 })
      expect((await admin('GET', `lines/${line.id}`)).body.config.token).toBe('(kept)')
    })

    it.each([
      ['left out', {}],
      ['given as it is shown', { token: '(kept)' }],
    ])('stay when they are %s', async (_, given) => {
      const line = await add()
      const reply = await change(line.id, { config: { server: 'other', ...given } })
      expect(reply.body.config).toEqual({ server: 'other', token: '(kept)' })
      expect(carrier.connected.at(-1)).toEqual({ server: 'other', token: 'sesame' })
    })

    it('alone are a reason to connect anew', async () => {
      const line = await add()
      const before = carrier.connected.length
      await change(line.id, { config: line.config })
      expect(carrier.connected.length).toBe(before)
      await change(line.id, { config: { ...line.config, token: 'abracadabra' } })
      expect(carrier.connected.slice(before)).toEqual([{ server: 'loft', token: 'abracadabra' }])
      await world.restart()
      ;(world.app.ctx.drivers as Map<string, Driver>).set('post', carrier.driver)
      await change(line.id, { pace: 3 })
      expect(carrier.connected.filter((one) => one.token === 'abracadabra').length).toBeGreaterThan(1)
    })

    it('that need not be there are taken away with null, and those that must be are not', async () => {
      const line = await add({ server: 'loft', token: 'sesame', pin: '1234' })
      expect(line.config.pin).toBe('(kept)')
      expect((await change(line.id, { config: { ...line.config, pin: null } })).body.config).toEqual({
        server: 'loft',
        token: '(kept)',
      })
      expect(carrier.connected.at(-1)).toEqual({ server: 'loft', token: 'sesame' })
      const refused = await change(line.id, { config: { server: 'loft', token: null } })
      expect([refused.status, refused.body.error.message]).toEqual([400, 'config.token: is needed'])
    })

    it('of a line that is removed are gone', async () => {
      const rows = () => world.app.ctx.db.all('select line_id from line_secrets')
      const line = await add()
      expect(await rows()).toContainEqual({ line_id: line.id })
      await admin('DELETE', `lines/${line.id}`)
      expect(await rows()).not.toContainEqual({ line_id: line.id })
    })

    it('that no key opens any more keep no other line from working, and are given anew', async () => {
      const line = await add()
      await world.app.ctx.db.run("update line_secrets set sealed = sealed || 'x' where line_id = $1", [
        line.id,
      ])
      await change(line.id, { pace: 4 })
      expect(world.app.ctx.lines.get(line.id)).toBeUndefined()
      expect(world.logs.join('\n')).toContain('the line could not be started')
      const other = await add({ server: 'other', token: 'open sesame' })
      expect(world.app.ctx.lines.get(other.id)).toBeDefined()
      const tried = await admin('POST', `lines/${line.id}/test`, {})
      expect(tried.body.error.message).toMatch(/^config\.token: nothing is kept/)
      expect((await change(line.id, { config: { server: 'loft', token: 'anew' } })).status).toBe(200)
      expect(world.app.ctx.lines.get(line.id)).toBeDefined()
      expect(carrier.connected.at(-1).token).toBe('anew')
    })

    it('of two changes at the same moment, neither loses what the other kept', async () => {
      const line = await add({ server: 'loft', token: 'sesame', pin: '1234' })
      const replies = await Promise.all([
        change(line.id, { config: { server: 'loft', token: 'changed' } }),
        change(line.id, { config: { server: 'loft', pin: '9999' } }),
      ])
      expect(replies.map(({ status }) => status)).toEqual([200, 200])
      await world.app.ctx.lines.tended()
      expect(carrier.connected.at(-1)).toEqual({ server: 'loft', token: 'changed', pin: '9999' })
    })

    it('are in no log, answer, event, or row of the database', async () => {
      const secret = 'Xyzzy-7731 Plugh'
      const key = { 'idempotency-key': 'line-with-a-secret' }
      const body = {
        account_id: account,
        number: '+13105550139',
        driver: 'post',
        config: { server: 'a', token: secret },
      }
      const first = await world.post('/admin/lines', body, 'admin', key)
      const again = await world.post('/admin/lines', body, 'admin', key)
      expect([again.status, again.body]).toEqual([201, first.body])
      const { id } = first.body
      await world.app.ctx.lines.tended()
      carrier.say(`GET http://a/?token=${encodeURIComponent(secret)} and ${secret}: 401`)
      carrier.find = async () => [{ ok: false, what: `No entry for ${secret}`, advice: `not ${secret}` }]
      const answers = [
        (await admin('POST', 'lines/test', { driver: 'post', number: NUMBER, config: body.config })).body,
        (await admin('POST', `lines/${id}/test`, {})).body,
        (await admin('POST', `lines/${id}/test`, { config: { server: 5, token: secret } })).body,
        (await change(id, { config: { server: 'b', token: `${secret}!`, pin: `${secret}#` } })).body,
        (await change(id, { config: { server: 'b', token: [secret] } })).body,
        (await change(id, { config: { server: 'b', [secret]: 1 } })).body,
      ]
      expect(answers[0]).toEqual({
        ok: false,
        findings: [{ ok: false, what: 'No entry for (kept)', advice: 'not (kept)' }],
      })
      // Whoever writes a secret where a name belongs sees it again, and nobody else does.
      expect(answers.pop().error.message).toContain('there is no such setting')
      await world.settle()
      for (const path of ['lines', `lines/${id}`, 'drivers', 'accounts', 'keys'])
        answers.push((await admin('GET', path)).body)
      for (const path of ['/api/lines', '/api/v2/lines/state', '/api/v2/dashboard/lines'])
        answers.push((await world.get(path)).body)
      const state = await eventually(
        async () => (await admin('GET', `lines/${id}`)).body,
        ({ state }) => state !== 'UNKNOWN',
      )
      answers.push(state, await world.events(), world.logs)
      const dump = await dumpOf(world.app)
      for (const text of [JSON.stringify(answers), dump])
        for (const form of [secret, encodeURIComponent(secret), 'Xyzzy']) expect(text).not.toContain(form)
      // Nor anything that a guess could be compared with.
      expect(dump).toContain('line-with-a-secret')
      expect(dump).not.toContain(hash('sha256', JSON.stringify(body), 'base64'))
    })
  })

  describe('wrong settings are named', () => {
    const GOOD = { host: 'smsc.example', port: 2775, system_id: 'me', password: 'pw' }
    const ROWS: [string, Json, string][] = [
      [
        'nothing',
        {},
        'config.host: is needed; config.port: is needed; config.system_id: is needed; config.password: is needed',
      ],
      [
        'a port that is text',
        { ...GOOD, port: '2775' },
        'config.port: must be a whole number from 1 to 65535',
      ],
      ['a port too high', { ...GOOD, port: 65536 }, 'config.port: must be a whole number from 1 to 65535'],
      ['half a port', { ...GOOD, port: 2775.5 }, 'config.port: must be a whole number from 1 to 65535'],
      ['a huge host', { ...GOOD, host: HUGE }, 'config.host: must be text of 1 to 253 characters'],
      ['null', { ...GOOD, host: null }, 'config.host: must be text of 1 to 253 characters'],
      ['an object', { ...GOOD, system_id: { a: 1 } }, 'config.system_id: must be text of 1 to 15 characters'],
      ['a choice that is none', { ...GOOD, bind: 'both' }, 'config.bind: must be one of transceiver, pair'],
      ['yes', { ...GOOD, tls: 'yes' }, 'config.tls: must be true or false'],
      ['a setting there is not', { ...GOOD, colour: 'red' }, 'config.colour: there is no such setting'],
      [
        'one that is misspelt',
        { ...GOOD, system_Id: 'x' },
        'config.system_Id: there is no such setting; is system_id meant?',
      ],
      [
        'a password too long',
        { ...GOOD, password: '123456789'.repeat(8) },
        'config.password: must be text of at most 64 characters',
      ],
      [
        'a password that is shown as kept',
        { ...GOOD, password: '(kept)' },
        'config.password: nothing is kept: give the password itself',
      ],
      [
        'a list of bytes',
        { ...GOOD, password: [1, 2] },
        'config.password: must be text of at most 64 characters',
      ],
    ]
    it.each(ROWS)('%s', async (_, config, message) => {
      const line = { account_id: account, number: NUMBER, driver: 'smpp', config }
      const before = (await admin('GET', 'lines')).body.data.length
      for (const path of ['lines', 'lines/test']) {
        const reply = await admin('POST', path, line)
        expect([reply.status, reply.body.error.code, reply.body.error.message]).toEqual([
          400,
          'invalid',
          message,
        ])
        expect(reply.body.error.details[0].field).toMatch(/^config\./)
      }
      expect((await admin('GET', 'lines')).body.data.length).toBe(before)
    })

    it('every fault at once, each with its field', async () => {
      const config = { ...GOOD, port: 0, bind: 1, prot: 1 }
      const { error } = (await admin('POST', 'lines/test', { driver: 'smpp', number: NUMBER, config })).body
      expect(error.details).toEqual([
        { field: 'config.prot', message: 'there is no such setting; is port meant?' },
        { field: 'config.port', message: 'must be a whole number from 1 to 65535' },
        { field: 'config.bind', message: 'must be one of transceiver, pair' },
      ])
    })

    it('names that JavaScript has for itself are names like others', async () => {
      for (const name of ['__proto__', 'constructor', 'toString']) {
        const body = `{"driver":"smpp","number":"${NUMBER}","config":{"${name}":{"a":1}}}`
        const headers = { 'content-type': 'application/json' }
        const reply = await world.call('POST', '/admin/lines/test', { as: 'admin', body, headers })
        expect([name, reply.status]).toEqual([name, 400])
      }
      const reply = await admin('POST', 'lines/test', { driver: 'constructor', number: NUMBER })
      expect(reply.body.error.message).toMatch(/^driver: must be one of simulator, smpp/)
    })

    it('what is not settings at all', async () => {
      const line = await add()
      for (const config of [null, [], 'x', 5]) {
        for (const [method, path] of [
          ['POST', 'lines/test'],
          ['POST', `lines/${line.id}/test`],
          ['PATCH', `lines/${line.id}`],
        ] as const) {
          const reply = await admin(method, path, { driver: 'post', number: NUMBER, config })
          expect([path, config, reply.status]).toEqual([path, config, 400])
        }
      }
      for (const number of ['', '5', 'abc', HUGE])
        expect((await admin('POST', 'lines/test', { driver: 'simulator', number })).status).toBe(400)
    })

    it('a change that is refused changes nothing, not even what was right in it', async () => {
      const line = await add()
      const reply = await change(line.id, { pace: 9, blocked: true, config: { server: '' } })
      expect([reply.status, reply.body.error.message]).toEqual([
        400,
        'config.server: must be text of 1 to 200 characters',
      ])
      expect((await admin('GET', `lines/${line.id}`)).body).toMatchObject({ pace: 2, blocked_at: null })
    })
  })

  it('a carrier that answers nothing, not even a goodbye, holds up neither what comes after nor other lines', async () => {
    const line = await add({ server: 'silent', token: 'sesame' })
    const send = async (number: string, content: string) => {
      const { message_handle } = await world.send({ from_number: line.number, number, content })
      await world.settle()
      return message_handle
    }
    const doubtful = await send(ADA, 'perhaps')
    expect(carrier.sent).toEqual(['silent: perhaps'])
    await change(line.id, { config: { ...line.config, server: 'loft' } })
    const later = await send(BOB, 'afterwards')
    expect((await world.status(later)).status).toBe('SENT')
    expect((await world.status(doubtful)).status).toBe('QUEUED')
    await world.advance(3_600_000)
    expect((await world.status(doubtful)).error_reason).toBe('outcome_unknown')
    expect(carrier.sent).toEqual(['silent: perhaps', 'loft: afterwards'])
  })

  describe('trying settings out', () => {
    it('a line is tried with what is stored, or with other settings', async () => {
      carrier.find = async () => [{ ok: true, what: 'The loft is open' }]
      const line = await add({ server: 'loft', token: 'sesame' })
      const reply = await world.call('POST', `/admin/lines/${line.id}/test`, { as: 'admin' })
      expect(reply.body).toEqual({
        ok: true,
        findings: [{ ok: true, what: 'The loft is open', advice: null }],
      })
      expect(carrier.tried.at(-1)).toEqual({
        number: line.number,
        config: { server: 'loft', token: 'sesame' },
      })
      await admin('POST', `lines/${line.id}/test`, { config: { server: 'other', birds: 2 } })
      expect(carrier.tried.at(-1).config).toEqual({ server: 'other', birds: 2, token: 'sesame' })
      expect((await admin('GET', `lines/${line.id}`)).body.config.server).toBe('loft')
    })

    it('one finding that is bad is enough', async () => {
      carrier.find = async () => [
        { ok: true, what: 'Connected' },
        { ok: false, what: 'Not let in', advice: 'See the token' },
      ]
      const ask = { driver: 'post', number: NUMBER, config: { server: 's', token: 'tttt' } }
      expect((await admin('POST', 'lines/test', ask)).body).toEqual({
        ok: false,
        findings: [
          { ok: true, what: 'Connected', advice: null },
          { ok: false, what: 'Not let in', advice: 'See the token' },
        ],
      })
    })

    it('a test that throws, or never ends, is a finding', async () => {
      const ask = { driver: 'post', number: NUMBER, config: { server: 's', token: 'tttt' } }
      carrier.find = async () => {
        throw new Error('the loft fell down over tttt')
      }
      expect((await admin('POST', 'lines/test', ask)).body.findings).toEqual([
        { ok: false, what: 'The test broke off: the loft fell down over (kept)', advice: null },
      ])
      carrier.find = () => new Promise(() => {})
      const asked = admin('POST', 'lines/test', ask)
      const { length } = carrier.tried
      await eventually(
        async () => carrier.tried.length,
        (now) => now > length - 1,
      )
      await world.advance(30_000)
      expect((await asked).body).toMatchObject({
        ok: false,
        findings: [{ ok: false, what: 'The test was not over after 30 seconds' }],
      })
    })

    it('virtual phones need nothing, and a driver that cannot try says so', async () => {
      const ask = { driver: 'simulator', number: NUMBER }
      expect((await admin('POST', 'lines/test', ask)).body).toMatchObject({
        ok: true,
        findings: [{ what: 'Virtual phones need no connection' }],
      })
      const { probe: _, ...mute } = carrier.driver
      ;(world.app.ctx.drivers as Map<string, Driver>).set('mute', { ...mute, kind: 'mute' })
      const config = { server: 's', token: 'tttt' }
      const reply = await admin('POST', 'lines/test', { driver: 'mute', number: NUMBER, config })
      expect(reply.body).toMatchObject({ ok: true, findings: [{ what: expect.stringContaining('cannot') }] })
      ;(world.app.ctx.drivers as Map<string, Driver>).delete('mute')
    })

    it('is for administrators, and a line that is not there is not there', async () => {
      const line = await add()
      for (const path of ['lines/test', `lines/${line.id}/test`])
        for (const as of ['live', 'test'] as const)
          expect(
            (await world.post(`/admin/${path}`, { driver: 'simulator', number: NUMBER }, as)).status,
          ).toBe(403)
      const reply = await admin('POST', 'lines/nothing/test', {})
      expect([reply.status, reply.body.error.message]).toEqual([404, 'There is no line nothing'])
      expect((await admin('POST', 'lines', { account_id: 'nobody', number: '+13105550138' })).status).toBe(
        404,
      )
    })
  })
})

describe.each(ENGINES)('a line that is changed while it works, on %s', (engine) => {
  let world: World
  let account: string
  const peers: Smsc[] = []
  beforeAll(async () => {
    world = await createWorld(engine, { realTime: true })
    account = (await world.get('/admin/accounts', 'admin')).body.data[0].id
  }, 60_000)
  afterAll(async () => {
    await world?.close()
    for (const peer of peers) await peer.close()
  })

  async function peer(options: Parameters<typeof createSmsc>[0] = {}) {
    const smsc = await createSmsc(options)
    peers.push(smsc)
    return smsc
  }
  const textsAt = (smsc: Smsc) =>
    smsc.submitted.map(({ pdu }) => `${pdu.destination} ${pdu.shortMessage?.toString('latin1')}`)
  const send = (from: string, number: string, content: string) =>
    world.post('/api/send-message', { from_number: from, number, content }).then(({ body }) => body)
  const statusOf = (handle: string, right: (status: Json) => boolean) =>
    eventually(() => world.status(handle), right, 5000, 5)
  const config = (smsc: Smsc, fields: object = {}) => ({
    host: '127.0.0.1',
    port: smsc.port,
    system_id: 'me',
    password: 'sesame1',
    ...fields,
  })
  let n = 0
  async function add(given: object) {
    const body = {
      account_id: account,
      number: `+131055501${60 + n++}`,
      driver: 'smpp',
      config: given,
      pace: 0,
    }
    const reply = await world.post('/admin/lines', body, 'admin')
    expect(reply.status, JSON.stringify(reply.body)).toBe(201)
    return reply.body
  }
  const change = async (id: string, body: object) => {
    const reply = await world.call('PATCH', `/admin/lines/${id}`, { as: 'admin', body })
    expect(reply.status, JSON.stringify(reply.body)).toBe(200)
  }
  const passwords = (smsc: Smsc) =>
    smsc.heard.filter(({ command }) => command.startsWith('bind_')).map(({ password }) => password)

  it('what waits while the carrier is down goes to where the line points then: all of it, once, in order', async () => {
    const [down, up] = [await peer(), await peer()]
    const port = down.port
    await down.close()
    const line = await add({ ...config(up), port })
    await eventually(
      async () => (await world.get(`/admin/lines/${line.id}`, 'admin')).body.state,
      (state) => state === 'OFFLINE',
    )
    const handles: string[] = []
    for (let i = 0; i < 5; i++)
      for (const to of [ADA, BOB, CLEO])
        handles.push((await send(line.number, to, `number ${i}`)).message_handle)
    await change(line.id, { config: { ...line.config, port: up.port } })
    for (const handle of handles) await statusOf(handle, ({ status }) => status === 'SENT')
    const texts = textsAt(up)
    expect(texts).toHaveLength(15)
    for (const to of [ADA, BOB, CLEO])
      expect(texts.filter((text) => text.startsWith(to.slice(1)))).toEqual(
        [0, 1, 2, 3, 4].map((i) => `${to.slice(1)} number ${i}`),
      )
    expect(passwords(up)).toEqual(['sesame1'])
  })

  it('what is on the wire gets its answer first, and what comes after goes the new way', async () => {
    const [old, fresh] = [await peer({ submit: () => ({ answer: 0, afterMs: 150 }) }), await peer()]
    const line = await add(config(old, { window: 2 }))
    const handles = []
    for (let i = 0; i < 6; i++)
      handles.push((await send(line.number, [ADA, BOB][i % 2]!, `text ${i}`)).message_handle)
    await eventually(
      async () => old.submitted.length,
      (count) => count > 0,
      5000,
      5,
    )
    await change(line.id, { config: { ...line.config, port: fresh.port, password: 'sesame2' } })
    for (const handle of handles) await statusOf(handle, ({ status }) => status === 'SENT')
    const all = [...textsAt(old), ...textsAt(fresh)]
    expect(all.slice().sort()).toEqual(
      [0, 1, 2, 3, 4, 5].map((i) => `${[ADA, BOB][i % 2]!.slice(1)} text ${i}`).sort(),
    )
    for (const to of [ADA, BOB]) {
      const own = all.filter((text) => text.startsWith(to.slice(1)))
      expect(own).toEqual(own.slice().sort())
    }
    expect(textsAt(old).length).toBeGreaterThan(0)
    expect([passwords(old), passwords(fresh)]).toEqual([['sesame1'], ['sesame2']])
  })

  it('what the old carrier never answers for is not sent by the new one', async () => {
    const [old, fresh] = [await peer({ submit: () => 'silence' }), await peer()]
    const line = await add(config(old))
    const { message_handle: doubtful } = await send(line.number, ADA, 'perhaps')
    await eventually(
      async () => old.submitted.length,
      (count) => count === 1,
      5000,
      5,
    )
    const { message_handle: next } = await send(line.number, BOB, 'for certain')
    await eventually(
      async () => old.submitted.length,
      (count) => count === 2,
      5000,
      5,
    )
    await change(line.id, { config: { ...line.config, port: fresh.port } })
    await world.app.ctx.lines.tended()
    const { message_handle: later } = await send(line.number, CLEO, 'afterwards')
    await statusOf(later, ({ status }) => status === 'SENT')
    expect(textsAt(fresh)).toEqual([`${CLEO.slice(1)} afterwards`])
    for (const handle of [doubtful, next]) expect((await world.status(handle)).status).not.toBe('SENT')
    expect(old.submitted).toHaveLength(2)
  })

  it('is tried out at the carrier itself, with what is stored and with what would be', async () => {
    const smsc = await peer({ bind: ({ password }) => (password === 'sesame1' ? 0 : 0x0e) })
    const line = await add(config(smsc))
    const test = async (given?: object) => {
      const body = given ? { config: { ...line.config, ...given } } : {}
      return (await world.post(`/admin/lines/${line.id}/test`, body, 'admin')).body
    }
    expect(await test()).toMatchObject({ ok: true })
    for (const given of [{ password: 'sesame9' }, { port: 1 }]) {
      const tested = await test(given)
      expect(tested.ok).toBe(false)
      expect(tested.findings.at(-1)).toMatchObject({ ok: false, advice: expect.stringMatching(/./) })
      expect(JSON.stringify(tested)).not.toContain('sesame')
    }
  })

  it('only the password, or only the rate: connected anew, nothing lost', async () => {
    const smsc = await peer()
    const line = await add(config(smsc))
    await eventually(
      async () => smsc.binds(),
      (count) => count === 1,
    )
    const handles: string[] = []
    for (let i = 0; i < 8; i++) {
      handles.push((await send(line.number, ADA, `text ${i}`)).message_handle)
      if (i === 2) await change(line.id, { config: { ...line.config, password: 'sesame2' } })
      if (i === 5) await change(line.id, { config: { ...line.config, rate: 1000 } })
    }
    for (const handle of handles) await statusOf(handle, ({ status }) => status === 'SENT')
    expect(textsAt(smsc)).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map((i) => `${ADA.slice(1)} text ${i}`))
    expect(passwords(smsc)).toEqual(['sesame1', 'sesame2', 'sesame2'])
    expect(await dumpOf(world.app)).not.toContain('sesame')
    expect(world.logs.join('\n')).not.toContain('sesame')
  })
})
