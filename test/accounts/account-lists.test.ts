import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADA, BOB, createWorld, ENGINES, type Json, LINE, type World } from '../support/world.js'

const B_LINE = '+12025550150'

describe.each(ENGINES)('lists of tokens and calls on %s', (engine) => {
  let world: World
  let b: Awaited<ReturnType<World['addAccount']>>
  beforeAll(async () => {
    world = await createWorld(engine)
    b = await world.addAccount('b@example.com', B_LINE)
  })
  afterAll(() => world.close())

  async function pages(path: string, limit: number) {
    const seen: Json[] = []
    let cursor: string | null = null
    do {
      const query: string = `?limit=${limit}${cursor ? `&cursor=${cursor}` : ''}`
      const { status, body }: Json = await world.get(path + query)
      expect(status).toBe(200)
      expect(body.data.length).toBeLessThanOrEqual(limit)
      seen.push(...body.data)
      cursor = body.next_cursor
    } while (cursor)
    return seen
  }

  describe('tokens', () => {
    it('are listed newest first, without their text, until they expire', async () => {
      const mint = async (body: object, as?: Parameters<World['post']>[2]) =>
        (await world.post('/v3/auth/tokens', body, as)).body
      const short = await mint({ expires_in_seconds: 60 })
      const confined = await mint({ phone_number: LINE })
      const revoked = await mint({})
      await mint({}, b.live)
      await world.call('DELETE', `/v3/auth/tokens/${revoked.token_id}`)
      const { body } = await world.get('/v3/auth/tokens')
      expect(body.next_cursor).toBeNull()
      expect(body.data.map((one: Json) => one.token_id)).toEqual([
        revoked.token_id,
        confined.token_id,
        short.token_id,
      ])
      expect(body.data[0]).toMatchObject({ revoked_at: expect.stringMatching(/Z$/), is_valid: false })
      expect(body.data[1]).toEqual({
        token_id: confined.token_id,
        created_at: '2026-03-01T12:00:00.000Z',
        expires_at: confined.expires_at,
        revoked_at: null,
        is_valid: true,
        phone_numbers: [LINE],
        key_id: 'dev-live-key',
        key_label: expect.any(String),
      })
      for (const { token } of [short, confined, revoked])
        expect(JSON.stringify(body)).not.toContain(token.split('_')[2])
      for (const limit of [1, 2])
        expect((await pages('/v3/auth/tokens', limit)).map((one) => one.token_id)).toEqual(
          body.data.map((one: Json) => one.token_id),
        )
      await world.advance(60_000)
      const left = (await world.get('/v3/auth/tokens')).body.data
      expect(left.map((one: Json) => one.token_id)).toEqual([revoked.token_id, confined.token_id])
    })

    it('one whose key was revoked does not work any more', async () => {
      const { body: accounts } = await world.get('/admin/accounts', 'admin')
      const own = accounts.data.find((one: Json) => one.id !== b.id)
      const key = (await world.post('/admin/keys', { account_id: own.id, label: 'CI' }, 'admin')).body
      const token = (await world.post('/v3/auth/tokens', {}, key)).body
      const listed = async () =>
        (await world.get('/v3/auth/tokens')).body.data.find((one: Json) => one.token_id === token.token_id)
      expect(await listed()).toMatchObject({ is_valid: true, key_id: key.id, key_label: 'CI' })
      await world.call('DELETE', `/admin/keys/${key.id}`, { as: 'admin' })
      expect(await listed()).toMatchObject({ is_valid: false, revoked_at: null })
    })

    it('a cursor that is none is refused', async () => {
      for (const path of ['/v3/auth/tokens', '/v3/calls']) {
        const reply = await world.get(`${path}?cursor=x`)
        expect([reply.status, reply.body.error.code]).toEqual([400, 'invalid'])
      }
    })
  })

  describe('calls', () => {
    it('are listed newest first, both ways, and not those that never reached the account', async () => {
      const call = async (phone: string) =>
        (await world.post(`/sim/phones/${phone}/calls`, { to: LINE })).body
      await call(BOB)
      await world.call('PUT', `/api/lines/${LINE}/call-forwarding`, { body: { forwarding_number: ADA } })
      const inbound = await call(BOB)
      await world.post(`/sim/phones/${ADA}/calls/${inbound.id}/answer`, undefined)
      await world.advance(61_000)
      await world.post(`/sim/phones/${ADA}/calls/${inbound.id}/hangup`, undefined)
      const outbound = (await world.post('/sim/calls', { from: LINE, to: BOB })).body
      const { body } = await world.get('/v3/calls')
      expect(body).toEqual({
        data: [
          {
            call_id: outbound.id,
            direction: 'outbound',
            line: LINE,
            from_number: LINE,
            to_number: BOB,
            forwarded_to: null,
            state: 'ringing',
            outcome: null,
            voicemail: false,
            sent_by: expect.any(String),
            duration_seconds: null,
            created_at: expect.stringMatching(/Z$/),
            answered_at: null,
            ended_at: null,
          },
          expect.objectContaining({
            call_id: inbound.id,
            direction: 'inbound',
            line: LINE,
            from_number: BOB,
            to_number: LINE,
            forwarded_to: ADA,
            state: 'ended',
            outcome: 'COMPLETED',
            duration_seconds: 61,
          }),
        ],
        next_cursor: null,
      })
      expect((await pages('/v3/calls', 1)).map((one) => one.call_id)).toEqual([outbound.id, inbound.id])
      expect((await world.get('/v3/calls', b.live)).body.data).toEqual([])
      expect((await world.get('/v3/calls', 'test')).body.data).toEqual([])
    })
  })
})
