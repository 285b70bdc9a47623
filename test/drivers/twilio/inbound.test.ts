import { afterEach, describe, expect, it } from 'vitest'
import { ANNA, createTwilioWorld, type TwilioWorld } from '../../support/drivers/twilio-world.js'
import { ENGINES } from '../../support/world.js'

const LIST = 'GET Messages'
const MINUTE = 60_000
const HOUR = 3_600_000
const FOREIGN = '+12025559999'

type BeginOptions = Parameters<typeof createTwilioWorld> extends [unknown, ...infer Rest] ? Rest : never

describe.each(ENGINES)('messages in through Twilio on %s', (engine) => {
  let on: TwilioWorld
  afterEach(() => on.close())

  async function begin(...options: BeginOptions) {
    on = await createTwilioWorld(engine, ...options)
    await on.pass(15_000)
  }
  const texts = async () => (await on.arrived()).map(({ content }) => content)
  const webhooks = async () => {
    const statuses = await on.peer.webhooks.called()
    await on.world.settle()
    return statuses
  }

  it('come by webhook at once, and once although the list has them, too', async () => {
    await begin()
    on.peer.webhooks.become('twice')
    on.peer.text(ANNA, 'quick')
    expect(await webhooks()).toEqual([200, 200])
    expect(await texts()).toEqual(['quick'])
    await on.pass(MINUTE)
    expect(await on.arrived()).toMatchObject([{ content: 'quick', from_number: ANNA, service: 'SMS' }])
  })

  it('come from the list if no webhook brings them, in order, and not from before the line', async () => {
    await begin({}, (peer, now) => {
      peer.text(ANNA, 'before', { createdAt: now - MINUTE })
      peer.webhooks.become('lost')
    })
    for (const text of ['one', 'two', 'three']) on.peer.text(ANNA, text, { createdAt: on.now() })
    await on.pass(15_000)
    expect(await texts()).toEqual(['one', 'two', 'three'])
  })

  it('come once the server is back, also after days', async () => {
    await begin()
    on.peer.webhooks.become('lost')
    on.peer.text(ANNA, 'heard')
    await on.pass(15_000)
    const missed = ['first', 'second', 'third']
    await on.world.restart(on.now() + 60 * HOUR, () => {
      for (const [i, text] of missed.entries())
        on.peer.text(ANNA, text, { createdAt: on.now() + (i + 1) * 20 * HOUR })
    })
    await on.pass(MINUTE)
    expect(await texts()).toEqual(['heard', ...missed])
  })

  it('are found although the list shows them late', async () => {
    await begin()
    on.peer.webhooks.become('lost')
    on.peer.messages.hide()
    on.peer.text(ANNA, 'late')
    await on.pass(5 * MINUTE)
    on.peer.messages.show()
    await on.pass(15_000)
    expect(await texts()).toEqual(['late'])
  })

  it('cost a read of one page, however many there have been', async () => {
    await begin()
    on.peer.webhooks.become('lost')
    for (let i = 0; i < 350; i++) on.peer.text(ANNA, `text ${i}`)
    await on.pass(30_000)
    const count = 'select count(*) as n from messages where is_outbound = 0'
    expect(Number((await on.world.app.ctx.db.all<{ n: number }>(count))[0]!.n)).toBe(350)
    await on.pass(20 * MINUTE)
    on.peer.heard.length = 0
    await on.pass(2 * MINUTE)
    const reads = on.peer.heard.filter((route) => route === LIST).length
    expect(reads).toBeGreaterThan(5)
    expect(reads).toBeLessThanOrEqual(9)
  })

  it('bring their files, fetched with credentials and kept', async () => {
    await begin()
    const files = [on.peer.file('text/csv', 'a cat'), on.peer.file('text/csv', 'a dog')]
    on.peer.text(ANNA, 'two files', { files })
    await on.pass(15_000)
    on.peer.webhooks.become('lost')
    on.peer.text(ANNA, 'from the list', { files: [on.peer.file('text/csv', 'a bird')] })
    await on.pass(15_000)
    const got = await on.arrived()
    expect(got.map(({ content }) => content)).toEqual(['two files', '', 'from the list'])
    const bodies = await Promise.all(got.map(async ({ media_url }) => (await fetch(media_url)).text()))
    expect(bodies).toEqual(['a cat', 'a dog', 'a bird'])
  })

  it('wait for a file that cannot be fetched, without delaying others, and come without it after an hour', async () => {
    await begin()
    on.peer.fault('GET Messages/:sid/Media', { status: 500 })
    on.peer.text(ANNA, 'with a file', { files: [on.peer.file('text/csv', 'a cat')] })
    const [status] = await webhooks()
    expect(status).toBeGreaterThanOrEqual(500)
    on.peer.webhooks.become('lost')
    on.peer.text(ANNA, 'after it')
    on.peer.text(FOREIGN, 'somebody else')
    await on.pass(MINUTE)
    expect(await texts()).toEqual(['somebody else'])
    await on.pass(HOUR)
    expect((await on.arrived()).map(({ content, media_url }) => [content, media_url ?? ''])).toEqual([
      ['somebody else', ''],
      ['with a file', ''],
      ['after it', ''],
    ])
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

  it('need a signature of the account with its primary or secondary token', async () => {
    await begin({ secondary_token: 'canary-second', poll_ms: HOUR })
    for (const [token, status] of [
      ['forged', 403],
      ['canary-second', 200],
      [on.peer.token, 200],
    ] as const) {
      on.peer.signWith(token)
      on.peer.text(ANNA, `signed with ${token}`)
      expect(await webhooks()).toEqual([status])
    }
    on.peer.text(ANNA, 'of another account', { params: { AccountSid: `AC${'9'.repeat(32)}` } })
    expect(await webhooks()).toEqual([403])
    const unsigned = await fetch(on.peer.phone.sms_url, {
      method: 'POST',
      body: new URLSearchParams({ A: 'b' }),
    })
    expect(unsigned.status).toBe(403)
    expect(await texts()).toEqual(['signed with canary-second', `signed with ${on.peer.token}`])
  })

  it('of another number are left to the line of that number', async () => {
    await begin()
    on.peer.text(ANNA, 'not for us', { to: FOREIGN })
    expect(await webhooks()).toEqual([200])
    await on.pass(MINUTE)
    expect(await texts()).toEqual([])
  })

  it("opt out with a word of the account's own list", async () => {
    await begin()
    on.peer.text(ANNA, 'BASTA', { params: { OptOutType: 'STOP' } })
    expect(await webhooks()).toEqual([200])
    const handle = await on.send('more')
    expect((await on.world.record(handle)).opted_out).toBe(true)
  })

  it('do not make Trunkline answer STOP, because Twilio does', async () => {
    await begin()
    on.peer.text(ANNA, 'STOP')
    expect(await webhooks()).toEqual([200])
    await on.pass(MINUTE)
    expect(on.texts()).toEqual([])
  })

  it('of a Messaging Service come, because wiring makes it use the address of the number', async () => {
    await begin({ messaging_service_sid: `MG${'b2'.repeat(16)}` })
    expect(on.peer.pool.use_inbound_webhook_on_number).toBe(true)
    on.peer.text(ANNA, 'through a service', { service: on.peer.service })
    expect(await webhooks()).toEqual([200])
    expect(await texts()).toEqual(['through a service'])
  })

  it('leave the settings of the number alone unless the line is to change them', async () => {
    await begin({ wire: false }, (peer) => {
      peer.phone.sms_url = 'https://old.example.com/sms'
    })
    expect(on.peer.phone.sms_url).toBe('https://old.example.com/sms')
    on.peer.webhooks.become('lost')
    on.peer.text(ANNA, 'by asking')
    await on.pass(15_000)
    expect(await texts()).toEqual(['by asking'])
    expect(on.peer.heard.filter((route) => route.startsWith('POST'))).toEqual([])
  })
})
