import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSink, type Sink } from '../support/web/sink.js'
import { type Follower, type Frame, follow } from '../support/web/sse.js'
import { ADA, createWorld, ENGINES, type Json, LINE, type Who, type World } from '../support/world.js'

const PATH = '/v3/webhook-feed'

describe.each(ENGINES)('the feed of webhooks on %s', (engine) => {
  let world: World
  let sink: Sink
  beforeAll(async () => {
    world = await createWorld(engine)
    sink = await createSink()
  })
  afterAll(async () => {
    await world.close()
    await sink.close()
  })
  const next = async (feed: Follower): Promise<Frame> => {
    for (;;) {
      const frame = await feed.next()
      if (!frame) throw new Error('The feed has ended')
      if (frame.event !== '') return frame
    }
  }
  const open = async (query = '', as: Who = 'live', headers: Record<string, string> = {}) => {
    const feed = await follow(world, PATH + query, as, headers)
    expect(feed.status).toBe(200)
    expect((await feed.next())!.data).toBe('open')
    return feed
  }

  it('says byte for byte what is posted, whether or not anybody has a webhook', async () => {
    const feed = await open('?types=receive')
    await world.text(ADA, 'Nobody listens')
    const { data, id, event } = await next(feed)
    expect([event, data.sequence, data.webhook_id]).toEqual([
      'receive',
      Number(id),
      expect.stringMatching(new RegExp(`^evt_\\w[\\w-]*_${id}$`)),
    ])
    expect(JSON.parse(data.body)).toMatchObject({ content: 'Nobody listens', number: ADA })

    await world.post('/api/account/webhooks', { webhooks: [`${sink.url}/in`], type: 'receive' })
    await world.text(ADA, 'Somebody does: ünï 🎈')
    const told = (await next(feed)).data
    await world.advance(1000)
    expect(sink.received.map((post) => [post.headers['webhook-id'], post.text])).toEqual([
      [told.webhook_id, told.body],
    ])
    feed.close()
  })

  it('goes on after the last id, or from a number, with the types that were asked for', async () => {
    const feed = await open('?types=receive,contact_created')
    await world.text(ADA, 'feed 1')
    await world.send({ number: ADA, content: 'not asked for' })
    await world.advance(1000)
    const first = await next(feed)
    await world.text(ADA, 'feed 2')
    expect(JSON.parse((await next(feed)).data.body).content).toBe('feed 2')
    feed.close()
    for (const [query, headers] of [
      ['', { 'last-event-id': first.id! }],
      [`&since=${first.id}`, {}],
    ] as [string, Record<string, string>][]) {
      const again = await open(`?types=receive${query}`, 'live', headers)
      expect(JSON.parse((await next(again)).data.body).content).toBe('feed 2')
      again.close()
    }
  })

  it('says nothing of what was deleted, and nothing to others', async () => {
    const last = (await world.events()).at(-1) as Json
    const since = `?types=receive&since=${last.seq}`
    await world.text(ADA, 'to be deleted')
    await world.settle()
    const { body } = await world.get('/api/v2/messages?limit=1')
    expect(body.data[0].content).toBe('to be deleted')
    await world.call('DELETE', `/api/v2/messages/${body.data[0].message_handle}`)
    const other = await world.addAccount('feed@example.com', '+12025550177')
    const theirs = await open('?types=receive', other.live)
    await world.text(ADA, 'ours')
    await world.text(ADA, 'theirs', { to: '+12025550177' }, other.live)
    const feed = await open(since)
    expect(JSON.parse((await next(feed)).data.body).content).toBe('ours')
    expect(JSON.parse((await next(theirs)).data.body).content).toBe('theirs')
    feed.close()
    theirs.close()
  })

  it('refuses what it cannot do, and tokens that are confined to some lines', async () => {
    const token = (await world.post('/v3/auth/tokens', { phone_number: LINE })).body
    const refused = async (query: string, as: Who = 'live') => {
      const { status, body } = await world.get(PATH + query, as)
      return [status, body.error?.message]
    }
    expect(await refused('?types=odd')).toEqual([400, expect.stringMatching(/^types: there is no odd\./)])
    expect(await refused('?since=999999')).toEqual([400, expect.stringMatching(/^since: /)])
    expect(await refused('?since=soon')).toEqual([400, expect.stringMatching(/^since: /)])
    expect((await refused('', { token: token.token }))[0]).toBe(403)
    expect((await refused('', 'admin'))[0]).toBe(403)
    expect((await refused('', null))[0]).toBe(401)
  })
})
