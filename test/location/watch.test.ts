import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createEventStream } from '../../src/api/http/sse.js'
import { createApp } from '../../src/app.js'
import { createClock } from '../../src/base/clock.js'
import { type Follower, follow } from '../support/web/sse.js'
import { createWorld, credentials, ENGINES, type Json, LINE, type Who, type World } from '../support/world.js'

const PARIS = { latitude: 48.8584, longitude: 2.2945 }
const ROME = { latitude: 41.8902, longitude: 12.4922 }
let count = 6000
const stranger = () => `+1202555${count++}`

describe.each(ENGINES)('watching a location on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  afterAll(() => world.close())

  const share = (phone: string, fields: object = {}) =>
    world.call('PUT', `/sim/phones/${phone}/location`, { body: { to: LINE, ...fields } })
  const move = (phone: string, fields: object) =>
    world.call('PATCH', `/sim/phones/${phone}/location`, { body: fields })
  const unshare = (phone: string) =>
    world.call('DELETE', `/sim/phones/${phone}/location?to=${encodeURIComponent(LINE)}`)
  const pathOf = (phone: string, line: string = LINE) =>
    `/api/location/${phone}/watch?from_number=${encodeURIComponent(line)}`
  const watch = (phone: string, as?: Who, line?: string) => follow(world, pathOf(phone, line), as)
  /** The ready frame and the first place. */
  const begin = async (phone: string, as?: Who) => {
    const follower = await watch(phone, as)
    expect(follower.status).toBe(200)
    expect(await follower.next()).toEqual({
      event: 'ready',
      data: { status: 'OK', from_number: LINE, number: phone },
    })
    return { follower, first: (await follower.next())! }
  }
  /** The stream ends with this reason and nothing after it. */
  const expectEnd = async (follower: Follower, reason: string) => {
    const last = await follower.next()
    expect(last).toMatchObject({ event: 'complete', data: { status: 'OK', from_number: LINE, reason } })
    expect(await follower.next()).toBeUndefined()
  }

  it('is ready, tells the place, then every change, and ends when the sharing does', async () => {
    const phone = stranger()
    await share(phone, PARIS)
    const { follower, first } = await begin(phone)
    expect(follower.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(follower.headers.get('cache-control')).toContain('no-cache')
    const head = { status: 'OK', from_number: LINE, number: phone, state: 'shared_with_fix' }
    expect(first).toMatchObject({ event: 'location', data: { ...head, location: PARIS } })
    await move(phone, ROME)
    expect(await follower.next()).toMatchObject({ event: 'location', data: { ...head, location: ROME } })
    await move(phone, { ...ROME, address: 'line\nbreak \u2028 and "quotes"' })
    expect((await follower.next())!.data.location.address).toBe('line\nbreak \u2028 and "quotes"')
    await unshare(phone)
    await expectEnd(follower, 'sharing_ended')
  })

  it.runIf(engine === 'postgres')('sees at once what a phone does at another process', async () => {
    const other = await createApp(world.config, {
      log: world.app.ctx.log,
      clock: createClock(world.app.ctx.clock.now()),
    })
    await other.start()
    // Nobody looks again by and by: only the word of the other process makes the watch look.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    try {
      const phone = stranger()
      const { follower } = await begin(phone)
      for (const place of [PARIS, ROME]) {
        const reply = await other.server.inject({
          method: 'PUT',
          url: `/sim/phones/${phone}/location`,
          headers: credentials('live'),
          payload: { to: LINE, ...place },
        })
        expect(reply.statusCode).toBe(200)
        expect((await follower.next())!.data.location).toMatchObject(place)
      }
      follower.close()
    } finally {
      vi.useRealTimers()
      await other.stop()
    }
  })

  it('waits for someone who does not share yet, over shared_no_fix_yet to a place', async () => {
    const phone = stranger()
    const { follower, first } = await begin(phone)
    expect(first).toMatchObject({ event: 'location', data: { state: 'not_shared' } })
    expect(first.data).not.toHaveProperty('location')
    await share(phone)
    expect(await follower.next()).toMatchObject({ data: { state: 'shared_no_fix_yet' } })
    await move(phone, PARIS)
    expect(await follower.next()).toMatchObject({ data: { state: 'shared_with_fix', location: PARIS } })
    follower.close()
  })

  it('ends when the share expires, by the clock of the world', async () => {
    const phone = stranger()
    await share(phone, { ...PARIS, expires_in_ms: 10_000 })
    const { follower } = await begin(phone)
    await world.advance(10_000)
    await expectEnd(follower, 'sharing_ended')
  })

  it('beats every 15 seconds, as a comment', async () => {
    const { follower } = await begin(stranger())
    await world.advance(14_999)
    await world.advance(1)
    expect(await follower.next()).toEqual({ event: '', data: 'heartbeat' })
    await world.advance(30_000)
    for (const _ of [1, 2]) expect(await follower.next()).toEqual({ event: '', data: 'heartbeat' })
    follower.close()
  })

  it('tells nobody of what concerns another person or another line, and many of the same', async () => {
    const [phone, other] = [stranger(), stranger()]
    await share(phone, PARIS)
    await share(other, PARIS)
    const followers = await Promise.all([1, 2, 3].map(async () => (await begin(phone)).follower))
    await move(other, ROME)
    await world.settle()
    await move(phone, ROME)
    for (const follower of followers)
      expect(await follower.next()).toMatchObject({ data: { number: phone, location: ROME } })
    for (const follower of followers) follower.close()
  })

  it('shows an old place with refreshError when there is no fresh one, and is an error when there is none', async () => {
    const [known, unknown] = [stranger(), stranger()]
    await share(known, PARIS)
    const { follower: one } = await begin(known)
    const { follower: two } = await begin(unknown)
    // Not by the settings of the line: changing them would reconnect it.
    const { config } = world.app.ctx.lines
      .all()
      .find((runner) => runner.line.number === LINE && runner.line.network === 'live')!.line
    config.location_refresh = false
    try {
      await move(known, ROME)
      const refreshError = 'Find My could not be refreshed on this line'
      expect(await one.next()).toMatchObject({
        event: 'location',
        data: { state: 'shared_with_fix', location: { ...PARIS, refreshError } },
      })
      expect(await two.next()).toEqual({
        event: 'error',
        data: { status: 'ERROR', from_number: LINE, number: unknown, message: refreshError },
      })
      expect(await two.next()).toBeUndefined()
      expect((await watch(unknown)).status).toBe(422)
      const { follower: late, first } = await begin(known)
      expect(first.data.location).toMatchObject({ ...PARIS, refreshError })
      late.close()
    } finally {
      delete config.location_refresh
    }
    await move(known, PARIS)
    expect((await one.next())!.data.location).not.toHaveProperty('refreshError')
    one.close()
  })

  it('ends when the token is revoked or expires, and is not opened for a line outside it', async () => {
    const mint = async (body: object) => (await world.post('/v3/auth/tokens', body)).body
    const revoked = await mint({ phone_number: LINE })
    const expiring = await mint({ expires_in_seconds: 60 })
    const phone = stranger()
    const [{ follower: one }, { follower: two }] = [await begin(phone, revoked), await begin(phone, expiring)]
    await world.call('DELETE', `/v3/auth/tokens/${revoked.token_id}`)
    await expectEnd(one, 'authorization_revoked')
    await world.advance(59_000)
    for (const _ of [1, 2, 3]) expect((await two.next())!.event).toBe('')
    await world.advance(1000)
    expect((await two.next())!.event).toBe('')
    await expectEnd(two, 'authorization_revoked')
    expect((await watch(phone, expiring)).status).toBe(401)
  })

  it('ends when the key is revoked, and when the account loses the line', async () => {
    const b = await world.addAccount(`b-${engine}@example.com`, '+12025550150')
    const spare = (await world.post('/admin/keys', { account_id: b.id }, 'admin')).body
    const phone = stranger()
    const open = async (as: Who) => {
      const follower = await follow(world, pathOf(phone, '+12025550150'), as)
      expect((await follower.next())!.event).toBe('ready')
      expect((await follower.next())!.event).toBe('location')
      return follower
    }
    const [one, two] = [await open(b.live), await open(spare)]
    await world.call('DELETE', `/admin/keys/${b.live.id}`, { as: 'admin' })
    expect(await one.next()).toMatchObject({ data: { reason: 'authorization_revoked' } })
    expect(await one.next()).toBeUndefined()
    const lines = (await world.get('/admin/lines', 'admin')).body.data
    const line = lines.find((entry: Json) => entry.number === '+12025550150' && entry.world === 'live')
    await world.call('DELETE', `/admin/lines/${line.id}`, { as: 'admin' })
    expect(await two.next()).toMatchObject({ data: { reason: 'authorization_revoked' } })
    expect(await two.next()).toBeUndefined()
  })

  it('ends as worker_disconnected when the line goes away, and is not opened while it is', async () => {
    const { follower } = await begin(stranger())
    await world.setLine(LINE, { config: { fault: 'unreachable' } })
    await expectEnd(follower, 'worker_disconnected')
    const refused = await watch(stranger())
    expect(refused.status).toBe(503)
    refused.close()
    await world.setLine(LINE, { config: {} })
    const { follower: another } = await begin(stranger())
    await world.setLine(LINE, { config: { state: 'OFFLINE' } })
    await expectEnd(another, 'worker_disconnected')
    await world.setLine(LINE, { config: {} })
  })

  it('a reader that goes away leaves nothing behind', async () => {
    const { wakes } = world.app.ctx
    const { on } = wakes
    let listening = 0
    wakes.on = (topic, handler) => {
      const off = on(topic, handler)
      listening++
      return () => {
        listening--
        off()
      }
    }
    const { follower } = await begin(stranger())
    wakes.on = on
    expect(listening).toBe(2)
    follower.close()
    await expect.poll(() => listening).toBe(0)
  })

  it('ends as watch_ended when the server stops, which does not wait for it', async () => {
    const stopping = await createWorld(engine, { env: { TRUNKLINE_DRAIN_MS: '600000' } })
    const follower = await follow(stopping, pathOf(stranger()))
    await follower.next()
    await follower.next()
    await stopping.close()
    await expectEnd(follower, 'watch_ended')
  })
})

describe('a stream of events', () => {
  it('is cut off when its reader does not keep up, and keeps a bounded amount until then', () => {
    let closed = 0
    const stream = createEventStream(() => closed++)
    let sent = 0
    while (!stream.body.destroyed && sent < 10_000_000) {
      stream.event('location', { text: 'x'.repeat(1000) })
      sent += 1000
    }
    expect(sent).toBeLessThan(100_000)
    expect(stream.body.destroyed).toBe(true)
    stream.event('location', {})
    stream.end()
  })

  it('ends after what was said before, and says nothing after', async () => {
    const stream = createEventStream(() => {})
    stream.event('one', { a: 1 })
    stream.comment()
    stream.end()
    stream.event('late', {})
    let text = ''
    for await (const chunk of stream.body) text += chunk
    expect(text).toBe('event: one\ndata: {"a":1}\n\n: heartbeat\n\n')
  })
})
