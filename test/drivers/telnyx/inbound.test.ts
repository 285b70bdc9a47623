import { afterEach, describe, expect, it } from 'vitest'
import { newKey } from '../../peers/telnyx/webhooks.js'
import { ANNA, createTelnyxWorld, NUMBER, type TelnyxWorld } from '../../support/drivers/telnyx-world.js'
import { ENGINES } from '../../support/world.js'

const LOG = 'GET /webhook_deliveries'
const MINUTE = 60_000
const HOUR = 3_600_000
const FOREIGN = '+12025559999'

type BeginOptions = Parameters<typeof createTelnyxWorld> extends [unknown, ...infer Rest] ? Rest : never

describe.each(ENGINES)('messages in through Telnyx on %s', (engine) => {
  let on: TelnyxWorld
  afterEach(() => on.close())

  async function begin(...options: BeginOptions) {
    on = await createTelnyxWorld(engine, ...options)
    await on.pass(15_000)
  }
  const texts = async () => (await on.arrived()).map(({ content }) => content)
  const webhooks = async () => {
    const statuses = await on.peer.webhooks.called()
    await on.world.settle()
    return statuses
  }

  it('come by webhook at once, and once although they are repeated', async () => {
    await begin()
    on.peer.webhooks.become('twice')
    on.peer.text(ANNA, 'quick')
    expect(await webhooks()).toEqual([204, 204])
    await on.pass(MINUTE)
    expect(await on.arrived()).toMatchObject([{ content: 'quick', from_number: ANNA, service: 'SMS' }])
  })

  it('come from the log if no webhook gets through, in order, and not from before the line', async () => {
    await begin({}, (peer, now) => {
      peer.profile.webhook_url = 'http://127.0.0.1:9/old'
      peer.webhooks.become('lost')
      peer.webhooks.logAt(now - 1000)
      peer.text(ANNA, 'before')
      peer.webhooks.logAt(undefined)
    })
    for (const text of ['one', 'two', 'three']) {
      await on.world.advance(1000)
      on.peer.text(ANNA, text)
    }
    await on.pass(15_000)
    expect(await texts()).toEqual(['one', 'two', 'three'])
  })

  it('come once the server is back, also after days', async () => {
    await begin()
    on.peer.text(ANNA, 'heard')
    await on.pass(15_000)
    const start = on.now()
    const missed = ['first', 'second', 'third']
    let at = 0
    await on.world.restart(start + 60 * HOUR, () => {
      on.peer.webhooks.become('lost')
      for (const text of missed) {
        at += 15 * HOUR
        on.peer.webhooks.logAt(start + at)
        on.peer.text(ANNA, text)
      }
      on.peer.webhooks.logAt(undefined)
    })
    await on.pass(MINUTE)
    expect(await texts()).toEqual(['heard', ...missed])
  })

  it('are found although the log shows them late', async () => {
    await begin()
    on.peer.webhooks.become('lost')
    on.peer.text(ANNA, 'late')
    await on.peer.webhooks.called()
    const [entry] = on.peer.webhooks.log.splice(0, 1)
    await on.pass(20 * MINUTE)
    on.peer.webhooks.log.unshift(entry!)
    await on.pass(15_000)
    expect(await texts()).toEqual(['late'])
  })

  it('are read from all pages of the log', async () => {
    await begin()
    on.peer.webhooks.become('lost')
    for (let i = 0; i < 250; i++) on.peer.text(ANNA, `text ${i}`)
    await on.pass(15_000)
    const count = 'select count(*) as n from messages where is_outbound = 0'
    expect(Number((await on.world.app.ctx.db.all<{ n: number }>(count))[0]!.n)).toBe(250)
  })

  it('bring their files, fetched without the key and kept', async () => {
    await begin()
    const media = [on.peer.file('text/csv', 'a cat'), on.peer.file('text/csv', 'a dog')]
    on.peer.text(ANNA, 'two files', { media })
    await on.pass(15_000)
    on.peer.webhooks.become('lost')
    on.peer.text(ANNA, 'from the log', { media: [on.peer.file('text/csv', 'a bird')] })
    await on.pass(15_000)
    const got = await on.arrived()
    expect(got.map(({ content }) => content)).toEqual(['two files', '', 'from the log'])
    const bodies = await Promise.all(got.map(async ({ media_url }) => (await fetch(media_url)).text()))
    expect(bodies).toEqual(['a cat', 'a dog', 'a bird'])
  })

  it('wait for a file that cannot be fetched, without delaying others, and keep its address after an hour', async () => {
    await begin()
    const file = on.peer.file('text/csv', 'a cat')
    const route = `GET ${new URL(file.url).pathname}`
    on.peer.fault(route, { status: 500 })
    on.peer.text(ANNA, 'with a file', { media: [file] })
    const [status] = await webhooks()
    expect(status).toBeGreaterThanOrEqual(500)
    on.peer.webhooks.become('lost')
    on.peer.text(ANNA, 'after it')
    on.peer.text(FOREIGN, 'somebody else')
    await on.pass(MINUTE)
    expect(await texts()).toEqual(['somebody else'])
    await on.pass(HOUR)
    expect(await texts()).toEqual(['somebody else', 'with a file', 'after it'])
  })

  it('are acknowledged only once they are stored', async () => {
    await begin()
    const { db } = on.world.app.ctx
    const { tx } = db
    Object.assign(db, { tx: () => Promise.reject(new Error('The disk is full')) })
    on.peer.text(ANNA, 'not yet')
    expect((await webhooks())[0]).toBeGreaterThanOrEqual(500)
    Object.assign(db, { tx })
    await on.pass(15_000)
    expect(await texts()).toEqual(['not yet'])
  })

  it("need a signature with the account's key that is not older than five minutes", async () => {
    await begin({ poll_ms: HOUR })
    on.peer.webhooks.signWith(newKey().privateKey)
    on.peer.text(ANNA, 'forged')
    expect(await webhooks()).toEqual([403])
    const unsigned = await fetch(on.peer.profile.webhook_url!, { method: 'POST', body: '{}' })
    expect(unsigned.status).toBe(403)
    expect(await texts()).toEqual([])
  })

  it('come from the log of Telnyx if there is no public key', async () => {
    await begin({ public_key: undefined })
    on.peer.text(ANNA, 'by asking')
    expect(await webhooks()).toEqual([403])
    await on.pass(15_000)
    expect(await texts()).toEqual(['by asking'])
  })

  it('of another number are left to the line of that number', async () => {
    await begin()
    on.peer.text(ANNA, 'not for us', { to: [FOREIGN] })
    expect(await webhooks()).toEqual([204])
    await on.pass(MINUTE)
    expect(await texts()).toEqual([])
  })

  it('reach two lines whose numbers share a profile', async () => {
    await begin()
    const { world, peer, config, accountId } = on
    const first = peer.profile.webhook_url
    peer.phone.phone_number = FOREIGN
    const body = { account_id: accountId, number: FOREIGN, driver: 'telnyx', config, pace: 0 }
    expect((await world.post('/admin/lines', body, 'admin')).status).toBe(201)
    await on.pass(15_000)
    expect(peer.profile.webhook_url).toBe(first)
    peer.text(ANNA, 'to the first')
    peer.text(ANNA, 'to the second', { to: [FOREIGN] })
    await on.pass(30_000)
    expect((await on.arrived()).map(({ content, to_number: to }) => [content, to])).toEqual([
      ['to the first', NUMBER],
      ['to the second', FOREIGN],
    ])
  })

  it('do not make Trunkline answer STOP, because Telnyx does', async () => {
    await begin()
    on.peer.text(ANNA, 'STOP')
    expect(await webhooks()).toEqual([204])
    await on.pass(MINUTE)
    expect(on.texts()).toEqual([])
  })

  it('leave the settings of the profile alone unless the line is to change them', async () => {
    await begin({ wire: false }, (peer) => {
      peer.profile.webhook_url = `${peer.url}/elsewhere`
    })
    on.peer.text(ANNA, 'by asking')
    await on.pass(15_000)
    expect(await texts()).toEqual(['by asking'])
    expect(on.peer.heard.filter((route) => route.startsWith('PATCH'))).toEqual([])
  })

  it('cost one question each time, however many there have been', async () => {
    await begin()
    for (let i = 0; i < 30; i++) on.peer.text(ANNA, `text ${i}`)
    await on.pass(30_000)
    on.peer.heard.length = 0
    await on.pass(2 * MINUTE)
    expect(on.peer.heard.filter((route) => route === LOG).length).toBeLessThanOrEqual(9)
  })
})
