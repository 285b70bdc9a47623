import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { turns } from '../support/turns.js'
import { type Frame, follow } from '../support/web/sse.js'
import { ADA, createWorld, ENGINES, type Json, LINE, type World } from '../support/world.js'
import { accountOf, connect, expectQuietLog, streamsIn, take } from './support.js'

const PATH = '/api/v2/events'

describe.each(ENGINES)('the stream of events on %s', (engine) => {
  let world: World
  let accountId: string
  beforeAll(async () => {
    world = await createWorld(engine)
    accountId = await accountOf(world)
  })
  afterAll(() => world.close())

  const { last, open, refused, append } = streamsIn(
    () => world,
    () => accountId,
  )

  it('beats every 15 seconds, as a comment that moves the bookmark on', async () => {
    const { follower, at } = await open('?types=typing.changed')
    await world.advance(14_999)
    await world.advance(1)
    expect(await follower.next()).toEqual({ event: '', data: 'heartbeat' })
    await append({})
    await expect
      .poll(async () => {
        await world.advance(15_000)
        return await follower.next()
      })
      .toEqual({ event: '', data: 'heartbeat', id: String(at + 1) })
    await world.advance(15_000)
    expect(await follower.next()).toEqual({ event: '', data: 'heartbeat' })
    follower.close()
  })

  it('is closed after 15 minutes, with a last comment', async () => {
    const { follower } = await open()
    await world.advance(15 * 60_000 - 1)
    await world.advance(1)
    const frames: Frame[] = []
    for (let frame = await follower.next(); frame; frame = await follower.next()) frames.push(frame)
    expect(frames.map(({ event }) => event).filter((name) => name !== '')).toEqual([])
    expect(frames.map(({ data }) => data)).toEqual([
      ...Array.from({ length: 59 }, () => 'heartbeat'),
      'closed; connect again with the last id',
    ])
  })

  it('is closed when its token expires, and when it or its key is revoked', async () => {
    const mint = async (body: object) => (await world.post('/v3/auth/tokens', body)).body
    const expiring = await mint({ expires_in_seconds: 61 })
    const { follower: one } = await open('', expiring)
    await world.advance(61_000)
    const ends: Json[] = []
    for (let frame = await one.next(); frame; frame = await one.next()) ends.push(frame.data)
    expect(ends).toEqual([
      ...Array.from({ length: 4 }, () => 'heartbeat'),
      'closed; connect again with the last id',
    ])
    expect((await refused('', {}, expiring))[0]).toBe(401)

    const b = await world.addAccount(`c-${engine}@example.com`, '+12025550151')
    const revoked = await mint({})
    const { follower: two } = await open('', revoked)
    const { follower: three } = await open('', b.live)
    const { follower: stays } = await open()
    await world.call('DELETE', `/v3/auth/tokens/${revoked.token_id}`)
    await world.call('DELETE', `/admin/keys/${b.live.id}`, { as: 'admin' })
    for (const follower of [two, three]) {
      expect(await follower.next()).toEqual({ event: '', data: 'no longer authorized' })
      expect(await follower.next()).toBeUndefined()
    }
    await append({ subject: 'still here' })
    expect((await stays.next())!.data.data.contact_id).toBe('still here')
    stays.close()
  })

  it('is refused to a token that is confined to some lines, and to an admin key', async () => {
    const confined = (await world.post('/v3/auth/tokens', { phone_number: LINE })).body
    expect((await refused('', {}, confined))[0]).toBe(403)
    expect((await refused('', {}, 'admin'))[0]).toBe(403)
    expect((await refused('', {}, null))[0]).toBe(401)
  })

  it('many streams of several kinds get each of theirs once and in order while it is written', async () => {
    const b = await world.addAccount(`many-${engine}@example.com`, '+12025550163')
    const begins = await last(b.id)
    const kinds = ['', '?types=all', '?types=verification.expired', '?types=contact.created,typing.changed']
    const readers = await Promise.all(
      Array.from({ length: 40 }, async (_, i) => {
        const late = i % 3 === 0 ? `${kinds[i % 4] ? '&' : '?'}since=${begins}` : ''
        return { kind: i % 4, follower: (await open(kinds[i % 4] + late, b.live)).follower }
      }),
    )
    const got = readers.map(async ({ kind, follower }) => {
      const frames = await take(follower, kind === 2 ? 100 : kind === 3 ? 200 : 300)
      follower.close()
      return frames.map(({ data }) => data.data.contact_id ?? data.data.verification_sid)
    })
    const data = { status: 'expired', serviceSid: 'VA1' } as const
    for (let i = 0; i < 100; i++) {
      await append(
        { accountId: b.id, subject: `a${i}` },
        { accountId: b.id, subject: `v${i}`, type: 'verification.expired', data },
        { accountId: b.id, subject: `b${i}` },
      )
    }
    const wanted = Array.from({ length: 100 }, (_, i) => [`a${i}`, `v${i}`, `b${i}`]).flat()
    const lists = await Promise.all(got)
    for (const [i, list] of lists.entries()) {
      const kind = i % 4
      expect(list).toEqual(wanted.filter((id) => kind < 2 || (kind === 2) === id.startsWith('v')))
    }
  })

  it('a reader that takes nothing is cut off, and resumes where it was', async () => {
    const b = await world.addAccount(`slow-${engine}@example.com`, '+12025550164')
    const begins = await last(b.id)
    const streams = async () => (await world.app.ctx.metrics.eventStreams.get()).values[0]!.value
    await expect.poll(streams).toBe(0)
    const slow = await connect(world, b.live, String(begins))
    slow.pause()
    const big = 'x'.repeat(50_000)
    const data = { phone: ADA, firstName: big, lastName: '' }
    let written = 0
    // More than the buffers of two sockets hold.
    while ((await streams()) > 0 && written < 1000) {
      await append(...Array.from({ length: 20 }, () => ({ accountId: b.id, data })))
      written += 20
      await turns(10)
    }
    expect(written).toBeLessThan(1000)
    const got = await slow.rest()
    expect(got.length).toBeLessThan(written)
    expect(got).toEqual(got.map((_, i) => begins + 1 + i))
    const { follower } = await open('', b.live, { 'last-event-id': String(got.at(-1) ?? begins) })
    const more = await take(follower, written - got.length)
    expect(more.map(({ id }) => Number(id))).toEqual(more.map((_, i) => begins + got.length + 1 + i))
    follower.close()
  })

  it('what is removed while a reader catches up is told as a gap', async () => {
    const b = await world.addAccount(`race-${engine}@example.com`, '+12025550165')
    const begins = await last(b.id)
    const data = { phone: ADA, firstName: 'x'.repeat(50_000), lastName: '' }
    for (let i = 0; i < 20; i++)
      await append(...Array.from({ length: 20 }, () => ({ accountId: b.id, data })))
    const { follower } = await open(`?since=${begins}`, b.live)
    await take(follower, 10)
    await world.app.ctx.db.run('delete from events where account_id = $1 and seq <= $2', [b.id, begins + 390])
    const frames: Frame[] = []
    while (frames.at(-1)?.id !== String(begins + 400)) frames.push((await follower.next())!)
    const gap = frames.find(({ event }) => event === 'recovery.gap')!
    const { from, to } = gap.data.data
    expect(to).toBe(begins + 390)
    const numbers = frames.filter((frame) => frame !== gap).map(({ id }) => Number(id))
    const wanted = Array.from({ length: 390 }, (_, i) => begins + 11 + i)
    expect(numbers).toEqual(wanted.filter((n) => n < from || n > to))
    follower.close()
  })

  it('serves a thousand streams of an account, half of which come back at once, and no more', async () => {
    const b = await world.addAccount(`crowd-${engine}@example.com`, '+12025550166')
    const begins = await last(b.id)
    await append(...Array.from({ length: 50 }, () => ({ accountId: b.id })))
    const crowd = await Promise.all(
      Array.from({ length: 1000 }, (_, i) => connect(world, b.live, String(begins + (i % 2 === 0 ? 0 : 50)))),
    )
    expect(await refused('', {}, b.live)).toEqual([
      429,
      expect.stringMatching(/"streams".*1,000 open streams/),
    ])
    // Another key is not concerned.
    const { follower: other } = await open()
    other.close()
    await append({ accountId: b.id })
    const lists = await Promise.all(crowd.map((one, i) => one.until(i % 2 === 0 ? 51 : 1)))
    for (const [i, list] of lists.entries())
      expect(list).toEqual(i % 2 === 0 ? Array.from({ length: 51 }, (_, n) => begins + 1 + n) : [begins + 51])
    for (const one of crowd) one.destroy()
    await expect
      .poll(async () => {
        const reply = await follow(world, PATH, b.live)
        reply.close()
        return reply.status
      })
      .toBe(200)
  })

  it('a reader that goes away leaves nothing behind', async () => {
    const { wakes, metrics } = world.app.ctx
    await expect.poll(async () => (await metrics.eventStreams.get()).values[0]!.value).toBe(0)
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
    const { follower } = await open()
    wakes.on = on
    expect(listening).toBe(1)
    expect((await metrics.eventStreams.get()).values[0]!.value).toBe(1)
    follower.close()
    await expect.poll(() => listening).toBe(0)
  })

  it('ends with a comment when the server stops, which does not wait for it', async () => {
    const stopping = await createWorld(engine, { env: { TRUNKLINE_DRAIN_MS: '600000' } })
    const follower = await follow(stopping, PATH)
    await follower.next()
    await stopping.close()
    expect((await follower.next())!.data).toMatch(/^the server stops/)
    expect(await follower.next()).toBeUndefined()
  })

  it('writes nothing into the log of the server', () => {
    expectQuietLog(world)
  })
})
