import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { DiallingPhone } from '../../peers/smsgate/dialling.js'
import { ANNA, createPairedWorld, type PairedWorld, SIM } from '../../support/drivers/paired-world.js'
import { ENGINES } from '../../support/world.js'

const SECOND = '+12025550181'
const DAY_MS = 86_400_000

describe.each(ENGINES)('a phone that dials in, on %s', (engine) => {
  let on: PairedWorld
  let phone: DiallingPhone
  beforeEach(async () => {
    on = await createPairedWorld(engine, [SIM, SECOND])
    phone = on.phone()
    await phone.register((await on.pair()).code)
    await on.eventually(async () => expect((await on.line()).state).toBe('ONLINE'))
  })
  afterEach(() => on.close())
  const reaches = (handle: string, status: string) =>
    on.eventually(async () => expect((await on.world.record(handle)).status).toBe(status))
  const texts = () => phone.queue.aired.map(({ text }) => text)
  const arrived = async (from = ANNA, line = SIM) =>
    (await on.world.arrived(line, from)).map(({ content }) => content)

  it('a text that waits in the queue of the app is accepted, because the app knows it', async () => {
    phone.queue.hold()
    const handle = await on.send('Later')
    await reaches(handle, 'ACCEPTED')
    expect(texts()).toEqual([])
    phone.queue.become('Delivered')
    phone.queue.release()
    await reaches(handle, 'DELIVERED')
    expect(texts()).toEqual(['Later'])
  })

  it('a phone that comes back after days gets what waited, once', async () => {
    phone.offline()
    // Days at once: nothing of the phone is heard meanwhile.
    await on.world.advance(3 * DAY_MS)
    await on.eventually(async () => expect((await on.line()).state).toBe('OFFLINE'), 10_000)
    const handle = await on.send('Welcome back')
    await on.world.advance(DAY_MS)
    expect((await on.world.record(handle)).status).toBe('QUEUED')
    phone.online()
    await reaches(handle, 'SENT')
    expect(texts()).toEqual(['Welcome back'])
  })

  it('a text whose report is lost for hours is known when the phone is back, and went out once', async () => {
    phone.lose({ reports: true })
    const handle = await on.send('Where are you?')
    await on.eventually(() => expect(texts()).toEqual(['Where are you?']))
    await on.eventually(async () => expect((await on.world.record(handle)).status).toBe('PENDING'), 5000)
    phone.offline()
    await on.world.advance(6 * 3_600_000)
    phone.lose({})
    phone.online()
    await reaches(handle, 'SENT')
    expect(texts()).toEqual(['Where are you?'])
  })

  it('a text that another handset may have is not given to the new one', async () => {
    phone.lose({ reports: true })
    const handle = await on.send('Once only')
    await on.eventually(() => expect(texts()).toEqual(['Once only']))
    await on.eventually(async () => expect((await on.world.record(handle)).status).toBe('PENDING'), 5000)
    phone.offline()
    const { id } = (await on.world.get('/admin/phones', 'admin')).body.data[0]
    await on.world.advance(1000)
    const { code } = (await on.world.post(`/admin/phones/${id}/code`, {}, 'admin')).body
    const next = on.phone()
    await next.register(code)
    await on.eventually(
      async () => expect(await on.world.record(handle)).toMatchObject({ error_reason: 'outcome_unknown' }),
      5000,
    )
    expect(next.queue.aired).toEqual([])
  })

  it('a restart between the pull and the report: the text goes out once and is known', async () => {
    phone.lose({ reports: true })
    const handle = await on.send('Over the restart')
    await on.eventually(() => expect(texts()).toEqual(['Over the restart']))
    await on.world.restart()
    phone.lose({})
    await reaches(handle, 'SENT')
    expect(texts()).toEqual(['Over the restart'])
  })

  it('received texts are stored before the answer, whatever clock the phone has', async () => {
    await phone.text(ANNA, 'Hello')
    expect(await arrived()).toEqual(['Hello'])
    const row = phone.inbox.text(ANNA, 'From 1970')
    const payload = { ...phone.payloadOf(row), message: 'From 1970' }
    const key = String(phone.settings.webhooks!.signing_key)
    expect(await phone.post('sms:received', payload, key, 0)).toBe(200)
    expect(await phone.post('sms:received', payload, key, on.now() + 365 * DAY_MS)).toBe(200)
    expect(await arrived()).toEqual(['Hello', 'From 1970'])
  })

  it('an event with a wrong signature is refused, and a strange one changes nothing', async () => {
    const payload = { messageId: '1', sender: ANNA, message: 'x', receivedAt: new Date().toISOString() }
    expect(await phone.post('sms:received', payload, 'abcdefgh')).toBe(403)
    for (const bad of [{}, { messageId: 1 }, { ...payload, receivedAt: 'now' }, { ...payload, sender: null }])
      expect(await phone.post('sms:received', bad)).toBe(200)
    expect(await arrived()).toEqual([])
  })

  it('reports about texts of others, and reports that are none, change nothing', async () => {
    const handle = await on.send('Mine')
    await reaches(handle, 'SENT')
    const other = on.phone()
    await other.register((await on.pair([{ line_id: on.lineIds[1] }])).code)
    const report = (id: unknown) => [{ id, state: 'Failed', recipients: [] }]
    const ids = [
      `${on.lineIds[0]}.${handle}`,
      handle,
      `${on.lineIds[1]}.${handle}`,
      `${on.lineIds[1]}.`,
      '',
      7,
    ]
    for (const id of ids) expect((await other.call('PATCH', '/message', report(id))).status).toBe(204)
    for (const bad of [{}, 'x', [null], [[]], [{ state: 'Sent' }]])
      expect((await other.call('PATCH', '/message', bad)).status).toBe(204)
    await on.world.settle()
    expect((await on.world.record(handle)).status).toBe('SENT')
    expect(await on.world.app.ctx.db.all('select * from parked_receipts')).toEqual([])
    expect((await other.call('PATCH', '/message', Array(1001).fill(null))).status).toBe(413)
  })

  it('a phone with two SIMs is two lines', async () => {
    const { id } = (await on.world.get('/admin/phones', 'admin')).body.data[0]
    await on.world.call('DELETE', `/admin/phones/${id}`, { as: 'admin' })
    const both = on.phone()
    const lines = on.lineIds.map((line_id, i) => ({ line_id, sim: i + 1 }))
    await both.register((await on.pair(lines)).code)
    for (const i of [0, 1]) await on.eventually(async () => expect((await on.line(i)).state).toBe('ONLINE'))
    await reaches(await on.send('By the second', ANNA, SECOND), 'SENT')
    await reaches(await on.send('By the first'), 'SENT')
    expect(both.queue.aired.map(({ text, sim }) => [text, sim])).toEqual([
      ['By the second', 2],
      ['By the first', 1],
    ])
    await both.text(ANNA, 'To the second', { sim: 2 })
    expect(await arrived(ANNA, SECOND)).toEqual(['To the second'])
    expect(await arrived()).toEqual([])
  })

  it('a phone without an event stream is slow, not away, and then away', async () => {
    phone.offline()
    await on.eventually(async () => expect((await on.line()).state).toBe('DEGRADED'), 5000)
    const handle = await on.send('By and by')
    await on.eventually(() => {})
    await on.world.advance(10 * 60_000)
    expect((await on.world.record(handle)).status).toBe('QUEUED')
    await phone.pull()
    await on.eventually(() => expect(texts()).toEqual(['By and by']))
    await on.eventually(async () => expect((await on.line()).state).toBe('OFFLINE'), 60_000)
  })
})
