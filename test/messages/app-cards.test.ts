import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { IMAGES, type Pictures, servePictures } from '../support/images.js'
import { ADA, BOB, createWorld, ENGINES, type Json, LINE, type Who, type World } from '../support/world.js'

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i
const SMS_LINE = '+12025550160'
const B_LINE = '+12025550150'
const FREE_LINE = '+12025550151'
const SESSION = '6F9619FF-8B86-D011-B42D-00C04FC964FF'

const CARD = {
  appName: 'Chess',
  extensionBundleId: 'com.example.chess.messages',
  teamId: 'A1B2C3D4E5',
  layout: {
    caption: 'Your move',
    subcaption: 'White',
    trailingCaption: '1',
    trailingSubcaption: '2',
    summary: 'Chess',
  },
  url: 'https://chess.example.com/game?id=1',
}

describe.each(ENGINES)('App Cards on %s', (engine) => {
  let world: World
  let files: Pictures
  let b: Awaited<ReturnType<World['addAccount']>>
  beforeAll(async () => {
    world = await createWorld(engine)
    files = await servePictures()
    for (const [kind, body] of Object.entries(IMAGES)) files.set(kind, { body })
    b = await world.addAccount('b@example.com', B_LINE)
    const { id: account_id } = (await world.get('/admin/accounts', 'admin')).body.data.find(
      (one: Json) => one.email === 'dev@trunkline.local',
    )
    await world.post('/admin/lines', { account_id, number: SMS_LINE, config: { services: ['SMS'] } }, 'admin')
    await world.settle()
  })
  afterAll(async () => {
    await world.close()
    await files.close()
  })

  const send = (card: Json = {}, fields: Json = {}, as: Who = 'live', headers?: Record<string, string>) =>
    world.post(
      '/api/send-message',
      { from_number: LINE, number: ADA, app_card: { ...CARD, ...card }, ...fields },
      as,
      headers,
    )
  const update = (handle: string, body: Json = {}, as: Who = 'live', headers?: Record<string, string>) =>
    world.post(`/api/messages/${handle}/update-app-card`, body, as, headers)
  const shownOn = async (phone: string, handle: string) =>
    (await world.inbox(phone)).find((one) => one.message_handle === handle)
  const total = async () => (await world.get('/api/v2/messages?limit=1')).body.pagination.total

  describe('sending', () => {
    it('needs no content, and the card reaches the phone', async () => {
      const { status, body } = await send({
        appStoreId: 284882215,
        fallbackText: 'A game',
        interactive: false,
      })
      expect(status).toBe(202)
      expect(body).toMatchObject({ status: 'QUEUED', content: '', media_url: '', message_type: 'message' })
      expect(body.app_card).toEqual({
        ...CARD,
        appStoreId: 284882215,
        fallbackText: 'A game',
        interactive: false,
        sessionIdentifier: expect.stringMatching(UUID),
      })
      await world.advance(1000)
      const record = await world.record(body.message_handle)
      expect(record).toMatchObject({ status: 'DELIVERED', service: 'iMessage', app_card: body.app_card })
      expect((await world.status(body.message_handle)).app_card).toEqual(body.app_card)
      const { data } = (await world.get('/api/v2/messages?limit=1')).body
      expect(data[0].app_card).toEqual(body.app_card)
      expect(await shownOn(ADA, body.message_handle)).toMatchObject({
        app_card: body.app_card,
        session: body.app_card.sessionIdentifier,
        replaces: null,
        content: '',
      })
    })

    it('may have a text, a style and an own session', async () => {
      const { body } = await send({ sessionIdentifier: SESSION }, { content: 'Look', send_style: 'slam' })
      expect(body).toMatchObject({ content: 'Look', send_style: 'slam' })
      expect(body.app_card.sessionIdentifier).toBe(SESSION)
    })

    it('a message without one has no app_card', async () => {
      expect(await world.send()).not.toHaveProperty('app_card')
    })

    it('reply_to beside it makes it an inline reply', async () => {
      const { message_handle } = await world.send()
      await world.advance(1000)
      const { body } = await send({}, { reply_to: { message_handle } })
      expect(body).toMatchObject({ reply_to: { message_handle }, thread_originator: { message_handle } })
    })

    it('reply_to inside it does, too, unless there is one beside it', async () => {
      const { message_handle } = await world.send()
      const other = (await world.send()).message_handle
      await world.advance(1000)
      const { body } = await send({ reply_to: { message_handle, part_index: null } })
      expect(body).toMatchObject({ reply_to: { message_handle }, thread_originator: { message_handle } })
      expect(body.app_card).not.toHaveProperty('reply_to')
      await world.advance(1000)
      const [first, answer] = [await shownOn(ADA, message_handle), await shownOn(ADA, body.message_handle)]
      expect([typeof first.id, answer.reply_to]).toEqual(['string', first.id])
      const both = await send({ reply_to: { message_handle: other } }, { reply_to: { message_handle } })
      expect(both.body.reply_to).toEqual({ message_handle })
      expect((await send({ reply_to: null })).body).not.toHaveProperty('thread_originator')
      for (const wrong of [{}, { message_handle: 'nothing' }, 'x']) {
        const refused = await send({ reply_to: wrong })
        expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('reply_to')])
      }
    })

    it('fields nobody knows are dropped, and nulls are absent fields', async () => {
      const { status, body } = await send({
        appStoreId: null,
        sessionIdentifier: null,
        evil: 1,
        layout: { caption: 'x', imageUrl: null, imageTitle: null, other: 2 },
      })
      expect(status).toBe(202)
      expect(body.app_card).toEqual({
        ...CARD,
        layout: { caption: 'x' },
        sessionIdentifier: expect.stringMatching(UUID),
      })
    })

    it.each<[string, Json]>([
      ['an https URL of 2048 characters', { url: `https://example.com/${'a'.repeat(2028)}` }],
      ['a data URL of 16384 characters', { url: `data:,${'a'.repeat(16_378)}` }],
      ['a data URL in base64', { url: 'data:application/json;base64,e30=' }],
      ['an empty layout', { layout: {} }],
    ])('takes %s', async (_name, card) => {
      const { status, body } = await send(card)
      expect(status).toBe(202)
      expect(body.app_card).toMatchObject(card)
      expect((await world.record(body.message_handle)).app_card).toMatchObject(card)
    })

    it.each<[string, Json, RegExp]>([
      ...['appName', 'extensionBundleId', 'teamId', 'layout', 'url'].flatMap(
        (field): [string, Json, RegExp][] => [
          [
            `no ${field}`,
            { [field]: undefined },
            new RegExp(`missing required parameter: app_card.${field}`),
          ],
          [
            `null as ${field}`,
            { [field]: null },
            new RegExp(`missing required parameter: app_card.${field}`),
          ],
          [`a number as ${field}`, { [field]: 5 }, new RegExp(`^app_card.${field}: `)],
          [`an empty ${field}`, { [field]: '' }, new RegExp(`^app_card.${field}: `)],
        ],
      ),
      [
        'an https URL of 2049 characters',
        { url: `https://example.com/${'a'.repeat(2029)}` },
        /^app_card.url: .*2048/,
      ],
      ['a data URL of 16385 characters', { url: `data:,${'a'.repeat(16_379)}` }, /^app_card.url: .*16384/],
      ['a data URL without a comma', { url: 'data:abc' }, /^app_card.url: /],
      ['an http URL', { url: 'http://example.com/' }, /^app_card.url: .*https/],
      ['a javascript URL', { url: 'javascript:alert(1)' }, /^app_card.url: /],
      ['a relative URL', { url: '/game' }, /^app_card.url: /],
      ['a URL with a space', { url: 'https://example.com/a b' }, /^app_card.url: /],
      [
        'imageTitle without imageUrl',
        { layout: { imageTitle: 'x' } },
        /^app_card.layout.imageTitle: .*imageUrl/,
      ],
      [
        'imageSubtitle without imageUrl',
        { layout: { imageSubtitle: 'x' } },
        /^app_card.layout.imageSubtitle: /,
      ],
      ['a number as caption', { layout: { caption: 5 } }, /^app_card.layout.caption: /],
      ['a list as layout', { layout: [] }, /^app_card.layout: /],
      ['a text as appStoreId', { appStoreId: '284882215' }, /^app_card.appStoreId: /],
      ['a fraction as appStoreId', { appStoreId: 1.5 }, /^app_card.appStoreId: /],
      ['a text as interactive', { interactive: 'true' }, /^app_card.interactive: /],
      ['a session that is no UUID', { sessionIdentifier: 'mine' }, /^app_card.sessionIdentifier: /],
      ['an empty session', { sessionIdentifier: '' }, /^app_card.sessionIdentifier: /],
      [
        'an image over http',
        { layout: { imageUrl: 'http://example.com/a.png' } },
        /^app_card.layout.imageUrl: .*https/,
      ],
      [
        'an image at a private address',
        { layout: { imageUrl: 'https://10.0.0.1/a.png' } },
        /^app_card.layout.imageUrl: .*private/,
      ],
      [
        'an image as data',
        { layout: { imageUrl: 'data:image/png;base64,AAAA' } },
        /^app_card.layout.imageUrl: /,
      ],
    ])('refuses %s', async (_name, card, text) => {
      const before = await total()
      const { status, body } = await send(card)
      expect([status, body.message]).toEqual([400, expect.stringMatching(text)])
      expect(body).toMatchObject({ status: 'ERROR', error_code: 4000, error_message: body.message })
      expect(await total()).toBe(before)
    })

    it('refuses other media beside it, and what is no card', async () => {
      const media = await send({}, { media_url: 'https://example.com/a.jpg' })
      expect([media.status, media.body.message]).toEqual([
        400,
        expect.stringMatching(/^media_url: .*App Card/),
      ])
      for (const app_card of ['x', 5, [], true]) {
        const reply = await world.post('/api/send-message', { from_number: LINE, number: ADA, app_card })
        expect([reply.status, reply.body.message]).toEqual([400, 'app_card: must be object'])
      }
    })

    it('needs a V2 Mac line', async () => {
      const { status, body } = await send({}, { from_number: SMS_LINE })
      expect([status, body.message]).toEqual([400, expect.stringMatching(/^app_card: .*V2 Mac line/)])
    })

    it('needs a recipient on iMessage and never falls back to SMS', async () => {
      const { body } = await send({}, { number: BOB, content: 'Look' })
      await world.advance(1000)
      expect(await world.record(body.message_handle)).toMatchObject({
        status: 'ERROR',
        error_reason: 'not_imessage',
        app_card: CARD,
      })
      expect(await shownOn(BOB, body.message_handle)).toBeUndefined()
    })

    it('is unavailable on the free plan', async () => {
      const account = (
        await world.post('/admin/accounts', { email: 'free@example.com', plan: 'free' }, 'admin')
      ).body
      expect(account.plan).toBe('free')
      const key = (await world.post('/admin/keys', { account_id: account.id }, 'admin')).body
      await world.post('/admin/lines', { account_id: account.id, number: FREE_LINE }, 'admin')
      const { status, body } = await send({}, { from_number: FREE_LINE }, key)
      expect([status, body.message]).toEqual([403, expect.stringMatching(/free plan/)])
    })

    it('a retry of the published client is recognised although each card gets a session', async () => {
      const url = 'https://chess.example.com/retry'
      const first = await send({ url })
      const retry = await send({ url }, {}, 'live', { 'x-stainless-retry-count': '1' })
      expect(retry.body).toMatchObject({
        message_handle: first.body.message_handle,
        app_card: first.body.app_card,
      })
      const own = await send({ url, sessionIdentifier: SESSION }, {}, 'live', {
        'x-stainless-retry-count': '1',
      })
      expect(own.body.message_handle).not.toBe(first.body.message_handle)
      const again = await send({ url })
      expect(again.body.app_card.sessionIdentifier).not.toBe(first.body.app_card.sessionIdentifier)
    })

    it('two at once with one Idempotency-Key are one', async () => {
      const headers = { 'idempotency-key': 'card-1' }
      const replies = await Promise.all([1, 2, 3].map(() => send({}, {}, 'live', headers)))
      expect(new Set(replies.map(({ body }) => body.message_handle)).size).toBe(1)
    })
  })

  describe('the preview image', () => {
    it.each(['jpeg', 'png', 'heic', 'heif', 'webp'] as const)('may be %s', async (kind) => {
      const layout = { imageUrl: files.url(kind), imageTitle: 'Title', imageSubtitle: 'Subtitle' }
      const { status, body } = await send({ layout })
      expect(status).toBe(202)
      expect(body.app_card.layout).toEqual(layout)
      expect(files.asked).toContain(kind)
      await world.advance(1000)
      expect((await shownOn(ADA, body.message_handle)).app_card.layout).toEqual(layout)
    })

    it.each<[string, (files: Pictures) => void, RegExp]>([
      ['missing', (f) => f.set('bad', undefined), /answered 404/],
      ['a GIF', (f) => f.set('bad', { body: IMAGES.gif, type: 'image/png' }), /image/],
      [
        'HTML that says JPEG',
        (f) => f.set('bad', { body: '<html></html>'.repeat(9), type: 'image/jpeg' }),
        /image/,
      ],
      [
        'SVG',
        (f) => f.set('bad', { body: '<svg xmlns="http://www.w3.org/2000/svg"/>', type: 'image/svg+xml' }),
        /image/,
      ],
      ['empty', (f) => f.set('bad', { body: '' }), /image/],
      [
        'larger than 10 MB',
        (f) => f.set('bad', { body: Buffer.concat([IMAGES.png, Buffer.alloc(10_000_001)]) }),
        /larger than 10 MB/,
      ],
      [
        'a redirect into a private network',
        (f) => f.set('bad', { body: '', redirect: 'https://10.0.0.1/a.png' }),
        /private/,
      ],
    ])('is refused when it is %s', async (_name, put, text) => {
      put(files)
      const before = await total()
      const { status, body } = await send({ layout: { imageUrl: files.url('bad') } })
      expect([status, body.message]).toEqual([400, expect.stringMatching(/^app_card\.layout\.imageUrl: /)])
      expect(body.message).toMatch(text)
      expect(await total()).toBe(before)
    })

    it('a repeat gets the first answer although the image is gone', async () => {
      files.set('fleeting', { body: IMAGES.png })
      const card = { layout: { imageUrl: files.url('fleeting') }, url: 'https://chess.example.com/fleeting' }
      const key = { 'idempotency-key': 'fleeting' }
      const first = await send(card, {}, 'live', key)
      expect(first.status).toBe(202)
      files.set('fleeting', undefined)
      for (const headers of [key, { 'x-stainless-retry-count': '1' }]) {
        const repeat = await send(card, {}, 'live', headers)
        expect([repeat.status, repeat.body.message_handle]).toEqual([202, first.body.message_handle])
      }
      expect((await send(card)).status).toBe(400)
    })
  })

  describe('continuing', () => {
    it('sends a message of its own in the same session, which replaces the card on the phone', async () => {
      const question = await world.send({ content: 'Play?' })
      await world.advance(1000)
      const original = (
        await send(
          { fallbackText: 'A game', interactive: true, appStoreId: 7 },
          {
            reply_to: { message_handle: question.message_handle },
            status_callback: 'https://example.com/hook',
          },
        )
      ).body
      await world.advance(1000)
      const { status, body } = await update(original.message_handle, {
        url: 'data:,move=e4',
        layout: { caption: 'My move' },
        fallback_text: 'Moved',
        interactive: false,
        send_style: 'gentle',
      })
      expect(status).toBe(202)
      expect(body.message_handle).not.toBe(original.message_handle)
      expect(body).toMatchObject({
        status: 'QUEUED',
        from_number: LINE,
        number: ADA,
        send_style: 'gentle',
        reply_to: { message_handle: question.message_handle },
        thread_originator: { message_handle: question.message_handle },
      })
      expect(body.app_card).toEqual({
        ...original.app_card,
        url: 'data:,move=e4',
        layout: { caption: 'My move' },
        fallbackText: 'Moved',
        interactive: false,
        updateMessageHandle: original.message_handle,
      })
      await world.advance(1000)
      expect(await world.record(body.message_handle)).toMatchObject({
        status: 'DELIVERED',
        app_card: body.app_card,
      })
      expect((await world.record(original.message_handle)).app_card).toEqual(original.app_card)
      const before = await shownOn(ADA, original.message_handle)
      const after = await shownOn(ADA, body.message_handle)
      expect(after).toMatchObject({ session: before.session, replaces: before.id, send_style: 'gentle' })

      const next = (await update(body.message_handle, { url: 'data:,move=e5' })).body
      expect(next.app_card).toEqual({ ...body.app_card, url: 'data:,move=e5' })
      await world.advance(1000)
      expect(await shownOn(ADA, next.message_handle)).toMatchObject({ replaces: after.id })
    })

    it('an empty update sends the same state again', async () => {
      const original = (await send()).body
      const { status, body } = await update(original.message_handle, {})
      expect(status).toBe(202)
      expect(body.app_card).toEqual({ ...original.app_card, updateMessageHandle: original.message_handle })
    })

    it('the same idempotency_key for the same card returns the first result, whatever else it says', async () => {
      const original = (await send()).body
      const other = (await send()).body
      const key = { idempotency_key: 'move 1 ♟' }
      const [a, c] = await Promise.all([
        update(original.message_handle, { url: 'data:,1', ...key }),
        update(original.message_handle, { url: 'data:,1', ...key }),
      ])
      const d = await update(original.message_handle, { url: 'data:,2', ...key })
      expect(new Set([a, c, d].map(({ body }) => body.message_handle)).size).toBe(1)
      expect([d.status, d.body.app_card.url, d.headers['x-idempotent-replay']]).toEqual([
        202,
        'data:,1',
        'true',
      ])
      const elsewhere = await update(other.message_handle, { url: 'data:,1', ...key })
      expect(elsewhere.body.message_handle).not.toBe(a.body.message_handle)
      const without = await update(original.message_handle, { url: 'data:,1' })
      expect(without.body.message_handle).not.toBe(a.body.message_handle)
      await world.advance(1000)
      const session = original.app_card.sessionIdentifier
      expect((await world.inbox(ADA)).filter((one) => one.session === session)).toHaveLength(3)
    })

    it('retries of the published client and the Idempotency-Key header make one', async () => {
      const original = (await send()).body
      const first = await update(original.message_handle, { url: 'data:,r' })
      const retry = await update(original.message_handle, { url: 'data:,r' }, 'live', {
        'x-stainless-retry-count': '1',
      })
      expect(retry.body.message_handle).toBe(first.body.message_handle)
      const header = { 'idempotency-key': 'k' }
      const one = await update(original.message_handle, { url: 'data:,k' }, 'live', header)
      const two = await update(original.message_handle, { url: 'data:,k' }, 'live', header)
      expect(two.body.message_handle).toBe(one.body.message_handle)
      expect((await update(original.message_handle, { url: 'data:,l' }, 'live', header)).status).toBe(422)
    })

    it('unknown, foreign, deleted and other messages are absent', async () => {
      const text = await world.send()
      const theirs = (await send({}, { from_number: B_LINE }, b.live)).body
      const testCard = (await send({}, {}, 'test')).body
      await world.text(ADA, 'Hi')
      const card = (await send()).body
      await world.advance(1000)
      const { id } = await shownOn(ADA, card.message_handle)
      await world.post(`/sim/phones/${ADA}/cards`, { card: id, url: 'data:,x' })
      await world.settle()
      const inbound = (await world.get('/api/v2/messages?is_outbound=false')).body.data
      expect(inbound[0].app_card).toMatchObject({ url: 'data:,x', revision: 1 })
      const absent = await update('nope')
      expect(absent.status).toBe(404)
      expect(absent.body).toMatchObject({ status: 'ERROR', message: expect.any(String) })
      const handles = [text, theirs, testCard, ...inbound].map((one) => one.message_handle)
      for (const handle of [...handles, '%2B', 'x'.repeat(500), "' or 1=1 --"]) {
        const { status, body } = await update(encodeURI(handle))
        expect([handle, status, body]).toEqual([handle, 404, absent.body])
      }
    })

    it.each<[string, Json, RegExp]>([
      ['a bad URL', { url: 'http://example.com' }, /^url: /],
      ['an empty URL', { url: '' }, /^url: /],
      ['a list as layout', { layout: [] }, /^layout: /],
      ['imageTitle without imageUrl', { layout: { imageTitle: 'x' } }, /^layout.imageTitle: /],
      ['an image that is none', { layout: { imageUrl: 'https://10.0.0.1/' } }, /^layout.imageUrl: /],
      ['an unknown style', { send_style: 'sparkle' }, /^send_style: /],
      ['an empty key', { idempotency_key: '' }, /^idempotency_key: /],
      ['a key of 256 characters', { idempotency_key: 'x'.repeat(256) }, /^idempotency_key: /],
      ['a text as interactive', { interactive: 'no' }, /^interactive: /],
    ])('refuses %s', async (_name, changes, text) => {
      const original = (await send()).body
      const { status, body } = await update(original.message_handle, changes)
      expect([status, body.message]).toEqual([400, expect.stringMatching(text)])
      expect(body).toMatchObject({ status: 'ERROR', error_code: 4000 })
    })
  })

  describe('from a contact', () => {
    const answer = (body: Json, headers?: Record<string, string>) =>
      world.post(`/sim/phones/${ADA}/cards`, body, 'live', headers)
    const latest = async () => (await world.get('/api/v2/messages?is_outbound=false&limit=1')).body.data[0]

    it('an answer arrives with its session and a revision that counts up and is stable for retries', async () => {
      const card = (await send()).body
      await world.advance(1000)
      const { id } = await shownOn(ADA, card.message_handle)
      const headers = { 'idempotency-key': 'answer' }
      expect((await answer({ card: id, url: 'data:,e5' }, headers)).status).toBe(201)
      await answer({ card: id, url: 'data:,e5' }, headers)
      await world.settle()
      const first = await latest()
      expect(first).toMatchObject({
        content: '',
        is_outbound: false,
        status: 'RECEIVED',
        service: 'iMessage',
      })
      expect(first.app_card).toEqual({
        balloonBundleId: `com.apple.messages.MSMessageExtensionBalloonPlugin:${CARD.teamId}:${CARD.extensionBundleId}`,
        extensionBundleId: CARD.extensionBundleId,
        teamId: CARD.teamId,
        sessionIdentifier: card.app_card.sessionIdentifier,
        url: 'data:,e5',
        revision: 1,
      })
      await answer({ card: id, url: 'data:,Nf3' })
      await world.settle()
      expect((await latest()).app_card).toMatchObject({ url: 'data:,Nf3', revision: 2 })
      const screen = (await world.get(`/sim/phones/${ADA}/inbox?limit=1000`)).body.data
      const mine = screen.filter((one: Json) => one.session === card.app_card.sessionIdentifier)
      expect(mine.map((one: Json) => [one.direction, one.replaces])).toEqual([
        ['in', null],
        ['out', mine[0].id],
        ['out', mine[1].id],
      ])
      const status = await world.status(first.message_handle)
      expect(status.app_card).toEqual(first.app_card)
    })

    it('starts sessions of its own, each counted by itself', async () => {
      const start = { to: LINE, url: 'https://example.com/', extensionBundleId: 'com.example.x', teamId: 'T' }
      for (const sessionIdentifier of [undefined, undefined, SESSION, SESSION.toLowerCase()]) {
        expect((await answer({ ...start, sessionIdentifier })).status).toBe(201)
        await world.advance(10)
      }
      const { data } = (await world.get('/api/v2/messages?is_outbound=false&limit=4')).body
      expect(data.map((one: Json) => one.app_card.revision).reverse()).toEqual([1, 1, 1, 2])
    })

    it('needs a card or all of the rest, and iMessage', async () => {
      for (const [body, status] of [
        [{ url: 'data:,' }, 400],
        [{ to: LINE, url: 'data:,' }, 400],
        [{ card: 'nope', url: 'data:,' }, 404],
        [{}, 400],
      ])
        expect([body, (await answer(body)).status]).toEqual([body, status])
      const sms = { to: LINE, url: 'data:,', extensionBundleId: 'x', teamId: 'T' }
      expect((await world.post(`/sim/phones/${BOB}/cards`, sms)).status).toBe(400)
      const theirs = (await send({}, { from_number: B_LINE }, b.live)).body
      await world.advance(1000)
      const { id } = (await world.inbox(ADA, b.live)).find(
        (one) => one.message_handle === theirs.message_handle,
      )
      const [foreign, absent] = [
        await answer({ card: id, url: 'data:,' }),
        await answer({ card: 'ID', url: 'data:,' }),
      ]
      expect([foreign.status, JSON.stringify(foreign.body).replaceAll(id, 'ID')]).toEqual([
        absent.status,
        JSON.stringify(absent.body),
      ])
    })
  })
})
