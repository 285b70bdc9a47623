import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Driver } from '../../src/drivers/contract.js'
import { eventually } from '../support/server.js'
import { ADA, BOB, createWorld, ENGINES, type Json, type World } from '../support/world.js'
import { linesIn, NUMBER } from './support.js'

const HUGE = 'x'.repeat(50_000)

describe.each(ENGINES)('administration of lines on %s', (engine) => {
  let world: World
  let account: string
  beforeAll(async () => {
    world = await createWorld(engine, { isReal: true })
    ;(world.app.ctx.drivers as Map<string, Driver>).set('post', carrier.driver)
    account = await firstAccount()
  })
  afterAll(() => world?.close())

  const { carrier, admin, firstAccount, add, change } = linesIn(() => world)

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

  describe('wrong settings are named', () => {
    const GOOD = { host: 'smsc.example', port: 2775, system_id: 'me', password: 'pw' }
    const ROWS: [string, Json, string][] = [
      [
        'nothing',
        {},
        'config.host: is required; config.port: is required; config.system_id: is required; config.password: is required',
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
      expect(reply.body.error.message).toMatch(
        /^driver: must be one of simulator, smsgate, phone, smpp, twilio, telnyx/,
      )
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
      const reply = await change(line.id, { pace: 9, blocked: true, config: { server: '', token: 'sesame' } })
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
    await change(line.id, { config: { server: 'loft', token: 'sesame' } })
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
      await admin('POST', `lines/${line.id}/test`, { config: { server: 'loft', birds: 2 } })
      expect(carrier.tried.at(-1).config).toEqual({ server: 'loft', birds: 2, token: 'sesame' })
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
