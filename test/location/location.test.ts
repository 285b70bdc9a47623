import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  ADA,
  BOB,
  createWorld,
  DAN,
  ENGINES,
  type Json,
  LINE,
  SHARED_LINE,
  type Who,
  type World,
} from '../support/world.js'

const PARIS = { latitude: 48.8584, longitude: 2.2945 }
const ROME = { latitude: 41.8902, longitude: 12.4922 }
const B_LINE = '+12025550150'
const NO_LINE = '+12025550159'
const PLAIN_LINE = '+12025550160'
let count = 6000
/** A person nobody has met. */
const stranger = () => `+1202555${count++}`

describe.each(ENGINES)('locations on %s', (engine) => {
  let world: World
  let b: Awaited<ReturnType<World['addAccount']>>
  beforeAll(async () => {
    world = await createWorld(engine)
    b = await world.addAccount('b@example.com', B_LINE)
    const { account_id } = (await world.get('/admin/lines', 'admin')).body.data.find(
      (line: Json) => line.number === LINE && line.world === 'live',
    )
    await world.post('/admin/lines', { account_id, number: PLAIN_LINE, config: { mac: false } }, 'admin')
    await world.settle()
  })
  afterAll(() => world.close())

  const share = (phone: string, fields: object = {}, as?: Who) =>
    world.call('PUT', `/sim/phones/${phone}/location`, { as, body: { to: LINE, ...fields } })
  const move = (phone: string, fields: object, as?: Who) =>
    world.call('PATCH', `/sim/phones/${phone}/location`, { as, body: fields })
  const unshare = (phone: string, to: string = LINE) =>
    world.call('DELETE', `/sim/phones/${phone}/location?to=${encodeURIComponent(to)}`)
  const accept = (phone: string, fields: object = {}, headers?: Record<string, string>) =>
    world.post(`/sim/phones/${phone}/location/accept`, { to: LINE, ...PARIS, ...fields }, 'live', headers)
  const find = (phone: string, line: string = LINE, as?: Who) =>
    world.get(`/api/location/${phone}?from_number=${encodeURIComponent(line)}`, as)
  const place = async (phone: string, line?: string) => (await find(phone, line)).body
  const list = async (line: string = LINE, as?: Who) =>
    (await world.get(`/api/location?from_number=${encodeURIComponent(line)}`, as)).body
  const ask = (number: string, fields: object = {}, as?: Who, headers?: Record<string, string>) =>
    world.post('/api/request-location', { from_number: LINE, number, ...fields }, as, headers)
  const now = () => new Date(world.app.ctx.clock.now()).toISOString()
  const received = async (phone: string): Promise<Json[]> =>
    (
      await world.get(
        `/api/v2/messages?is_outbound=false&number=${encodeURIComponent(phone)}&order_direction=asc`,
      )
    ).body.data

  describe('reading', () => {
    it('goes from not_shared over shared_no_fix_yet to shared_with_fix, and back', async () => {
      const phone = stranger()
      const head = { status: 'OK', from_number: LINE, number: phone }
      expect(await place(phone)).toEqual({ ...head, state: 'not_shared' })
      expect((await share(phone)).status).toBe(200)
      expect(await place(phone)).toEqual({ ...head, state: 'shared_no_fix_yet' })
      expect((await move(phone, PARIS)).body).toEqual({ moved: 1 })
      const location = { ...PARIS, address: null, locationType: 'live', timestamp: now() }
      expect(await place(phone)).toEqual({ ...head, state: 'shared_with_fix', location })
      expect((await unshare(phone)).status).toBe(204)
      expect(await place(phone)).toEqual({ ...head, state: 'not_shared' })
      expect((await unshare(phone)).status).toBe(404)
    })

    it('shows every field of an entry, and the sharing ends at expiresAt', async () => {
      const phone = stranger()
      const fields = { ...ROME, accuracy: 12.5, altitude: -3, address: 'Piazza del Colosseo 1' }
      const expires_in_ms = 3_600_000
      await share(phone, { ...fields, location_type: 'shallow', expires_in_ms })
      const expiresAt = new Date(world.app.ctx.clock.now() + expires_in_ms).toISOString()
      const location = { ...fields, locationType: 'shallow', timestamp: now(), expiresAt }
      expect(await place(phone)).toMatchObject({ state: 'shared_with_fix', location })
      expect((await world.get(`/sim/phones/${phone}/location`)).body.data).toEqual([
        { line: LINE, ...fields, location_type: 'shallow', at: location.timestamp, expires_at: expiresAt },
      ])
      await world.advance(expires_in_ms - 1)
      expect(await place(phone)).toMatchObject({ location: { expiresAt } })
      await world.advance(1)
      expect(await place(phone)).toMatchObject({ state: 'not_shared' })
      expect(await place(phone)).not.toHaveProperty('location')
      expect((await world.get(`/sim/phones/${phone}/location`)).body.data).toEqual([])
      expect((await move(phone, PARIS)).status).toBe(404)
    })

    it('lists everyone who shares with the line, and nobody else', async () => {
      const [one, two, other] = [stranger(), stranger(), stranger()]
      await share(one, PARIS)
      await share(two)
      await share(other, { to: SHARED_LINE, ...PARIS })
      const { locations, ...rest } = await list()
      expect(rest).toEqual({ status: 'OK', from_number: LINE })
      const of = (phone: string) => locations.find((entry: Json) => entry.number === phone)
      expect(of(one)).toMatchObject({ state: 'shared_with_fix', location: PARIS })
      expect(of(two)).toEqual({ number: two, state: 'shared_no_fix_yet' })
      expect(of(other)).toBeUndefined()
      expect((await list(B_LINE, b.live)).locations).toEqual([])
    })

    it('a phone that moves is seen by all it shares with, or by the one line that is named', async () => {
      const phone = stranger()
      await share(phone, PARIS)
      await share(phone, { to: SHARED_LINE, ...PARIS })
      expect((await move(phone, ROME)).body).toEqual({ moved: 2 })
      expect((await move(phone, { ...PARIS, to: SHARED_LINE, address: 'Paris' })).body).toEqual({ moved: 1 })
      expect((await place(phone)).location).toMatchObject({ ...ROME, address: null })
      const shares = (await world.get(`/sim/phones/${phone}/location`)).body.data
      expect(shares).toHaveLength(2)
      expect(shares.find((entry: Json) => entry.line === SHARED_LINE)).toMatchObject({ address: 'Paris' })
    })

    it('takes the numbers of paths and queries with +, %2B or a space', async () => {
      const phone = stranger()
      await share(phone, PARIS)
      for (const plus of ['+', '%2B', '%20']) {
        const at = `/api/location/${plus}${phone.slice(1)}?from_number=${plus}${LINE.slice(1)}`
        expect((await world.get(at)).body).toMatchObject({ number: phone, state: 'shared_with_fix' })
      }
    })
  })

  describe('when a fresh place cannot be had', () => {
    const stale = async (config: object, phone: string, message: string) => {
      await share(phone, PARIS)
      expect((await place(phone)).location).not.toHaveProperty('refreshError')
      await world.setLine(LINE, { config })
      await move(phone, ROME)
      try {
        expect(await place(phone)).toMatchObject({
          state: 'shared_with_fix',
          location: { ...PARIS, refreshError: message },
        })
        const entry = (await list()).locations.find((one: Json) => one.number === phone)
        expect(entry.location).toMatchObject({ ...PARIS, refreshError: message })
        return await find(stranger())
      } finally {
        await world.setLine(LINE, { config: {} })
        expect((await place(phone)).location).toMatchObject(ROME)
        expect((await place(phone)).location).not.toHaveProperty('refreshError')
      }
    }

    it('the last one is given with refreshError, and somebody of whom there is none is an error', async () => {
      const message = 'Find My could not be refreshed on this line'
      const unknown = await stale({ location_refresh: false }, stranger(), message)
      expect(unknown).toMatchObject({ status: 422, body: { status: 'ERROR', message } })
    })

    it('so it is when the line cannot be reached at all', async () => {
      const unknown = await stale({ fault: 'unreachable' }, stranger(), 'The line is unplugged')
      expect(unknown).toMatchObject({ status: 503, headers: { 'x-should-retry': 'true' } })
      expect(unknown.headers['retry-after']).toBe('2')
    })

    it('nothing is given of someone who has stopped, or whose sharing has ended meanwhile', async () => {
      const [stopped, ended] = [stranger(), stranger()]
      await share(stopped, PARIS)
      await share(ended, { ...PARIS, expires_in_ms: 1000 })
      for (const phone of [stopped, ended]) expect((await place(phone)).state).toBe('shared_with_fix')
      await unshare(stopped)
      expect((await place(stopped)).state).toBe('not_shared')
      await world.setLine(LINE, { config: { location_refresh: false } })
      await world.advance(1000)
      for (const phone of [stopped, ended]) expect((await find(phone)).status).toBe(422)
      const listed = (await list()).locations?.map((entry: Json) => entry.number) ?? []
      expect(listed).not.toContain(stopped)
      expect(listed).not.toContain(ended)
      await world.setLine(LINE, { config: {} })
    })
  })

  describe('requesting', () => {
    it('is queued like an outbound iMessage, seen on the phone, and answered by an inbound location', async () => {
      const phone = stranger()
      const reply = await ask(phone)
      expect(reply.status).toBe(202)
      const handle = reply.body.message_handle
      expect(reply.body).toEqual({
        status: 'QUEUED',
        message: expect.stringContaining('queued'),
        message_handle: handle,
        uuid: handle,
        number: phone,
      })
      expect((await accept(phone)).status).toBe(404)
      await world.advance(1000)
      expect(await world.record(handle)).toMatchObject({
        status: 'DELIVERED',
        service: 'iMessage',
        message_type: 'message',
        content: '',
        is_outbound: true,
      })
      expect(await world.inbox(phone)).toMatchObject([
        { direction: 'in', message_handle: handle, location_request: true, content: '' },
      ])
      expect((await find(phone)).body.state).toBe('not_shared')

      expect((await accept(phone, { accuracy: 5, expires_in_ms: 3_600_000 })).status).toBe(201)
      const timestamp = now()
      await world.advance(1000)
      const [message, ...more] = await received(phone)
      expect(more).toEqual([])
      expect(message).toMatchObject({
        message_type: 'location',
        content: '',
        media_url: '',
        status: 'RECEIVED',
        service: 'iMessage',
        location: { ...PARIS, accuracy: 5, duration: '1 hour', timestamp },
      })
      expect(await world.record(message.message_handle)).toEqual(message)
      expect((await world.status(message.message_handle)).location).toEqual(message.location)
      expect((await find(phone)).body).toMatchObject({ state: 'shared_with_fix', location: PARIS })
      expect((await world.events()).at(-1)).toMatchObject({
        type: 'message.received',
        subject: message.message_handle,
      })
      expect((await accept(phone)).status).toBe(404)
    })

    it('a share that was not asked for comes in as well, once it has a place, and once', async () => {
      const phone = stranger()
      await share(phone)
      await world.advance(1000)
      expect(await received(phone)).toEqual([])
      await move(phone, PARIS)
      await move(phone, ROME)
      await share(phone, { ...ROME, expires_in_ms: 60_000 })
      await world.advance(1000)
      expect((await received(phone)).map((message) => message.location)).toMatchObject([
        { ...PARIS, duration: 'indefinitely' },
      ])
      await world.advance(60_000)
      await share(phone, ROME)
      await world.advance(1000)
      expect((await received(phone)).map((message) => message.message_type)).toEqual(['location', 'location'])
    })

    it('a shared line gets such messages, though it answers no questions', async () => {
      const phone = stranger()
      await share(phone, { to: SHARED_LINE, ...PARIS })
      await world.advance(1000)
      expect(await received(phone)).toMatchObject([{ sendblue_number: SHARED_LINE, location: PARIS }])
    })

    it('never goes out as a text: a recipient without iMessage is an error', async () => {
      const before = (await world.inbox(BOB)).length
      const { message_handle } = (await ask(BOB)).body
      await world.advance(1000)
      expect(await world.record(message_handle)).toMatchObject({
        status: 'ERROR',
        error_reason: 'not_imessage',
      })
      expect(await world.inbox(BOB)).toHaveLength(before)
    })

    it('a phone without iMessage shares nothing', async () => {
      const reply = await share(BOB, PARIS)
      expect(reply.status).toBe(400)
      expect(reply.body.error.message).toContain('has no iMessage')
    })

    it('waits for a phone that is switched off', async () => {
      await ask(DAN)
      await world.advance(1000)
      expect((await accept(DAN)).status).toBe(404)
      await world.setPhone(DAN, { power: true })
      await world.advance(1000)
      expect((await accept(DAN)).status).toBe(201)
    })

    it('to someone who has opted out is answered as ERROR and not sent', async () => {
      const phone = stranger()
      await world.text(phone, 'STOP')
      await world.advance(1000)
      const confirmed = await world.inbox(phone)
      const reply = await ask(phone)
      expect(reply).toMatchObject({ status: 202, body: { status: 'ERROR' } })
      expect(reply.body.message).toContain('opted out')
      await world.advance(1000)
      expect(await world.inbox(phone), 'nothing after the confirmation').toEqual(confirmed)
    })

    it('is one request per Idempotency-Key and per retry of the published client', async () => {
      const phone = stranger()
      const replies = await Promise.all(
        [1, 2, 3].map(() => ask(phone, {}, 'live', { 'idempotency-key': phone })),
      )
      const retry = await ask(phone, {}, 'live', { 'x-stainless-retry-count': '1' })
      expect(new Set([...replies, retry].map((reply) => reply.body.message_handle)).size).toBe(1)
      expect(retry.headers['x-idempotent-replay']).toBe('true')
      const other = await ask(stranger(), {}, 'live', { 'idempotency-key': phone })
      expect(other.status).toBe(422)
      await world.advance(1000)
      expect(await world.inbox(phone)).toHaveLength(1)
      const answers = await Promise.all([1, 2, 3].map(() => accept(phone)))
      expect(answers.map((answer) => answer.status).sort()).toEqual([201, 404, 404])
      await world.advance(1000)
      expect(await received(phone)).toHaveLength(1)
    })
  })

  describe('refusals', () => {
    it('shared lines, and lines that are no Mac, are refused in words that say so', async () => {
      for (const [line, words] of [
        [SHARED_LINE, 'shared lines cannot use locations'],
        [PLAIN_LINE, 'no Mac line'],
      ] as const) {
        const query = `from_number=${encodeURIComponent(line)}`
        const replies = [
          await world.get(`/api/location?${query}`),
          await find(ADA, line),
          await world.get(`/api/location/${ADA}/watch?${query}`),
          await ask(ADA, { from_number: line }),
        ]
        for (const reply of replies) {
          expect(reply.status).toBe(400)
          expect(reply.body).toMatchObject({ status: 'ERROR', message: expect.stringContaining(words) })
        }
      }
      expect((await share(stranger(), { to: PLAIN_LINE, ...PARIS })).status).toBe(400)
    })

    it('on the free plan only verified contacts are asked', async () => {
      const account = (
        await world.post('/admin/accounts', { email: 'free@example.com', plan: 'free' }, 'admin')
      ).body
      const key = (await world.post('/admin/keys', { account_id: account.id }, 'admin')).body
      const from_number = '+12025550152'
      await world.post('/admin/lines', { account_id: account.id, number: from_number }, 'admin')
      await world.settle()
      const number = stranger()
      const { status, body } = await ask(number, { from_number }, key)
      expect([status, body.message]).toEqual([403, expect.stringMatching(/not a verified contact/)])
      expect((await world.get('/api/v2/messages', key)).body.pagination.total).toBe(0)
      await world.post('/api/v2/contacts', { number }, key)
      await world.post('/api/v2/contacts/verify', { number }, key)
      await world.text(number, 'Yes', { to: from_number }, key)
      await world.advance(1000)
      expect((await ask(number, { from_number }, key)).status).toBe(202)
    })

    it("another account's line is as unknown as none, in the words of a send", async () => {
      const words = async (line: string) => {
        const query = `from_number=${encodeURIComponent(line)}`
        const replies = [
          await world.get(`/api/location?${query}`),
          await find(ADA, line),
          await world.get(`/api/location/${ADA}/watch?${query}`),
          await ask(ADA, { from_number: line }),
          await world.post('/api/send-message', { from_number: line, number: ADA, content: 'x' }),
        ]
        return replies.map(({ status, body }) => `${status} ${body.message}`.replaceAll(line, '<line>'))
      }
      const absent = await words(NO_LINE)
      expect(new Set(absent).size).toBe(1)
      expect(absent[0]).toContain('400 This phone number is not defined')
      expect(await words(B_LINE)).toEqual(absent)
    })

    it('another account sees nothing of what a phone shares with this one', async () => {
      const phone = stranger()
      await share(phone, PARIS)
      expect((await find(phone, B_LINE, b.live)).body).toMatchObject({ state: 'not_shared' })
      expect((await world.get(`/sim/phones/${phone}/location`, b.live)).body.data).toEqual([])
      expect((await move(phone, ROME, b.live)).status).toBe(404)
      expect((await share(phone, ROME, b.live)).status).toBe(400)
      const gone = await world.call('DELETE', `/sim/phones/${phone}/location?to=${LINE}`, { as: b.live })
      expect(gone.status).toBe(400)
      expect((await place(phone)).location).toMatchObject(PARIS)
      // In the test world the number is another person's.
      expect((await find(phone, LINE, 'test')).body).toMatchObject({ state: 'not_shared' })
      await share(phone, ROME, 'test')
      expect((await find(phone, LINE, 'test')).body.location).toMatchObject(ROME)
      expect((await place(phone)).location).toMatchObject(PARIS)
    })

    it('without credentials, or with an admin key, nothing is told', async () => {
      const query = `from_number=${encodeURIComponent(LINE)}`
      const paths = [
        `/api/location?${query}`,
        `/api/location/${ADA}?${query}`,
        `/api/location/${ADA}/watch?${query}`,
      ]
      for (const path of paths) {
        expect((await world.get(path, null)).status).toBe(401)
        expect((await world.get(path, 'admin')).status).toBe(403)
      }
      expect((await ask(ADA, {}, null)).status).toBe(401)
      expect((await ask(ADA, {}, 'admin')).status).toBe(403)
    })

    it('a token confined to some lines is kept to them', async () => {
      const mint = async (phone_number: string) =>
        (await world.post('/v3/auth/tokens', { phone_number })).body
      const [own, other] = [await mint(LINE), await mint(PLAIN_LINE)]
      const phone = stranger()
      await share(phone, PARIS)
      const query = `from_number=${encodeURIComponent(LINE)}`
      for (const path of [`/api/location?${query}`, `/api/location/${phone}?${query}`]) {
        expect((await world.get(path, own)).status).toBe(200)
        expect(await world.get(path, other)).toMatchObject({
          status: 403,
          body: { message: `This token is confined to other lines than ${LINE}` },
        })
      }
      expect((await world.get(`/api/location/${phone}/watch?${query}`, other)).status).toBe(403)
      expect((await ask(phone, {}, own)).status).toBe(202)
      expect((await ask(phone, {}, other)).status).toBe(403)
      // Nor does it learn which other lines there are.
      expect((await ask(phone, { from_number: NO_LINE }, other)).status).toBe(403)
    })

    it.each([
      ['/api/location', 'missing required parameter: from_number'],
      ['/api/location?from_number=', 'missing required parameter: from_number'],
      ['/api/location?from_number=x', 'from_number: must be a phone number'],
      ['/api/location?from_number=%2B12025550100&from_number=x', 'from_number: given more than once'],
      ['/api/location?from_number=%00', 'from_number'],
      ['/api/location/%2B12025550101', 'missing required parameter: from_number'],
      ['/api/location/ada?from_number=%2B12025550100', 'number: must be a phone number'],
      ['/api/location/null?from_number=%2B12025550100', 'number: must be a phone number'],
      ['/api/location/ada@example.com?from_number=%2B12025550100', 'number: must be a phone number'],
      ['/api/location/%2B12025550101/watch', 'missing required parameter: from_number'],
      ['/api/location/x/watch?from_number=%2B12025550100', 'number: must be a phone number'],
    ])('GET %s is bad input', async (path, message) => {
      const reply = await world.get(path)
      expect(reply.status).toBe(400)
      expect(reply.body).toEqual({ status: 'ERROR', message: expect.stringContaining(message) })
    })

    it.each([
      [{}, 'missing required parameter: from_number'],
      [{ from_number: LINE }, 'missing required parameter: number'],
      [{ from_number: LINE, number: null }, 'missing required parameter: number'],
      [{ from_number: LINE, number: 12025550101 }, 'number: must be string'],
      [{ from_number: LINE, number: ['+12025550101'] }, 'number: must be string'],
      [{ from_number: LINE, number: '2025550101' }, 'number: must be a phone number'],
      [{ from_number: LINE, number: LINE }, 'Cannot send messages to self'],
      [{ from_number: 'x', number: ADA }, 'from_number: must be a phone number'],
      [[], 'body'],
      ['null', 'body'],
    ])('POST request-location %j is bad input', async (body, message) => {
      const reply = await world.call('POST', '/api/request-location', {
        body,
        headers: { 'content-type': 'application/json' },
      })
      expect(reply.status).toBe(400)
      expect(reply.body).toMatchObject({ status: 'ERROR', message: expect.stringContaining(message) })
    })

    it('older names of fields are taken', async () => {
      const reply = await world.post('/api/request-location', { fromNumber: LINE, to: stranger() })
      expect(reply.status).toBe(202)
    })

    it.each([
      [{ latitude: 91, longitude: 0 }, 'latitude: must be <= 90'],
      [{ latitude: -90.1, longitude: 0 }, 'latitude: must be >= -90'],
      [{ latitude: 0, longitude: 180.5 }, 'longitude: must be <= 180'],
      [{ latitude: 'NaN', longitude: 0 }, 'latitude: must be number'],
      [{ latitude: null, longitude: 0 }, 'latitude: must be number'],
      [{ latitude: 1 }, 'longitude'],
      [{ longitude: 1 }, 'latitude'],
      [{ ...PARIS, accuracy: -1 }, 'accuracy: must be >= 0'],
      [{ ...PARIS, altitude: '12' }, 'altitude: must be number'],
      [{ ...PARIS, address: 'x'.repeat(501) }, 'address'],
      [{ ...PARIS, location_type: 'exact' }, 'location_type: must be one of shallow'],
      [{ ...PARIS, expires_in_ms: 0 }, 'expires_in_ms: must be >= 1'],
      [{ ...PARIS, expires_in_ms: 1.5 }, 'expires_in_ms: must be integer'],
      [{ ...PARIS, to: '12' }, 'to: must be a phone number'],
      [{ ...PARIS, to: NO_LINE }, 'is not a simulated line'],
    ])('a phone cannot share %j', async (fields, message) => {
      const phone = stranger()
      const reply = await share(phone, fields)
      expect(reply.status).toBe(400)
      expect(reply.body.error.message).toContain(message)
      expect((await place(phone)).state).toBe('not_shared')
    })

    it('1e999 is no latitude', async () => {
      const reply = await world.call('PUT', `/sim/phones/${ADA}/location`, {
        body: `{"to":"${LINE}","latitude":1e999,"longitude":0}`,
        headers: { 'content-type': 'application/json' },
      })
      expect(reply.status).toBe(400)
    })
  })
})
