import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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
} from '../support/world.js'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const B_LINE = '+12025550150'
const NO_LINE = '+12025550159'
const PLAIN_LINE = '+12025550160'
const PATH = '/api/v2/contact-sharing'
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const NOTHING = {
  hasProfile: false,
  sharingEnabled: false,
  firstName: null,
  lastName: null,
  displayName: null,
  hasPhoto: false,
  publishRecordPresent: false,
}

describe.each(ENGINES)('contact sharing on %s', (engine) => {
  let world: World
  let b: Awaited<ReturnType<World['addAccount']>>
  let files: Server
  let photos: string
  beforeAll(async () => {
    world = await createWorld(engine)
    b = await world.addAccount('b@example.com', B_LINE)
    const { account_id } = (await world.get('/admin/lines', 'admin')).body.data.find(
      (line: Json) => line.number === LINE && line.world === 'live',
    )
    await world.post('/admin/lines', { account_id, number: PLAIN_LINE, config: { mac: false } }, 'admin')
    await world.settle()
    files = createServer((request, response) => {
      if (request.url === '/photo.png') response.setHeader('content-type', 'image/png').end(PNG)
      else if (request.url === '/text.png') response.setHeader('content-type', 'image/png').end('no image')
      else response.writeHead(404).end()
    })
    await new Promise<void>((done) => files.listen(0, '127.0.0.1', done))
    photos = `http://127.0.0.1:${(files.address() as AddressInfo).port}`
  })
  afterAll(async () => {
    await world.close()
    files.close()
  })

  const change = (fields: object, as?: Who, headers?: Record<string, string>) =>
    world.post(`${PATH}/profile`, { fromNumber: LINE, ...fields }, as, headers)
  const remove = (body: object = { fromNumber: LINE }) => world.call('DELETE', `${PATH}/profile`, { body })
  const state = async (line: string = LINE, as?: Who) =>
    world.get(`${PATH}/state?fromNumber=${encodeURIComponent(line)}`, as)
  const profile = async () => (await state()).body.data
  const give = (toNumber: string, fields: object = {}, as?: Who, headers?: Record<string, string>) =>
    world.post(`${PATH}/share`, { fromNumber: LINE, toNumber, ...fields }, as, headers)
  const cards = async (phone: string, as?: Who) =>
    (await world.get(`/sim/phones/${phone}/cards`, as)).body.data
  const ends = async (requestId: string) =>
    (await world.events()).filter((event) => event.subject === requestId)
  const ended = async (requestId: string) => {
    await world.settle()
    const events = await ends(requestId)
    expect(events).toHaveLength(1)
    return events[0]
  }
  const now = () => world.app.ctx.clock.now()

  describe('the profile', () => {
    it('is changed: accepted at once, carried out, told by an event with every field', async () => {
      expect(await state()).toMatchObject({ status: 200, body: { status: 'OK', data: NOTHING } })
      const requestedAt = now()
      const reply = await change({ firstName: 'Acme', lastName: 'Support' })
      const expected = {
        hasProfile: true,
        sharingEnabled: true,
        firstName: 'Acme',
        lastName: 'Support',
        displayName: 'Acme Support',
        hasPhoto: false,
        publishRecordPresent: true,
      }
      expect(reply.status).toBe(202)
      const { request_id } = reply.body
      expect(reply.body).toEqual({ status: 'OK', request_id, data: expected })
      await world.settle()
      expect(await profile()).toEqual(expected)
      const events = await ends(request_id)
      expect(events).toHaveLength(1)
      expect(events[0]).toMatchObject({ type: 'contact_profile.completed', subject: request_id })
      expect(events[0].data).toEqual({
        eventId: `contact_profile:${request_id}:completed`,
        requestId: request_id,
        operationId: expect.stringMatching(UUID),
        accountEmail: 'dev@trunkline.local',
        fromNumber: LINE,
        status: 'completed',
        profile: expected,
        errorCode: null,
        errorMessage: null,
        requestedAt,
        observedAt: requestedAt,
      })
    })

    it('keeps what is not named, and an empty name takes it away', async () => {
      await change({ firstName: 'Acme', lastName: 'Support', displayName: '' })
      await change({ lastName: '' })
      await world.settle()
      expect(await profile()).toMatchObject({ firstName: 'Acme', lastName: null, displayName: 'Acme' })
      await change({ displayName: ' The Acme Desk ' })
      await world.settle()
      expect(await profile()).toMatchObject({ firstName: 'Acme', displayName: 'The Acme Desk' })
      const last = await change({ firstName: '', displayName: '' })
      expect(last.body.data).toEqual(NOTHING)
      await world.settle()
      expect(await profile()).toEqual(NOTHING)
    })

    it('gets a photo, and loses it', async () => {
      const reply = await change({ firstName: 'Acme', photoUrl: `${photos}/photo.png` })
      expect(await ended(reply.body.request_id)).toMatchObject({
        type: 'contact_profile.completed',
        data: { profile: { hasPhoto: true, firstName: 'Acme' } },
      })
      expect(await profile()).toMatchObject({ hasPhoto: true })
      const cleared = await change({ clearPhoto: true })
      expect(cleared.body.data).toMatchObject({ hasPhoto: false })
      await world.settle()
      expect(await profile()).toMatchObject({ hasPhoto: false, firstName: 'Acme' })
    })

    it.each(['/text.png', '/missing.png'])('fails for a photo that is none: %s', async (file) => {
      const before = await profile()
      const reply = await change({ firstName: 'Changed', photoUrl: photos + file })
      expect(reply.status).toBe(202)
      expect(await ended(reply.body.request_id)).toMatchObject({
        type: 'contact_profile.failed',
        data: {
          eventId: `contact_profile:${reply.body.request_id}:failed`,
          status: 'failed',
          profile: null,
          errorCode: 'photo_unusable',
          errorMessage: expect.stringContaining('photoUrl: '),
        },
      })
      expect(await profile()).toEqual(before)
      // The next change does not bring the failed one along.
      expect((await change({ lastName: 'Next' })).body.data.firstName).not.toBe('Changed')
      await world.settle()
    })

    it('is taken away by DELETE', async () => {
      await change({ firstName: 'Acme' })
      const reply = await remove()
      expect(reply).toMatchObject({ status: 202, body: { status: 'OK', data: NOTHING } })
      await world.settle()
      expect(await profile()).toEqual(NOTHING)
      expect(await ends(reply.body.request_id)).toMatchObject([
        { type: 'contact_profile.completed', data: { profile: NOTHING } },
      ])
      expect((await remove({ from_number: LINE })).status).toBe(202)
    })

    it('fails when the carrier refuses it, and changes nothing', async () => {
      await world.setLine(LINE, { config: { profile_fault: 'refuse' } })
      const reply = await change({ firstName: 'Rude' })
      await world.settle()
      expect(await ends(reply.body.request_id)).toMatchObject([
        {
          type: 'contact_profile.failed',
          data: { profile: null, errorCode: 'refused', errorMessage: expect.stringContaining('refuse') },
        },
      ])
      await world.setLine(LINE, { config: {} })
      expect(await profile()).toEqual(NOTHING)
    })

    it('waits for a carrier that cannot be reached, and gives up in the end', async () => {
      await world.setLine(LINE, { config: { profile_fault: 'unreachable' } })
      const one = await change({ firstName: 'Patient' })
      await world.advance(3000)
      expect(await ends(one.body.request_id)).toEqual([])
      await world.setLine(LINE, { config: {} })
      await world.advance(60_000)
      expect(await ends(one.body.request_id)).toMatchObject([{ type: 'contact_profile.completed' }])
      await world.setLine(LINE, { config: { profile_fault: 'unreachable' } })
      const two = await change({ firstName: 'Hopeless' })
      await world.advance(600_000)
      expect(await ends(two.body.request_id)).toMatchObject([
        { type: 'contact_profile.failed', data: { errorCode: 'unreachable' } },
      ])
      await world.setLine(LINE, { config: {} })
      expect(await profile()).toMatchObject({ firstName: 'Patient' })
    })

    it('repeats of the update that is under way are one, others follow in order', async () => {
      await world.setLine(LINE, { config: { profile_fault: 'unreachable' } })
      const replies = await Promise.all([1, 2, 3, 4].map(() => change({ firstName: 'Same' })))
      expect(new Set(replies.map((reply) => reply.body.request_id)).size).toBe(1)
      const other = await change({ firstName: 'Other' })
      const again = await change({ firstName: 'Same' })
      expect(new Set([replies[0]!, other, again].map((reply) => reply.body.request_id)).size).toBe(3)
      await world.setLine(LINE, { config: {} })
      await world.advance(60_000)
      expect(await profile()).toMatchObject({ firstName: 'Same' })
      const done = (await world.events()).filter((event) => event.type === 'contact_profile.completed')
      expect(done.slice(-3).map((event) => event.subject)).toEqual(
        [replies[0]!, other, again].map((reply) => reply.body.request_id),
      )
      // After its end the same update is a new one.
      expect((await change({ firstName: 'Same' })).body.request_id).not.toBe(again.body.request_id)
    })

    it('is one request per Idempotency-Key', async () => {
      const key = { 'idempotency-key': 'profile-1' }
      const first = await change({ firstName: 'Keyed' }, 'live', key)
      await world.settle()
      const second = await change({ firstName: 'Keyed' }, 'live', key)
      expect(second.body).toEqual(first.body)
      expect(second.headers['x-idempotent-replay']).toBe('true')
      expect((await change({ firstName: 'Another' }, 'live', key)).status).toBe(422)
      expect(await ends(first.body.request_id)).toHaveLength(1)
    })

    it('survives a restart between acceptance and the carrier', async () => {
      await world.setLine(LINE, { config: { profile_fault: 'unreachable' } })
      const reply = await change({ firstName: 'Survivor' })
      await world.settle()
      await world.restart()
      await world.setLine(LINE, { config: {} })
      await world.advance(60_000)
      expect(await ends(reply.body.request_id)).toMatchObject([{ type: 'contact_profile.completed' }])
      expect(await profile()).toMatchObject({ firstName: 'Survivor' })
    })

    it('fails when the line is removed first', async () => {
      const line = '+12025550161'
      const { account_id } = (await world.get('/admin/lines', 'admin')).body.data.find(
        (one: Json) => one.number === LINE && one.world === 'live',
      )
      const config = { profile_fault: 'unreachable' }
      const made = (await world.post('/admin/lines', { account_id, number: line, config }, 'admin')).body
      await world.settle()
      const reply = await change({ fromNumber: line, firstName: 'Lost' })
      await world.call('DELETE', `/admin/lines/${made.id}`, { as: 'admin' })
      await world.restart()
      expect(await ends(reply.body.request_id)).toMatchObject([
        { type: 'contact_profile.failed', data: { errorCode: 'line_removed', fromNumber: line } },
      ])
    })

    it('is changed under the older path and the other spelling, too', async () => {
      const reply = await world.post('/api/v2/contact-profile', { from_number: LINE, first_name: 'Older' })
      expect(reply).toMatchObject({ status: 202, body: { data: { firstName: 'Older' } } })
      await world.settle()
      const read = await world.get(`${PATH}/state?from_number=${encodeURIComponent(LINE)}`)
      expect(read.body.data).toMatchObject({ firstName: 'Older' })
    })
  })

  describe('sharing it', () => {
    it('shows it on the phone, once in 24 hours', async () => {
      await remove()
      await change({ firstName: 'Acme', displayName: '', lastName: 'Desk', photoUrl: `${photos}/photo.png` })
      await world.settle()
      await world.send()
      await world.advance(1000)
      const at = new Date(now()).toISOString()
      expect(await cards(ADA)).toEqual([])
      expect(await give(ADA)).toMatchObject({
        status: 200,
        body: { status: 'OK', requested: true, deduplicated: false },
      })
      const shown = { line: LINE, name: 'Acme Desk', first_name: 'Acme', last_name: 'Desk' }
      expect(await cards(ADA)).toEqual([{ ...shown, photo_url: `${photos}/photo.png`, at }])
      expect(await cards(ADA, b.live)).toEqual([])

      await change({ lastName: 'Bureau' })
      await world.advance(24 * 3_600_000 - 1)
      expect((await give(ADA)).body).toEqual({ status: 'OK', requested: false, deduplicated: true })
      expect(await cards(ADA)).toMatchObject([{ last_name: 'Desk' }])
      await world.advance(1)
      expect((await give(ADA)).body).toEqual({ status: 'OK', requested: true, deduplicated: false })
      expect(await cards(ADA)).toMatchObject([{ last_name: 'Bureau' }])
    })

    it('of several at once one does it; a key gets its first answer again', async () => {
      await world.text(DAN, 'x')
      await world.setPhone(DAN, { power: true })
      await world.text(DAN, 'hello')
      await world.advance(1000)
      const replies = await Promise.all([1, 2, 3].map(() => give(DAN)))
      expect(replies.map((reply) => reply.status)).toEqual([200, 200, 200])
      expect(replies.filter((reply) => reply.body.requested)).toHaveLength(1)
      expect(replies.filter((reply) => reply.body.deduplicated)).toHaveLength(2)
      await world.advance(86_400_000)
      const key = { 'idempotency-key': 'share-1' }
      const first = await give(DAN, {}, 'live', key)
      expect(first.body).toMatchObject({ requested: true })
      expect((await give(DAN, {}, 'live', key)).body).toEqual(first.body)
      expect((await give(DAN)).body).toMatchObject({ deduplicated: true })
    })

    it('needs an iMessage conversation', async () => {
      await world.send({ number: BOB })
      await world.advance(1000)
      for (const phone of [BOB, CLEO, '+12025559998']) {
        const reply = await give(phone)
        expect(reply.status).toBe(400)
        expect(reply.body).toEqual({
          status: 'ERROR',
          message: `This line has no iMessage conversation with ${phone} yet. Send a message first.`,
        })
        expect(await cards(phone)).toEqual([])
      }
      // A failed change may be repeated at once.
      await world.send({ number: '+12025559998' })
      await world.advance(1000)
      expect((await give('+12025559998')).body).toMatchObject({ requested: true })
    })

    it('needs a profile, and a line that can be reached', async () => {
      const phone = '+12025559997'
      await world.send({ number: phone })
      await world.advance(1000)
      await remove()
      await world.settle()
      expect(await give(phone)).toMatchObject({
        status: 422,
        body: { message: 'This line has no name and photo to share' },
      })
      await change({ firstName: 'Acme' })
      await world.setLine(LINE, { config: { fault: 'unreachable' } })
      const key = { 'idempotency-key': 'share-2' }
      expect((await give(phone, {}, 'live', key)).status).toBe(503)
      expect((await state()).status).toBe(503)
      await world.setLine(LINE, { config: {} })
      await world.advance(60_000)
      // The key's request was never carried out: its repeat carries it out.
      expect(await give(phone, {}, 'live', key)).toMatchObject({ status: 200, body: { requested: true } })
      expect(await cards(phone)).toHaveLength(1)
      expect((await give(phone)).body).toMatchObject({ deduplicated: true })
    })
  })

  describe('refusals', () => {
    const all = (line: string, as?: Who) => [
      () => change({ fromNumber: line, firstName: 'x' }, as),
      () => world.post('/api/v2/contact-profile', { fromNumber: line, firstName: 'x' }, as),
      () => world.call('DELETE', `${PATH}/profile`, { as, body: { fromNumber: line } }),
      () => state(line, as),
      () => give(ADA, { fromNumber: line }, as),
    ]

    it('shared lines, and lines that are no Mac, are refused in words that say so', async () => {
      for (const [line, words] of [
        [SHARED_LINE, 'is a shared line'],
        [PLAIN_LINE, 'no Mac line'],
      ] as const) {
        for (const call of all(line)) {
          const reply = await call()
          expect(reply.status).toBe(400)
          expect(reply.body.message).toContain(words)
        }
      }
    })

    it("another account's line is as unknown as none", async () => {
      const words = (line: string) =>
        Promise.all(
          all(line).map(async (call) => {
            const { status, body } = await call()
            return `${status} ${JSON.stringify(body)}`.replaceAll(line, '<line>')
          }),
        )
      const absent = await words(NO_LINE)
      expect(absent[0]).toContain('400 {"status":"ERROR","message":"This phone number is not defined')
      expect(await words(B_LINE)).toEqual(absent)
      expect((await state(B_LINE, b.live)).body.data).toEqual(NOTHING)
    })

    it('nothing without credentials or with an admin key; a test key has a world of its own', async () => {
      for (const call of all(LINE, null)) expect((await call()).status).toBe(401)
      for (const call of all(LINE, 'admin')) expect((await call()).status).toBe(403)
      const before = await profile()
      expect((await change({ firstName: 'Test' }, 'test')).status).toBe(202)
      await world.settle()
      expect((await state(LINE, 'test')).body.data).toMatchObject({ firstName: 'Test' })
      expect(await profile()).toEqual(before)
    })

    it('a token confined to some lines is kept to them', async () => {
      const mint = async (phone_number: string) =>
        (await world.post('/v3/auth/tokens', { phone_number })).body
      const [own, other] = [await mint(LINE), await mint(PLAIN_LINE)]
      for (const call of all(LINE, other)) expect((await call()).status).toBe(403)
      expect((await state(LINE, own)).status).toBe(200)
      expect((await change({ firstName: 'Token' }, own)).status).toBe(202)
    })

    it.each([
      [{}, 'Nothing to change: give'],
      [{ photoUrl: '', clearPhoto: false }, 'Nothing to change: give'],
      [{ firstName: null }, 'Nothing to change: give'],
      [{ firstName: 'x', fromNumber: undefined }, 'missing required parameter: fromNumber'],
      [{ firstName: 'x', fromNumber: '202' }, 'fromNumber: must be a phone number'],
      [{ firstName: 1 }, 'firstName: must be string'],
      [{ lastName: ['x'] }, 'lastName: must be string'],
      [{ firstName: 'x'.repeat(101) }, 'firstName'],
      [{ firstName: 'a\u0000b' }, 'firstName'],
      [{ clearPhoto: 'yes' }, 'clearPhoto: must be boolean'],
      [
        { photoUrl: 'https://example.com/a.png', clearPhoto: true },
        'photoUrl: give either photoUrl or clearPhoto',
      ],
      [{ photoUrl: 'ftp://example.com/a.png' }, 'photoUrl: '],
      [{ photoUrl: 'https://10.0.0.1/a.png' }, 'photoUrl: '],
      [{ photoUrl: 'https://user:pw@example.com/a.png' }, 'photoUrl: '],
      [{ photoUrl: 'nonsense' }, 'photoUrl: '],
      [{ photoUrl: `https://example.com/${'x'.repeat(2100)}` }, 'photoUrl'],
    ])('profile %j is bad input', async (fields, message) => {
      const reply = await change(fields)
      expect(reply.status).toBe(400)
      expect(reply.body).toMatchObject({ status: 'ERROR', message: expect.stringContaining(message) })
    })

    it.each([
      [{ toNumber: undefined }, 'missing required parameter: toNumber'],
      [{ toNumber: 'ada' }, 'toNumber: must be a phone number'],
      [{ toNumber: LINE }, 'toNumber: must not be the line itself'],
      [{ toNumber: 12025550101 }, 'toNumber: must be string'],
      [{ fromNumber: undefined }, 'missing required parameter: fromNumber'],
    ])('share %j is bad input', async (fields, message) => {
      const reply = await give(ADA, fields)
      expect(reply.status).toBe(400)
      expect(reply.body).toMatchObject({ status: 'ERROR', message: expect.stringContaining(message) })
    })

    it('the rest of bad input', async () => {
      expect((await remove({})).body.message).toContain('missing required parameter: fromNumber')
      expect((await world.call('DELETE', `${PATH}/profile`)).status).toBe(400)
      expect((await world.get(`${PATH}/state`)).body.message).toContain(
        'missing required parameter: fromNumber',
      )
      expect((await world.get(`${PATH}/state?fromNumber=x`)).status).toBe(400)
      expect((await world.post(`${PATH}/share`, [])).status).toBe(400)
    })
  })
})
