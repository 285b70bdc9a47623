import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createInboundDoor } from '../src/services/inbound.js'
import {
  ADA,
  BOB,
  CLEO,
  createWorld,
  DAN,
  ENGINES,
  type Json,
  LINE,
  SHARED_LINE,
  type Who,
  type World,
} from './support/world.js'

const SMS_LINE = '+12025550160'
const B_LINE = '+12025550150'
type Headers = Record<string, string>
const STRANGER = '+12025550170'
const NO_HANDLE = '00000000-0000-4000-8000-000000000000'

describe.each(ENGINES)('presence on %s', (engine) => {
  let world: World
  let b: Awaited<ReturnType<World['addAccount']>>
  let bHandle: string
  beforeAll(async () => {
    world = await createWorld(engine)
    b = await world.addAccount('b@example.com', B_LINE)
    const accounts = (await world.get('/admin/accounts', 'admin')).body.data
    const { id: account_id } = accounts.find((one: Json) => one.email === 'dev@trunkline.local')
    await world.post('/admin/lines', { account_id, number: SMS_LINE, config: { services: ['SMS'] } }, 'admin')
    bHandle = (await world.send({ from_number: B_LINE }, b.live)).message_handle
    await world.advance(1000)
  })
  afterAll(() => world.close())

  const screen = async (phone: string, as: Who = 'live') =>
    (await world.get(`/sim/phones/${phone}/inbox?limit=1000`, as)).body
  const onPhone = async (phone: string, handle: string) =>
    (await screen(phone)).data.find((one: Json) => one.message_handle === handle)
  const sent = async (fields: Json = {}) => {
    const { message_handle } = await world.send(fields)
    await world.advance(1000)
    return message_handle as string
  }
  const received = async () => (await world.get('/api/v2/messages?is_outbound=false&limit=1')).body.data[0]
  const text = async (phone: string, content: string) => {
    const { id } = await world.text(phone, content)
    await world.advance(10)
    return { id: id as string, record: await received() }
  }

  describe('sending reactions', () => {
    const react = (fields: Json, as: Who = 'live', headers?: Record<string, string>) =>
      world.post('/api/send-reaction', { from_number: LINE, ...fields }, as, headers)

    it("shows on the phone, on the person's message and on ours, and goes away again", async () => {
      const { id, record } = await text(ADA, 'React to me')
      const ours = await sent({ content: 'Or to me' })
      const reactionsOf = async (own: string) =>
        (await screen(ADA)).data.find((one: Json) => one.id === own).reactions
      const { status, body } = await react({ message_handle: record.message_handle, reaction: 'love' })
      expect(status).toBe(200)
      expect(body).toEqual({
        status: 'OK',
        message: expect.any(String),
        message_handle: record.message_handle,
        reaction: 'love',
      })
      expect(await reactionsOf(id)).toEqual([
        { by: LINE, reaction: 'love', part_index: 0, at: expect.stringMatching(/Z$/) },
      ])
      await react({ message_handle: ours, reaction: '🎉', part_index: 1 })
      expect((await onPhone(ADA, ours)).reactions).toMatchObject([
        { by: LINE, reaction: '🎉', part_index: 1 },
      ])

      await react({ message_handle: record.message_handle, reaction: 'laugh' })
      expect(await reactionsOf(id)).toMatchObject([{ reaction: 'laugh' }])
      const other = await react({ message_handle: record.message_handle, reaction: '-love' })
      expect([other.status, other.body.reaction]).toEqual([200, '-love'])
      expect(await reactionsOf(id)).toMatchObject([{ reaction: 'laugh' }])
      await react({ message_handle: record.message_handle, reaction: '-laugh' })
      expect(await reactionsOf(id)).toEqual([])
      await react({ message_handle: ours, reaction: '-🎉', part_index: 1 })
      expect((await onPhone(ADA, ours)).reactions).toEqual([])
      expect((await received()).content).toBe('React to me')
    })

    it.each<[string, Json, number, RegExp]>([
      ['no from_number', { from_number: undefined }, 400, /missing required parameter: from_number/],
      ['a from_number that is none', { from_number: 'me' }, 400, /^from_number: /],
      ['no message_handle', { message_handle: undefined }, 400, /missing required parameter: message_handle/],
      ['an empty message_handle', { message_handle: '' }, 400, /^message_handle: /],
      ['no reaction', { reaction: undefined }, 400, /missing required parameter: reaction/],
      ['a number as reaction', { reaction: 5 }, 400, /^reaction: /],
      ['part_index -1', { part_index: -1 }, 400, /^part_index: /],
      ['part_index 1.5', { part_index: 1.5 }, 400, /^part_index: /],
      ['part_index "0"', { part_index: '0' }, 400, /^part_index: /],
      ['part_index 1e9', { part_index: 1e9 }, 400, /^part_index: /],
      [
        'a line that is not registered',
        { from_number: '+12025550177' },
        404,
        /This phone number is not defined/,
      ],
      ['an unknown message', { message_handle: 'nope' }, 404, /message_handle/],
      ['SQL as message', { message_handle: "' or 1=1 --" }, 404, /message_handle/],
      ['a line without reactions', { from_number: SMS_LINE }, 400, /^from_number: /],
    ])('refuses %s', async (_name, fields, status, words) => {
      const message_handle = await sent()
      const reply = await react({ message_handle, reaction: 'love', ...fields })
      expect([reply.status, reply.body.message]).toEqual([status, expect.stringMatching(words)])
      expect(reply.body).toMatchObject({ status: 'ERROR', error_message: reply.body.message })
      expect((await onPhone(ADA, message_handle)).reactions).toEqual([])
    })

    it.each(['Love', 'heart', '', '-', '😀😀', 'a', '--love', 'love '])(
      'refuses %j as INVALID_REACTION',
      async (reaction) => {
        const message_handle = await sent()
        const { status, body } = await react({ message_handle, reaction })
        expect(status).toBe(400)
        expect(body).toEqual({
          status: 'ERROR',
          message: expect.stringMatching(/^reaction: /),
          error_code: 'INVALID_REACTION',
          error_message: body.message,
        })
      },
    )

    it('an SMS target is 422, and so is one that has not been sent', async () => {
      const { record } = await text(BOB, 'By SMS')
      expect((await react({ message_handle: record.message_handle, reaction: 'love' })).status).toBe(422)
      const toBob = await sent({ number: BOB })
      expect((await react({ message_handle: toBob, reaction: 'love' })).status).toBe(422)
      const toCleo = await sent({ number: CLEO })
      expect((await react({ message_handle: toCleo, reaction: 'love' })).status).toBe(422)
      await world.setLine(LINE, { config: { fault: 'refuse', fault_times: 1 } })
      const failed = await sent()
      await world.setLine(LINE, { config: {} })
      expect((await react({ message_handle: failed, reaction: 'love' })).status).toBe(422)
    })

    it("another account's message and line are absent ones", async () => {
      const same = async (ask: (value: string) => Promise<Json>, theirs: string, absent: string) => {
        const plain = async (value: string) => {
          const { status, body } = await ask(value)
          return [status, JSON.stringify(body).replaceAll(value, '<asked>')]
        }
        expect(await plain(theirs)).toEqual(await plain(absent))
      }
      const mine = await sent()
      await same((message_handle) => react({ message_handle, reaction: 'love' }), bHandle, NO_HANDLE)
      await same(
        (from_number) => react({ from_number, message_handle: mine, reaction: 'love' }),
        B_LINE,
        '+12025550159',
      )
      const elsewhere = { from_number: SMS_LINE, number: BOB }
      const otherLine = await sent(elsewhere)
      await same((message_handle) => react({ message_handle, reaction: 'love' }), otherLine, NO_HANDLE)
    })

    it('a repeat does not bring back what was taken away since', async () => {
      const message_handle = await sent()
      for (const headers of [
        { 'idempotency-key': 'love-1' },
        { 'x-stainless-retry-count': '1' },
      ] as Headers[]) {
        const first = 'idempotency-key' in headers ? headers : undefined
        await react({ message_handle, reaction: 'love' }, 'live', first)
        await react({ message_handle, reaction: '-love' })
        const repeat = await react({ message_handle, reaction: 'love' }, 'live', headers)
        expect([repeat.status, repeat.headers['x-idempotent-replay']]).toEqual([200, 'true'])
        expect((await onPhone(ADA, message_handle)).reactions).toEqual([])
      }
      const clash = await react({ message_handle, reaction: 'like' }, 'live', { 'idempotency-key': 'love-1' })
      expect(clash.status).toBe(422)
    })

    it('two at once leave one', async () => {
      const message_handle = await sent()
      const replies = await Promise.all(
        ['love', 'like', 'love'].map((reaction) => react({ message_handle, reaction })),
      )
      expect(replies.map(({ status }) => status)).toEqual([200, 200, 200])
      expect((await onPhone(ADA, message_handle)).reactions).toHaveLength(1)
    })
  })

  describe('reactions of a person', () => {
    const tap = (
      phone: string,
      id: string,
      reaction: unknown,
      as: Who = 'live',
      headers?: Record<string, string>,
    ) => world.post(`/sim/phones/${phone}/messages/${id}/reactions`, { reaction }, as, headers)

    it('arrive as ordinary texts and as structured events', async () => {
      const handle = await sent({ content: 'Dinner at 8?' })
      const { id } = await onPhone(ADA, handle)
      const cases = [
        ['love', 'Loved “Dinner at 8?”'],
        ['like', 'Liked “Dinner at 8?”'],
        ['dislike', 'Disliked “Dinner at 8?”'],
        ['laugh', 'Laughed at “Dinner at 8?”'],
        ['emphasize', 'Emphasized “Dinner at 8?”'],
        ['question', 'Questioned “Dinner at 8?”'],
        ['😀', 'Reacted 😀 to “Dinner at 8?”'],
        ['-😀', 'Removed 😀 from “Dinner at 8?”'],
        ['-love', 'Removed a heart from “Dinner at 8?”'],
      ] as const
      for (const [reaction, words] of cases) {
        const before = (await world.events()).length
        expect((await tap(ADA, id, reaction)).status).toBe(201)
        await world.advance(10)
        const record = await received()
        expect(record).toMatchObject({
          content: words,
          message_type: 'message',
          status: 'RECEIVED',
          number: ADA,
        })
        for (const field of ['reaction', 'reply_to', 'thread_originator'])
          expect(record).not.toHaveProperty(field)
        const news = (await world.events()).slice(before)
        expect(news.map(({ type, subject }) => [type, subject])).toEqual([
          ['message.received', record.message_handle],
          ['message.reaction', handle],
        ])
        expect(news[1].data).toEqual({
          contact: ADA,
          reaction: reaction.replace('-', ''),
          removed: reaction.startsWith('-'),
          partIndex: 0,
          handle: record.message_handle,
        })
        const { reactions } = await onPhone(ADA, handle)
        const shown = reaction.startsWith('-') ? [] : [{ by: ADA, reaction }]
        expect(reactions).toMatchObject(shown)
        expect(reactions).toHaveLength(shown.length)
      }
    })

    it('a repeat with the same key is one', async () => {
      const { id } = await onPhone(ADA, await sent({ content: 'Once' }))
      const key = { 'idempotency-key': 'tap' }
      const replies = await Promise.all([1, 2].map(() => tap(ADA, id, 'love', 'live', key)))
      expect(new Set(replies.map(({ body }) => body.id)).size).toBe(1)
    })

    it('nothing but a reaction, on a message of this phone and this account', async () => {
      const handle = await sent({ content: 'Mine' })
      const { id } = await onPhone(ADA, handle)
      expect((await tap(ADA, id, 'heart')).status).toBe(400)
      expect((await tap(BOB, id, 'love')).status).toBe(404)
      const plain = (reply: Json, value: string) => [
        reply.status,
        JSON.stringify(reply.body).replaceAll(value, 'ID'),
      ]
      expect(plain(await tap(ADA, id, 'love', b.live), id)).toEqual(
        plain(await tap(ADA, NO_HANDLE, 'love', b.live), NO_HANDLE),
      )
      expect((await tap(ADA, NO_HANDLE, 'love')).status).toBe(404)
      expect((await onPhone(ADA, handle)).reactions).toEqual([])
    })

    it('a text that only looks like a tapback is no event', async () => {
      const before = (await world.events()).length
      await text(ADA, 'Loved “Dinner at 8?”')
      expect((await world.events()).slice(before).map(({ type }) => type)).toEqual(['message.received'])
    })

    it('what a carrier reports twice is one text and one event, and one state of a card', async () => {
      const handle = await sent({ content: 'Twice' })
      const { id: providerId } = await onPhone(ADA, handle)
      const usable = [...(await world.app.ctx.directory.linesOf((await accountId())!)).values()]
      const { line } = usable.find((one) => one.line.number === LINE)!
      const card = {
        balloonBundleId: 'b',
        extensionBundleId: 'e',
        teamId: 't',
        sessionIdentifier: NO_HANDLE,
        url: 'data:,',
        revision: 0,
      }
      const common = { from: ADA, service: 'iMessage' as const, content: '', sentAt: 0 }
      const tapback = { providerId, partIndex: 0, reaction: 'love', removed: false }
      const before = (await world.events()).length
      for (let i = 0; i < 3; i++) {
        const { receive } = createInboundDoor(world.app.ctx, line)
        await receive({ ...common, providerId: 'TAP-1', extra: { reaction: tapback } })
        await receive({ ...common, providerId: 'CARD-1', extra: { appCard: card } })
      }
      const news = (await world.events()).slice(before)
      expect(news.map(({ type }) => type)).toEqual([
        'message.received',
        'message.reaction',
        'message.received',
      ])
      expect((await world.record(news[2].subject)).app_card.revision).toBe(1)
      await createInboundDoor(world.app.ctx, line).receive({
        ...common,
        providerId: 'CARD-2',
        extra: { appCard: card },
      })
      expect((await world.record((await world.events()).at(-1).subject)).app_card.revision).toBe(2)
    })

    const accountId = async () =>
      (
        await world.app.ctx.db.one<{ id: string }>(
          "select id from accounts where email = 'dev@trunkline.local' and world = 'live'",
        )
      )?.id
  })

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

  describe('in a group', () => {
    it('replies have their thread, and tapbacks go both ways', async () => {
      const people = [ADA, '+12025550106', '+12025550107']
      const say = async (fields: Json) => {
        const body = { from_number: LINE, numbers: people, ...fields }
        const answer = (await world.post('/api/send-group-message', body)).body
        await world.advance(1000)
        return answer
      }
      const root = await say({ content: 'Trip?' })
      const reply = await say({ content: 'Where to?', reply_to: { message_handle: root.message_handle } })
      expect(reply.thread_originator).toEqual({ message_handle: root.message_handle, part: '0' })
      const further = await say({ content: 'Here', reply_to: { message_handle: reply.message_handle } })
      expect((await world.record(further.message_handle)).thread_originator.message_handle).toBe(
        root.message_handle,
      )

      const body = { from_number: LINE, message_handle: root.message_handle, reaction: 'love' }
      expect((await world.post('/api/send-reaction', body)).status).toBe(200)
      const { id } = await onPhone(people[1]!, root.message_handle)
      const before = (await world.events()).length
      await world.post(`/sim/phones/${people[1]}/messages/${id}/reactions`, { reaction: '🎉' })
      await world.advance(1000)
      expect(await received()).toMatchObject({
        content: 'Reacted 🎉 to “Trip?”',
        group_id: root.group_id,
        from_number: people[1],
      })
      const news = (await world.events()).slice(before).find(({ type }) => type === 'message.reaction')
      expect(news).toMatchObject({
        subject: root.message_handle,
        data: { contact: people[1], reaction: '🎉' },
      })
      for (const person of people) {
        const { reactions } = await onPhone(person, root.message_handle)
        expect(reactions.map((one: Json) => [one.by, one.reaction]).sort()).toEqual(
          [
            [LINE, 'love'],
            [people[1], '🎉'],
          ].sort(),
        )
      }
    })
  })
})
