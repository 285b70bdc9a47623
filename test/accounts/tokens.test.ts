import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tokenText } from '../../src/core/accounts/token.js'
import { DEFAULT_WORLD } from '../../src/services/accounts/default-world.js'
import {
  ADA,
  createWorld,
  credentials,
  ENGINES,
  type Json,
  LINE,
  SHARED_LINE,
  type Who,
  type World,
} from '../support/world.js'

const B_LINE = '+12025550150'
const NO_LINE = '+12025550159'
const NO_ID = '00000000-0000-4000-8000-000000000000'
const UNAUTHORIZED = { status: 401, body: { status: 'ERROR', message: 'Unauthorized' } }

describe.each(ENGINES)('temporary tokens on %s', (engine) => {
  let world: World
  let b: Awaited<ReturnType<World['addAccount']>>

  beforeAll(async () => {
    world = await createWorld(engine, { env: { TRUNKLINE_AUTH_FAILURES_PER_MINUTE: '100000' } })
    b = await world.addAccount('b@example.com', B_LINE)
  })
  afterAll(() => world.close())

  const post = (body?: unknown, as: Who = 'live', headers: Record<string, string> = {}) =>
    world.call('POST', '/v3/auth/tokens', { as, headers, ...(body === undefined ? {} : { body }) })
  const mint = async (body: unknown = {}, as: Who = 'live') => {
    const reply = await post(body, as)
    expect(reply.status, JSON.stringify(reply.body)).toBe(201)
    return reply.body as Json
  }
  const revoke = (id: string, as: Who = 'live') => world.call('DELETE', `/v3/auth/tokens/${id}`, { as })
  const list = (as: Who) => world.get('/api/v2/messages?limit=1', as)

  describe('minting', () => {
    it('answers with exactly the fields of the interface, and the token works', async () => {
      const now = world.app.ctx.clock.now()
      const body = await mint()
      expect(body).toEqual({
        token: expect.stringMatching(/^tl_[\da-f-]{36}_[\dA-Za-z]{49}$/),
        token_id: expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/),
        token_type: 'Bearer',
        expires_at: new Date(now + 900_000).toISOString(),
        phone_numbers: [],
      })
      expect(body.token).toContain(body.token_id)
      expect((await list(body)).status).toBe(200)
      expect(await world.send({}, body)).toMatchObject({ status: 'QUEUED', from_number: LINE })
    })

    it.each([
      ['no body at all', undefined, {}],
      ['an empty body that calls itself JSON', '', { 'content-type': 'application/json' }],
      ['an empty object', {}, {}],
      ['nulls', { expires_in_seconds: null, phone_number: null, phone_numbers: null }, {}],
    ])('takes %s as the defaults', async (_name, body, headers) => {
      const reply = await post(body, 'live', headers as Record<string, string>)
      expect(reply).toMatchObject({ status: 201, body: { phone_numbers: [] } })
      expect(Date.parse(reply.body.expires_at)).toBe(world.app.ctx.clock.now() + 900_000)
    })

    it('lives as long as it is told, from a minute to a day', async () => {
      for (const seconds of [60, 61, 3600, 86_400]) {
        const { expires_at } = await mint({ expires_in_seconds: seconds })
        expect(Date.parse(expires_at)).toBe(world.app.ctx.clock.now() + seconds * 1000)
      }
    })

    it.each([
      [{ expires_in_seconds: 0 }, /^expires_in_seconds: must be >= 60/],
      [{ expires_in_seconds: -1 }, /^expires_in_seconds: must be >= 60/],
      [{ expires_in_seconds: 59 }, /^expires_in_seconds: must be >= 60/],
      [{ expires_in_seconds: 86_401 }, /^expires_in_seconds: must be <= 86400/],
      [{ expires_in_seconds: 1e12 }, /^expires_in_seconds: must be <= 86400/],
      [{ expires_in_seconds: 90.5 }, /^expires_in_seconds: must be integer/],
      [{ expires_in_seconds: '900' }, /^expires_in_seconds: must be integer/],
      [{ expires_in_seconds: true }, /^expires_in_seconds: must be integer/],
      [{ phone_number: LINE, phone_numbers: [LINE] }, /^phone_numbers: give either/],
      [{ phone_number: LINE, phone_numbers: [SHARED_LINE] }, /^phone_numbers: give either/],
      [{ phone_numbers: [] }, /^phone_numbers: must NOT have fewer than 1 items/],
      [{ phone_numbers: LINE }, /^phone_numbers: must be array/],
      [{ phone_numbers: [42] }, /^phone_numbers\.0: must be string/],
      [{ phone_numbers: [LINE, 'x'] }, /^phone_numbers: must be a phone number/],
      [{ phone_numbers: Array.from({ length: 10_000 }, () => LINE) }, /^phone_numbers: must NOT have more/],
      [{ phone_number: '' }, /^phone_number: must be a phone number/],
      [{ phone_number: [LINE] }, /^phone_number: must be string/],
      [{ phone_number: '*' }, /^phone_number: must be a phone number/],
      [{ phone_number: NO_LINE }, /is not a line of this account/],
      [{ phone_number: ADA }, /is not a line of this account/],
      [{ phone_numbers: [LINE, NO_LINE] }, /is not a line of this account/],
    ])('refuses %j', async (body, message) => {
      const reply = await post(body)
      expect([reply.status, reply.body.error?.code]).toEqual([400, 'invalid'])
      expect(reply.body.error.message).toMatch(message)
    })

    it("another account's line is as unknown as none", async () => {
      const plain = async (number: string) => {
        const { status, body } = await post({ phone_number: number })
        return { status, body: JSON.stringify(body).replaceAll(number, '<asked>') }
      }
      expect(await plain(B_LINE)).toEqual(await plain(NO_LINE))
    })

    it('with a phone selector the token is scoped to those numbers', async () => {
      expect((await mint({ phone_number: LINE })).phone_numbers).toEqual([LINE])
      expect((await mint({ phone_number: LINE.replace('+', ' ') })).phone_numbers).toEqual([LINE])
      const several = { phone_numbers: [SHARED_LINE, LINE, SHARED_LINE] }
      expect((await mint(several)).phone_numbers).toEqual([SHARED_LINE, LINE])
    })

    it('temporary tokens, test keys and admin keys cannot mint or revoke', async () => {
      const own = await mint()
      const confined = await mint({ phone_number: LINE })
      for (const as of [own, confined, 'test', 'admin', b.test] as Who[]) {
        expect(await post({}, as)).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } })
        for (const id of [own.token_id, NO_ID])
          expect(await revoke(id, as)).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } })
      }
      expect((await list(own)).status).toBe(200)
    })

    it('the plaintext is returned once: a repeat under its key gets the answer without it', async () => {
      const key = { 'idempotency-key': `mint-${engine}` }
      const first = await post({ phone_number: LINE }, 'live', key)
      const again = await post({ phone_number: LINE }, 'live', key)
      expect(first.status).toBe(201)
      expect(again).toMatchObject({ status: 201, headers: { 'x-idempotent-replay': 'true' } })
      const { token, ...rest } = first.body
      expect(again.body).toEqual(rest)
      expect((await list({ token })).status).toBe(200)
      expect((await post({}, 'live', key)).status).toBe(422)
      const rows = await world.app.ctx.db.all('select * from tokens where id = $1', [rest.token_id])
      const stored = JSON.stringify([rows, await world.app.ctx.db.all('select * from replays')])
      expect(stored).toContain(rest.token_id)
      expect(stored).not.toContain(token.split('_')[2])
    })

    it('two at once under one key make one token', async () => {
      const key = { 'idempotency-key': `race-${engine}` }
      const replies = await Promise.all(Array.from({ length: 5 }, () => post({}, 'live', key)))
      expect(replies.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201])
      expect(new Set(replies.map(({ body }) => body.token_id)).size).toBe(1)
      expect(replies.filter(({ body }) => body.token !== undefined)).toHaveLength(1)
    })

    it("the published client's retry gets a token it can use: it never saw the first", async () => {
      const first = await mint()
      const retry = await post({}, 'live', { 'x-stainless-retry-count': '1' })
      expect(retry.body.token).toMatch(new RegExp(`^tl_${retry.body.token_id}_`))
      expect(retry.body.token_id).not.toBe(first.token_id)
      for (const as of [first, retry.body]) expect((await list(as)).status).toBe(200)
    })
  })

  describe('the end of a token', () => {
    it('expires by the clock, at the very moment', async () => {
      const token = await mint({ expires_in_seconds: 60 })
      await world.advance(59_999)
      expect((await list(token)).status).toBe(200)
      await world.advance(1)
      expect(await list(token)).toMatchObject(UNAUTHORIZED)
      expect((await world.send({}, token)).message).toBe('Unauthorized')
    })

    it('revoked is dead at once, and revoking again changes nothing', async () => {
      const token = await mint()
      expect((await list(token)).status).toBe(200)
      expect(await revoke(token.token_id)).toMatchObject({ status: 204, body: '' })
      expect(await list(token)).toMatchObject(UNAUTHORIZED)
      expect((await revoke(token.token_id)).status).toBe(204)
    })

    it('two revocations at once both succeed', async () => {
      const { token_id } = await mint()
      const replies = await Promise.all([revoke(token_id), revoke(token_id)])
      expect(replies.map(({ status }) => status)).toEqual([204, 204])
    })

    it('an expired one can be revoked like any other', async () => {
      const { token_id } = await mint({ expires_in_seconds: 60 })
      await world.advance(61_000)
      expect((await revoke(token_id)).status).toBe(204)
    })

    it("another account's id is exactly as absent", async () => {
      const theirs = await mint({}, b.live)
      const absent = await revoke(NO_ID)
      expect(absent).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
      const foreign = await revoke(theirs.token_id)
      expect([foreign.status, foreign.body]).toEqual([absent.status, absent.body])
      expect((await list(theirs)).status).toBe(200)
    })

    it.each(['x', '%00', "' or 1=1 --", '%25', 'tl_x', 'x'.repeat(600)])('refuses the id %j', async (id) => {
      expect((await revoke(encodeURI(id))).status).toBe(id.length > 500 ? 414 : 404)
    })

    it('dies with the key that made it, and with its account', async () => {
      const c = await world.addAccount(`c-${engine}@example.com`, '+12025550151')
      const second = (await world.post('/admin/keys', { account_id: c.id }, 'admin')).body
      const [one, other] = [await mint({}, c.live), await mint({}, second)]
      for (const as of [one, other]) expect((await list(as)).status).toBe(200)
      await world.call('DELETE', `/admin/keys/${c.live.id}`, { as: 'admin' })
      expect(await list(one)).toMatchObject(UNAUTHORIZED)
      expect((await list(other)).status).toBe(200)
      await world.call('DELETE', `/admin/accounts/${c.id}`, { as: 'admin' })
      expect(await list(other)).toMatchObject(UNAUTHORIZED)
    })

    it('any live key of the account may revoke it', async () => {
      const second = (await world.post('/admin/keys', { account_id: b.id }, 'admin')).body
      const token = await mint({}, b.live)
      expect((await revoke(token.token_id, second)).status).toBe(204)
      expect(await list(token)).toMatchObject(UNAUTHORIZED)
    })

    it('is forgotten a month after it expired', async () => {
      const { token_id } = await mint({ expires_in_seconds: 60 })
      await world.advance(31 * 24 * 3_600_000)
      await world.restart()
      expect((await revoke(token_id)).status).toBe(404)
    })
  })

  describe('Authorization', () => {
    it('all that is not right gets the answer that wrong keys get', async () => {
      const { token, token_id } = await mint()
      const [, , tail] = token.split('_') as [string, string, string]
      const pair = credentials('live')
      const bearer = (value: string) => ({ authorization: `Bearer ${value}` })
      const flipped = token.slice(0, -1) + (token.endsWith('A') ? 'B' : 'A')
      const { live } = DEFAULT_WORLD.keys
      const wrong: Record<string, string>[] = [
        bearer(''),
        bearer(token.slice(0, -1)),
        bearer(token.slice(0, -6)),
        bearer(`${token}x`),
        bearer(flipped),
        bearer(token.toUpperCase()),
        bearer(token_id),
        bearer(tail),
        bearer(`tl_${token_id}_`),
        bearer(`${token} ${token}`),
        bearer(`${token}, Bearer ${token}`),
        bearer(tokenText(NO_ID, 'x'.repeat(43))),
        bearer(tokenText(token_id, 'x'.repeat(43))),
        bearer(live.secret),
        bearer(`${live.id}:${live.secret}`),
        bearer('x'.repeat(10_000)),
        { authorization: token },
        { authorization: `Token ${token}` },
        { authorization: `Basic ${token}` },
        { authorization: `Basic ${Buffer.from(`${live.id}:${live.secret}`).toString('base64')}` },
        { authorization: `Basic ${Buffer.from(`${token_id}:${token}`).toString('base64')}` },
        { 'sb-api-key-id': token_id, 'sb-api-secret-key': token },
        { 'sb-api-key-id': live.id, 'sb-api-secret-key': token },
        { ...pair, ...bearer(token) },
        { ...pair, ...bearer('x') },
        { ...pair, authorization: '' },
        { 'sb-api-key-id': live.id, ...bearer(token) },
        { 'sb-api-secret-key': '', ...bearer(token) },
      ]
      for (const path of ['/api/v2/messages', '/v3/auth/tokens', '/admin/keys', '/sim/phones']) {
        const expected = path.startsWith('/api')
          ? { status: 'ERROR', message: 'Unauthorized' }
          : {
              error: { code: 'unauthorized', message: 'Unauthorized' },
              error_url: expect.stringMatching(/\/docs\/errors#unauthorized$/),
            }
        for (const headers of wrong) {
          const method = path.startsWith('/v3') ? 'POST' : 'GET'
          const reply = await world.call(method, path, { as: null, headers })
          expect([path, headers, reply.status, reply.body]).toEqual([path, headers, 401, expected])
        }
      }
      for (const name of ['token', 'access_token', 'authorization', 'bearer', 'sb-api-key-id'])
        expect((await world.get(`/api/v2/messages?${name}=${token}`, null)).status).toBe(401)
      expect((await list({ token })).status).toBe(200)
    })

    it('the scheme is read in any case', async () => {
      const { token } = await mint()
      for (const authorization of [`bearer ${token}`, `BEARER ${token}`, `Bearer   ${token}`])
        expect(
          (await world.call('GET', '/api/v2/messages', { as: null, headers: { authorization } })).status,
        ).toBe(200)
    })

    it('a header that comes twice is no credential', async () => {
      const { token } = await mint()
      const authorization = `Bearer ${token}`
      expect(await overTheWire(world, { authorization })).toBe(200)
      expect(await overTheWire(world, { authorization: [authorization, authorization] })).toBe(401)
      expect(await overTheWire(world, { authorization: [authorization, 'Bearer x'] })).toBe(401)
    })

    it('failed attempts are held back like those with keys', async () => {
      const strict = await createWorld(engine, { env: { TRUNKLINE_AUTH_FAILURES_PER_MINUTE: '3' } })
      try {
        const { token } = (await strict.call('POST', '/v3/auth/tokens', { body: {} })).body
        const guess = () => strict.get('/api/v2/messages', { token: tokenText(NO_ID, 'x'.repeat(43)) })
        for (let i = 0; i < 3; i++) expect((await guess()).status).toBe(401)
        expect((await guess()).status).toBe(429)
        expect((await strict.get('/api/v2/messages', { token })).status).toBe(200)
      } finally {
        await strict.close()
      }
    })

    it('an unknown token and a wrong one cost the same questions to the database', async () => {
      const { db, directory } = world.app.ctx
      const { token_id } = await mint()
      const { one } = db
      const questions = async (id: string) => {
        directory.forget()
        let asked = 0
        db.one = ((...args: Parameters<typeof one>) => {
          // The server asks on its own account now and then.
          if (/\b(tokens|keys)\b/.test(args[0])) asked++
          return one.apply(db, args)
        }) as typeof one
        try {
          expect((await list({ token: tokenText(id, 'x'.repeat(43)) })).status).toBe(401)
        } finally {
          db.one = one
        }
        return asked
      }
      expect([await questions(token_id), await questions(NO_ID)]).toEqual([1, 1])
    })

    it('the same request under a key and under a token is the same request', async () => {
      const token = await mint()
      const other = await mint({ phone_number: LINE })
      const key = { 'idempotency-key': `shared-${engine}` }
      const first = await world.send({}, 'live', key)
      expect((await world.send({}, token, key)).message_handle).toBe(first.message_handle)
      expect((await world.send({}, other, key)).message_handle).toBe(first.message_handle)
    })

    it('logs name no token', async () => {
      const { token } = await mint()
      await list({ token })
      await list({ token: token.slice(0, -1) })
      await world.get(`/api/v2/messages?token=${token}`, null)
      expect(world.logs.join('\n')).not.toContain(token.slice(0, 45))
      expect(world.logs.length).toBeGreaterThan(0)
    })

    it('survives a restart', async () => {
      const token = await mint()
      await world.restart()
      expect((await list(token)).status).toBe(200)
    })
  })
})

/** Status of a list over a real connection: there a header can come twice. */
function overTheWire(world: World, headers: Record<string, string | string[]>): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(`${world.app.url()}/api/v2/messages`, { headers, agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode!))
    })
    sent.on('error', reject).end()
  })
}
