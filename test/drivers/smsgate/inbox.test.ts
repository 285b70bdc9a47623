import { afterEach, describe, expect, it } from 'vitest'
import { ANNA, createPhoneWorld, type PhoneWorld, SIM } from '../../support/drivers/phone-world.js'
import { ENGINES, type Json } from '../../support/world.js'

const HOUR = 3_600_000

type BeginOptions = Parameters<typeof createPhoneWorld> extends [unknown, ...infer Rest] ? Rest : never

describe.each(ENGINES)('texts in through a phone on %s', (engine) => {
  let on: PhoneWorld
  afterEach(() => on.close())

  async function begin(...options: BeginOptions) {
    on = await createPhoneWorld(engine, ...options)
    await on.pass(5000)
  }
  const arrived = async (): Promise<Json[]> =>
    (await on.world.get('/api/v2/messages?is_outbound=false&order_by=createdAt&order_direction=asc')).body
      .data
  const texts = async () => (await arrived()).map(({ from_number, content }) => [from_number, content])

  it('brings what comes, in order, and nothing from before the line', async () => {
    await begin({}, (phone, now) => void phone.inbox.text(ANNA, 'before', { at: now - HOUR }))
    on.phone.inbox.text(ANNA, 'one')
    on.phone.inbox.text(ANNA, 'two', { at: on.now() + 1000 })
    await on.pass(5000)
    expect(await texts()).toEqual([
      [ANNA, 'one'],
      [ANNA, 'two'],
    ])
  })

  it('finds a text that the network held for hours', async () => {
    await begin()
    on.phone.inbox.text(ANNA, 'new')
    await on.pass(5000)
    on.phone.inbox.text(ANNA, 'late', { at: on.now() - 20 * HOUR })
    await on.pass(5000)
    expect(await texts()).toEqual([
      [ANNA, 'new'],
      [ANNA, 'late'],
    ])
  })

  it('brings what came while the server was away, once', async () => {
    await begin()
    on.phone.inbox.text(ANNA, 'heard')
    await on.pass(5000)
    await on.world.restart(undefined, () => void on.phone.inbox.text(ANNA, 'missed'))
    await on.pass(10_000)
    expect(await texts()).toEqual([
      [ANNA, 'heard'],
      [ANNA, 'missed'],
    ])
  })

  it('reads hundreds that came at once', async () => {
    await begin()
    const all = Array.from({ length: 120 }, (_, i) => `text ${i}`)
    for (const [i, text] of all.entries()) on.phone.inbox.text(ANNA, text, { at: on.now() + i })
    await on.pass(10_000)
    const ids = await on.world.app.ctx.db.all<{ content: string }>(
      'select content from messages where is_outbound = 0 order by id',
    )
    expect(ids.map(({ content }) => content)).toEqual(all)
  })

  it('adds the country to numbers of its own country, and leaves names and short codes', async () => {
    await begin()
    const senders = ['2025558202', '(202) 555-8203', 'MyBank', '22000']
    for (const [i, sender] of senders.entries()) on.phone.inbox.text(sender, 'hi', { at: on.now() + i })
    await on.pass(5000)
    expect((await texts()).map(([from]) => from)).toEqual(['+12025558202', '+12025558203', 'MyBank', '22000'])
  })

  it('leaves texts of the other SIM to the other line', async () => {
    await begin({ sim: 2 }, (phone) => phone.setSims([{ simNumber: 1 }, { simNumber: 2 }]))
    on.phone.inbox.text(ANNA, 'first', { sim: 1 })
    on.phone.inbox.text(ANNA, 'second', { sim: 2 })
    on.phone.inbox.text(ANNA, 'unknown', { sim: null })
    await on.pass(5000)
    expect(await texts()).toEqual([[ANNA, 'second']])
  })

  it('reads the dates of an old phone west of Greenwich', async () => {
    await begin()
    on.phone.beWeird()
    on.phone.inbox.text(ANNA, 'from the west')
    await on.pass(5000)
    expect(await texts()).toEqual([[ANNA, 'from the west']])
  })

  it('brings the files of an MMS, and not its layout', async () => {
    await begin()
    const file = (partId: number, name: string, contentType: string) => ({
      partId,
      name,
      contentType,
      bytes: Buffer.from(`bytes of ${name}`),
    })
    on.phone.inbox.mms(ANNA, '', [
      file(1, 'layout.smil', 'application/smil'),
      file(2, 'cat.txt', 'text/csv'),
      file(3, 'dog.txt', 'text/csv'),
    ])
    await on.pass(5000)
    const got = await arrived()
    expect(got.map(({ content }) => content)).toEqual(['', ''])
    const bodies = await Promise.all(got.map(async ({ media_url }) => (await fetch(media_url)).text()))
    expect(bodies).toEqual(['bytes of cat.txt', 'bytes of dog.txt'])
  })

  it('hears of a text at once when the phone can call, and believes nothing that a call says', async () => {
    await begin({ poll_ms: HOUR })
    expect(new Set([...on.phone.webhooks.values()].map(({ event }) => event)).size).toBe(6)
    on.phone.inbox.text(ANNA, 'quick')
    on.phone.emit('sms:received', { messageId: 'abc', message: 'forged', sender: SIM, receivedAt: 'now' })
    expect(await on.phone.called()).toEqual([200])
    await on.world.settle()
    expect(await texts()).toEqual([[ANNA, 'quick']])
  })

  it('answers a call only once the text is stored', async () => {
    await begin({ poll_ms: HOUR })
    on.phone.fault('GET /inbox', 500)
    on.phone.inbox.text(ANNA, 'not yet')
    on.phone.emit('sms:received', {})
    const [status] = await on.phone.called()
    expect(status).toBeGreaterThanOrEqual(500)
    on.phone.clear()
    on.phone.emit('sms:received', {})
    expect(await on.phone.called()).toEqual([200])
    expect(await texts()).toEqual([[ANNA, 'not yet']])
  })
})
