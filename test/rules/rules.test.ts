import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADA, BOB, createWorld, ENGINES, type Json, LINE, SHARED_LINE, type World } from '../support/world.js'

/** The interface's own sentences, each shown once. Longer stories about the same things are in their own files. */
describe.each(ENGINES)('the interface on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  afterAll(() => world.close())

  const list = async (query: string) => {
    await world.advance(10_000)
    return (await world.get(`/api/v2/messages?${query}`)).body
  }
  const send = (fields: Json) =>
    world.post('/api/send-message', { from_number: LINE, number: ADA, content: 'Hello', ...fields })
  const images = (n: number) => Array.from({ length: n }, (_, i) => `https://example.com/${i}.jpg`)
  const carousel = (fields: Json) =>
    world.post('/api/send-carousel', { from_number: LINE, number: ADA, ...fields })
  const card = (fields: Json) =>
    send({
      content: undefined,
      app_card: {
        appName: 'Chess',
        extensionBundleId: 'com.example.chess.extension',
        teamId: 'ABCDE12345',
        layout: { caption: 'Your move' },
        url: 'https://example.com/game',
        ...fields,
      },
    })
  const as = (token: string) => ({ as: null, headers: { authorization: `Bearer ${token}` } }) as const

  describe('rules of messages', () => {
    it('is_outbound=false combined with sendblue_number or to_number lists inbound messages', async () => {
      await world.text(BOB, 'Anybody there?')
      await send({ number: BOB, content: 'Yes' })
      await world.settle()
      for (const filter of ['sendblue_number', 'to_number']) {
        const { data } = await list(`is_outbound=false&${filter}=${encodeURIComponent(LINE)}`)
        expect(data.map((message: Json) => message.content)).toEqual(['Anybody there?'])
      }
    })

    it('message_type accepts only message or group; it does not filter direction', async () => {
      const { data } = await list('message_type=message')
      expect(new Set(data.map((message: Json) => message.is_outbound))).toEqual(new Set([true, false]))
      const total = async (query: string) => (await list(query)).pagination.total
      const before = await total('message_type=message')
      expect((await carousel({ media_urls: images(2) })).status).toBe(202)
      expect(await total('message_type=message'), 'a carousel to one person is no group chat').toBe(
        before + 1,
      )
      expect(await total('message_type=group')).toBe((await total('')) - before - 1)
      for (const unknown of ['inbound', 'carousel', 'location', 'MESSAGE'])
        expect(await total(`message_type=${unknown}`), unknown).toBe(await total(''))
    })

    it('Send requires from_number; without it the send fails', async () => {
      const { status, body } = await send({ from_number: undefined })
      expect(status).toBe(400)
      expect(body.message).toMatch(/missing required parameter.*from_number/)
    })

    it('A single image is sent through send-message with media_url, not carousel', async () => {
      const one = await carousel({ media_urls: images(1) })
      expect(one.status).toBe(400)
      expect(one.body.message).toContain('send-message')
      expect((await send({ content: '', media_url: images(1)[0] })).status).toBe(202)
    })

    it('The status endpoint resolves pending statuses and avoids duplicate sends', async () => {
      const other = await createWorld(engine, {
        line: { config: { fault: 'accept-then-drop', fault_times: 1 } },
      })
      try {
        const { message_handle: handle } = await other.send()
        await other.settle()
        expect((await other.record(handle)).status).toBe('PENDING')
        expect((await other.status(handle)).status).toBe('SENT')
        await other.advance(60_000)
        expect(await other.inbox(ADA)).toHaveLength(1)
      } finally {
        await other.close()
      }
    })
  })

  describe('rules of app cards', () => {
    it('imageSubtitle requires imageUrl', async () => {
      const { status, body } = await card({ layout: { caption: 'x', imageSubtitle: 'y' } })
      expect(status).toBe(400)
      expect(body.message).toMatch(/imageSubtitle.*imageUrl/)
    })

    it('App Cards need a V2 Mac line and an iMessage-capable recipient and never fall back to SMS', async () => {
      const sent = (await card({})).body
      expect(sent).toMatchObject({ status: 'QUEUED', app_card: { appName: 'Chess' } })
      const toSms = await world.post('/api/send-message', {
        from_number: LINE,
        number: BOB,
        app_card: {
          appName: 'A',
          extensionBundleId: 'b',
          teamId: 'c',
          layout: { caption: 'd' },
          url: 'https://example.com',
        },
      })
      await world.advance(5000)
      if (toSms.status === 202) {
        expect((await world.status(toSms.body.message_handle)).status).toBe('ERROR')
        expect((await world.inbox(BOB)).some((message: Json) => message.app_card)).toBe(false)
      } else expect(toSms.status).toBe(400)
    })
  })

  describe('rules of one-time codes', () => {
    const create = (body: Json) => world.post('/api/v2/totp/secrets', body)

    it('provide either uri, which overrides all other fields and fills them in, or a secret', async () => {
      const uri =
        'otpauth://totp/Acme:ann?secret=JBSWY3DPEHPK3PXP&issuer=Acme&algorithm=SHA256&digits=8&period=60'
      const { body } = await create({ uri, label: 'other', digits: 6, secret: 'GEZDGNBVGY3TQOJQ' })
      expect(body.totp_secret).toMatchObject({
        issuer: 'Acme',
        algorithm: 'SHA256',
        digits: 8,
        period: 60,
        secret: 'JBSWY3DPEHPK3PXP',
      })
      expect((await create({ label: 'given', secret: 'GEZDGNBVGY3TQOJQ' })).body.totp_secret.secret).toBe(
        'GEZDGNBVGY3TQOJQ',
      )
    })

    it('label is required unless uri is provided', async () => {
      expect((await create({})).status).toBe(400)
    })

    it('Secrets are stored encrypted, and returned only on creation', async () => {
      const { body } = await create({ label: 'canary' })
      const { id, secret } = body.totp_secret
      const rows = await world.app.ctx.db.all('select * from totp_secrets')
      expect(rows.length).toBeGreaterThan(0)
      expect(JSON.stringify(rows)).not.toContain(secret)
      const listed = (await world.get('/api/v2/totp/secrets')).body.totp_secrets
      expect(listed.find((one: Json) => one.id === id)).not.toHaveProperty('secret')
    })
  })

  describe('rules of call forwarding', () => {
    const path = `/api/lines/${encodeURIComponent(LINE)}/call-forwarding`

    it('forwarding_number is E.164 or US local format, normalised to E.164 before storage', async () => {
      const put = await world.call('PUT', path, { body: { forwarding_number: '(415) 555-2671' } })
      expect(put).toMatchObject({
        status: 200,
        body: { forwarding_number: '+14155552671', sendblue_number: LINE },
      })
      expect((await world.get(path)).body.forwarding_number).toBe('+14155552671')
    })

    it('delete is idempotent: a line with nothing set returns 200 with forwarding_number null', async () => {
      for (let i = 0; i < 2; i++) {
        const { status, body } = await world.call('DELETE', path)
        expect(status).toBe(200)
        expect(body.forwarding_number).toBeNull()
      }
    })

    it('the endpoints apply to dedicated lines', async () => {
      const shared = `/api/lines/${encodeURIComponent(SHARED_LINE)}/call-forwarding`
      const { status, body } = await world.call('PUT', shared, {
        body: { forwarding_number: '+14155552671' },
      })
      expect([status, body.message]).toEqual([
        400,
        'sendblue_number: this is a shared line; only dedicated lines forward calls',
      ])
    })
  })

  describe('rules of temporary tokens', () => {
    const mint = (body: Json, who?: 'test') => world.post('/v3/auth/tokens', body, who)

    it('phone_number and phone_numbers cannot be combined', async () => {
      expect((await mint({ phone_number: LINE, phone_numbers: [LINE] })).status).toBe(400)
    })

    it('with a phone selector the token is scoped to those numbers; without one it is account-scoped', async () => {
      expect((await mint({ phone_number: LINE })).body.phone_numbers).toEqual([LINE])
      expect((await mint({})).body.phone_numbers).toEqual([])
    })

    it('must be called with live account API keys; temporary tokens and test keys cannot mint or revoke', async () => {
      expect((await mint({}, 'test')).status).toBe(403)
      const { token, token_id } = (await mint({})).body
      expect((await world.call('POST', '/v3/auth/tokens', { ...as(token), body: {} })).status).toBe(403)
      expect((await world.call('DELETE', `/v3/auth/tokens/${token_id}`, as(token))).status).toBe(403)
      expect((await world.call('DELETE', `/v3/auth/tokens/${token_id}`, { as: 'test' })).status).toBe(403)
      expect((await world.call('DELETE', `/v3/auth/tokens/${token_id}`)).status).toBe(204)
    })

    it('The plaintext token is returned only once', async () => {
      const headers = { 'idempotency-key': 'token-once' }
      const first = await world.post('/v3/auth/tokens', {}, undefined, headers)
      const again = await world.post('/v3/auth/tokens', {}, undefined, headers)
      expect(again.body.token_id).toBe(first.body.token_id)
      expect(JSON.stringify(again.body)).not.toContain(first.body.token)
    })
  })

  describe('rules of webhooks', () => {
    const path = '/api/account/webhooks'
    const url = 'https://example.com/hook'
    const webhooks = async () => (await world.get(path)).body.webhooks

    it('POST appends to the existing list, by default of the type receive', async () => {
      await world.post(path, { webhooks: [url] })
      const { body } = await world.post(path, { webhooks: [{ url: `${url}/2`, secret: 's' }] })
      expect(body).toMatchObject({ status: 'OK', message: expect.stringContaining('added') })
      expect(body.webhooks.receive).toEqual([url, { url: `${url}/2`, secret: 's' }])
    })

    it('PUT replaces the whole configuration; types omitted are removed', async () => {
      await world.call('PUT', path, { body: { webhooks: { outbound: [url], globalSecret: 'g' } } })
      expect(await webhooks()).toMatchObject({ outbound: [url], receive: [], globalSecret: 'g' })
    })

    it('DELETE removes entries of a type', async () => {
      await world.call('DELETE', path, { body: { webhooks: [url], type: 'outbound' } })
      expect(await webhooks()).toMatchObject({ outbound: [], globalSecret: 'g' })
    })

    it('a secret per entry, as globalSecret, or as a legacy root-level field', async () => {
      const given = { receive: [{ url, secret: 'own' }], globalSecret: 'g', secret: 'root' }
      await world.call('PUT', path, { body: { webhooks: given } })
      expect(await webhooks()).toMatchObject(given)
    })

    it('Webhook URLs must be valid HTTPS URLs', async () => {
      for (const wrong of ['http://example.com/hook', 'example.com', ''])
        expect((await world.post(path, { webhooks: [wrong] })).status).toBe(400)
    })
  })

  describe('errors', () => {
    it('400 Missing or invalid webhooks array', async () => {
      expect(await world.post('/api/account/webhooks', {})).toMatchObject({
        status: 400,
        body: { status: 'ERROR', message: 'Missing or invalid webhooks array' },
      })
    })

    it('401 when authentication failed: Unauthorized', async () => {
      expect(await world.get('/api/v2/messages', null)).toMatchObject({
        status: 401,
        body: { status: 'ERROR', message: 'Unauthorized' },
      })
      const v3 = await world.get('/v3/verified-contacts', { id: 'dev-live-key', secret: 'wrong' })
      expect(v3).toMatchObject({ status: 401, body: { error: { message: 'Unauthorized' } } })
    })

    it('message records and responses report failure through four fields, all null when there is no error', async () => {
      const good = await world.send()
      const nothing = { error_code: null, error_message: null, error_reason: null, error_detail: null }
      expect(good).toMatchObject(nothing)
      expect(await world.record(good.message_handle)).toMatchObject(nothing)
      const bad = await world.send({ number: '+12025550105' })
      await world.advance(5000)
      expect(await world.record(bad.message_handle)).toMatchObject({
        status: 'ERROR',
        error_code: 10001,
        error_message: expect.stringContaining('refused'),
        error_reason: 'refused',
        error_detail: expect.stringMatching(/^sim\.refused: /),
      })
    })
  })

  describe('limits', () => {
    it('100 requests per 10 seconds per account on GET /api/v2/messages', async () => {
      const other = await world.addAccount('busy@example.com', '+12025550161')
      const answers = []
      for (let i = 0; i < 101; i++)
        answers.push((await world.get('/api/v2/messages?limit=1', other.live)).status)
      expect(answers).toEqual([...Array(100).fill(200), 429])
      expect((await world.get('/api/v2/messages?limit=1')).status).toBe(200)
    })

    it('2 to 20 HTTPS image URLs in a carousel', async () => {
      for (const [n, status] of [
        [0, 400],
        [1, 400],
        [2, 202],
        [20, 202],
        [21, 400],
      ] as const)
        expect((await carousel({ media_urls: images(n) })).status, String(n)).toBe(status)
      expect((await carousel({ media_urls: [...images(2), 'http://example.com/x.jpg'] })).status).toBe(400)
    })

    it('temporary tokens live 900 seconds by default', async () => {
      const { token, expires_at } = (await world.post('/v3/auth/tokens', {})).body
      expect(Date.parse(expires_at) - world.app.ctx.clock.now()).toBe(900_000)
      await world.advance(890_000)
      expect((await world.call('GET', '/api/v2/messages', as(token))).status).toBe(200)
      await world.advance(11_000)
      expect((await world.call('GET', '/api/v2/messages', as(token))).status).toBe(401)
    })

    it('App Card HTTPS url: 2048 characters', async () => {
      const url = (length: number) => `https://example.com/${'x'.repeat(length - 20)}`
      expect((await card({ url: url(2048) })).status).toBe(202)
      expect((await card({ url: url(2049) })).status).toBe(400)
    })

    it('App Card data URL: 16384 characters', async () => {
      const url = (length: number) => `data:,${'x'.repeat(length - 6)}`
      expect((await card({ url: url(16_384) })).status).toBe(202)
      expect((await card({ url: url(16_385) })).status).toBe(400)
    })

    it('TOTP digits: 6 or 8', async () => {
      for (const [digits, status] of [
        [5, 400],
        [6, 201],
        [7, 400],
        [8, 201],
        [9, 400],
      ] as const) {
        const answer = await world.post('/api/v2/totp/secrets', { label: 'x', digits })
        expect(answer.status < 300 ? 201 : answer.status, String(digits)).toBe(status)
      }
    })
  })

  describe('versioning', () => {
    it('contact create and update accept older camelCase names as aliases of the snake_case names', async () => {
      const made = await world.post('/api/v2/contacts', { phoneNumber: '+14155550123', firstName: 'Ann' })
      expect(made.status).toBe(200)
      const put = await world.call('PUT', '/api/v2/contacts/+14155550123', {
        body: { companyName: 'Acme', lastName: 'Lee' },
      })
      expect(put.body.contact).toMatchObject({
        first_name: 'Ann',
        last_name: 'Lee',
        company_name: 'Acme',
        phone: '+14155550123',
      })
    })
  })
})
