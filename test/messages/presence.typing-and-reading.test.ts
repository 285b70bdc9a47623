import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  ADA,
  BOB,
  DAN,
  ENGINES,
  type Json,
  LINE,
  SHARED_LINE,
  type Who,
  type World,
} from '../support/world.js'
import { B_LINE, createPresenceWorld, NO_HANDLE, SMS_LINE, STRANGER, sidesOf } from './support.js'

describe.each(ENGINES)('presence on %s', (engine) => {
  let world: World
  let b: Awaited<ReturnType<World['addAccount']>>
  beforeAll(async () => {
    ;({ world, b } = await createPresenceWorld(engine))
  })
  afterAll(() => world.close())

  const { screen, sent, text } = sidesOf(() => world)

  describe('typing', () => {
    const type = (fields: Json = {}, as: Who = 'live', headers?: Record<string, string>) =>
      world.post('/api/send-typing-indicator', { from_number: LINE, number: ADA, ...fields }, as, headers)
    const typingAt = async (phone: string, as: Who = 'live') => {
      const { typing } = await screen(phone, as)
      const shown = (await world.get(`/sim/phones/${phone}`, as)).body
      expect(shown.typing).toEqual(typing)
      return typing
    }

    it('shows on the phone until it is stopped', async () => {
      await sent()
      const { status, body } = await type()
      expect(status).toBe(200)
      expect(body).toEqual({ status: 'SENT', status_code: 200, error_message: null, number: ADA })
      expect(await typingAt(ADA)).toEqual([LINE])
      expect(await typingAt(ADA, b.live)).toEqual([])
      expect((await type({ state: 'stop' })).body.status).toBe('SENT')
      expect(await typingAt(ADA)).toEqual([])
    })

    it('ends by itself, after a minute or when it was told to', async () => {
      await type()
      await world.advance(59_999)
      expect(await typingAt(ADA)).toEqual([LINE])
      await world.advance(1)
      expect(await typingAt(ADA)).toEqual([])
      await type({ state: 'start', max_duration_ms: 5000 })
      await world.advance(4999)
      expect(await typingAt(ADA)).toEqual([LINE])
      await world.advance(1)
      expect(await typingAt(ADA)).toEqual([])
    })

    it.each([1, 300_000])('max_duration_ms may be %i', async (max_duration_ms) => {
      expect((await type({ max_duration_ms })).status).toBe(200)
    })

    it.each<[string, Json, RegExp]>([
      ['no number', { number: undefined }, /missing required parameter: number/],
      ['a number that is none', { number: '5' }, /^number: /],
      ['an unknown line', { from_number: '+12025550177' }, /This phone number is not defined/],
      ['another state', { state: 'pause' }, /^state: must be one of start, stop/],
      ['0 ms', { max_duration_ms: 0 }, /^max_duration_ms: /],
      ['300001 ms', { max_duration_ms: 300_001 }, /^max_duration_ms: /],
      ['1.5 ms', { max_duration_ms: 1.5 }, /^max_duration_ms: /],
      ['text as ms', { max_duration_ms: '5000' }, /^max_duration_ms: /],
      ['no prior chat', { number: STRANGER }, /No route mapping/],
      ['stopping without a chat', { number: STRANGER, state: 'stop' }, /No route mapping/],
      ['a chat on another line only', { from_number: SMS_LINE }, /No route mapping/],
    ])('refuses %s', async (_name, fields, words) => {
      const { status, body } = await type(fields)
      expect([status, body.message]).toEqual([400, expect.stringMatching(words)])
      expect(body).toMatchObject({ status: 'ERROR', error_code: 4000, error_message: body.message })
    })

    it('without from_number it is the line of the conversation', async () => {
      await sent()
      expect((await type({ from_number: undefined })).status).toBe(200)
      expect(await typingAt(ADA)).toEqual([LINE])
      await type({ state: 'stop' })
      expect((await type({ from_number: undefined, number: STRANGER })).body.message).toMatch(
        /No route mapping/,
      )
    })

    it('a person without iMessage sees no typing: 422', async () => {
      await sent({ number: BOB })
      expect((await type({ number: BOB })).status).toBe(422)
      await sent({ from_number: SMS_LINE, number: BOB })
      expect((await type({ from_number: SMS_LINE, number: BOB })).status).toBe(400)
    })

    it('a failed message is no conversation', async () => {
      const eve = '+12025550105'
      await sent({ number: eve })
      expect((await type({ number: eve })).body.message).toMatch(/No route mapping/)
    })

    it("a conversation of another account is none: B's line, B's chat", async () => {
      const foreign = '+12025550171'
      await world.send({ from_number: B_LINE, number: foreign }, b.live)
      await world.advance(1000)
      const plain = (reply: Json, value: string) => [
        reply.status,
        JSON.stringify(reply.body).replaceAll(value, 'N'),
      ]
      expect(plain(await type({ number: foreign }), foreign)).toEqual(
        plain(await type({ number: STRANGER }), STRANGER),
      )
      expect(plain(await type({ from_number: B_LINE }), B_LINE)).toEqual(
        plain(await type({ from_number: '+12025550159' }), '+12025550159'),
      )
    })

    it("on a shared line the other member's typing is not shown to those it is not with", async () => {
      const lines = (await world.get('/admin/lines', 'admin')).body.data
      const shared = lines.find((line: Json) => line.number === SHARED_LINE && line.world === 'live')
      await world.post(`/admin/lines/${shared.id}/members`, { account_id: b.id }, 'admin')
      await sent({ from_number: SHARED_LINE })
      expect((await type({ from_number: SHARED_LINE })).status).toBe(200)
      expect(await typingAt(ADA)).toEqual([SHARED_LINE])
      expect(await typingAt(ADA, b.live)).toEqual([])
      await type({ from_number: SHARED_LINE, state: 'stop' })
    })

    it('a late repeat does not start it again', async () => {
      const key = { 'idempotency-key': 'type-1' }
      await type({}, 'live', key)
      await type({ state: 'stop' })
      expect((await type({}, 'live', key)).status).toBe(200)
      expect(await typingAt(ADA)).toEqual([])
    })

    it('a person types: an event per change, never a message', async () => {
      const typing = (value: unknown, fields: Json = {}) =>
        world.post(`/sim/phones/${ADA}/typing`, { to: LINE, typing: value, ...fields })
      const messages = async () => (await world.get('/api/v2/messages?limit=1')).body.pagination.total
      const [before, count] = [(await world.events()).length, await messages()]
      for (const value of [true, true, false, false, true, false])
        expect(await typing(value)).toMatchObject({ status: 200, body: { typing: value } })
      const news = (await world.events()).slice(before)
      expect(news.map(({ type, subject, data }) => [type, subject, data.isTyping])).toEqual([
        ['typing.changed', ADA, true],
        ['typing.changed', ADA, false],
        ['typing.changed', ADA, true],
        ['typing.changed', ADA, false],
      ])
      expect(news[0].data).toMatchObject({ contact: ADA, lineNumber: LINE, isTyping: true })
      expect(await messages()).toBe(count)
      expect((await typing('yes')).status).toBe(400)
      expect((await typing(true, { to: B_LINE })).status).toBe(400)
      expect((await world.post(`/sim/phones/${DAN}/typing`, { to: LINE, typing: true })).status).toBe(400)
    })
  })

  describe('reading', () => {
    const read = (fields: Json = {}, as: Who = 'live', headers?: Record<string, string>) =>
      world.post('/api/mark-read', { from_number: LINE, number: ADA, ...fields }, as, headers)

    it("the person's messages show when the line read them", async () => {
      const { id } = await text(ADA, 'Read me')
      await world.text(ADA, 'To B', { to: B_LINE }, b.live)
      await world.advance(1000)
      const own = async (as: Who = 'live') =>
        (await screen(ADA, as)).data.filter((one: Json) => one.direction === 'out')
      expect((await own()).find((one: Json) => one.id === id).read_at).toBeNull()
      const { status, body } = await read()
      expect(status).toBe(200)
      expect(body).toEqual({ status: 'OK', message: expect.any(String), number: ADA })
      const at = (await own()).find((one: Json) => one.id === id).read_at
      expect(at).toBe(new Date(world.app.ctx.clock.now()).toISOString())
      expect((await own()).every((one: Json) => one.read_at !== null)).toBe(true)
      expect((await own(b.live)).map((one: Json) => one.read_at)).toEqual([null])
      await world.advance(1000)
      expect((await read()).status).toBe(200)
      expect((await own()).find((one: Json) => one.id === id).read_at).toBe(at)
    })

    it('a conversation by SMS answers OK, and nobody is told', async () => {
      const { id } = await text(BOB, 'By SMS')
      expect(await read({ number: BOB })).toMatchObject({ status: 200, body: { status: 'OK', number: BOB } })
      expect((await screen(BOB)).data.find((one: Json) => one.id === id).read_at).toBeNull()
      await sent({ from_number: SMS_LINE, number: BOB })
      expect((await read({ from_number: SMS_LINE, number: BOB })).status).toBe(200)
    })

    it.each<[string, Json, number, RegExp]>([
      ['no number', { number: undefined }, 400, /missing required parameter: number/],
      ['no from_number', { from_number: undefined }, 400, /missing required parameter: from_number/],
      ['a number that is none', { number: 'Ada' }, 400, /^number: /],
      ['an unknown line', { from_number: '+12025550177' }, 400, /This phone number is not defined/],
      ['an unknown chat', { number: STRANGER }, 404, /no conversation/],
    ])('refuses %s', async (_name, fields, status, words) => {
      const reply = await read(fields)
      expect([reply.status, reply.body]).toEqual([
        status,
        { status: 'ERROR', message: expect.stringMatching(words) },
      ])
    })

    it('is repeated safely', async () => {
      const key = { 'idempotency-key': 'read-1' }
      const replies = await Promise.all([read({}, 'live', key), read({}, 'live', key), read()])
      expect(replies.map(({ status }) => status)).toEqual([200, 200, 200])
    })
  })

  describe('a token that is confined to some lines', () => {
    it('works on its own, and sees nothing of the others', async () => {
      const expires_in_seconds = 86_400
      const mint = async (phone_number: string) =>
        (await world.post('/v3/auth/tokens', { phone_number, expires_in_seconds })).body as { token: string }
      const [own, other] = [await mint(LINE), await mint(SMS_LINE)]
      const message_handle = await sent()
      const card = { appName: 'a', extensionBundleId: 'b', teamId: 'c', layout: {}, url: 'data:,' }
      const sending = { from_number: LINE, number: ADA, app_card: card }
      const original = (await world.post('/api/send-message', sending)).body.message_handle
      await world.advance(1000)
      const media_urls = ['https://example.com/1.jpg', 'https://example.com/2.jpg']
      const calls: [string, Json, number][] = [
        ['/api/send-carousel', { from_number: LINE, number: ADA, media_urls }, 202],
        ['/api/send-reaction', { from_number: LINE, message_handle, reaction: 'love' }, 200],
        ['/api/send-typing-indicator', { from_number: LINE, number: ADA, state: 'stop' }, 200],
        ['/api/mark-read', { from_number: LINE, number: ADA }, 200],
      ]
      for (const [path, body, status] of calls) {
        expect([path, (await world.post(path, body, own)).status]).toEqual([path, status])
        const refused = await world.post(path, body, other)
        expect([path, refused.status, refused.body.message]).toEqual([
          path,
          403,
          expect.stringMatching(/confined/),
        ])
      }
      const update = (handle: string, as: Who) =>
        world.post(`/api/messages/${handle}/update-app-card`, {}, as)
      expect((await update(original, own)).status).toBe(202)
      const [foreign, absent] = [await update(original, other), await update(NO_HANDLE, other)]
      expect([foreign.status, foreign.body]).toEqual([404, absent.body])
      const typing = await world.post('/api/send-typing-indicator', { number: ADA }, other)
      expect([typing.status, typing.body.message]).toEqual([400, expect.stringMatching(/No route mapping/)])
      const reaction = { from_number: SMS_LINE, message_handle, reaction: 'love' }
      expect((await world.post('/api/send-reaction', reaction, other)).status).toBe(400)
    })
  })
})
