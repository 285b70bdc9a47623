import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createPhoneWorld, type PhoneWorld } from '../../support/drivers/phone-world.js'
import { ENGINES } from '../../support/world.js'

const SEND = 'POST /messages'
const STATE = 'GET /messages/:id'
const HOUR = 3_600_000

describe.each(ENGINES)('texts out through a phone on %s', (engine) => {
  let on: PhoneWorld
  beforeEach(async () => {
    // Some of these tests last hours, and none of them is about received texts.
    on = await createPhoneWorld(engine, { poll_ms: HOUR })
  })
  afterEach(() => on.close())

  const status = async (handle: string) => (await on.world.record(handle)).status

  it('keeps the order, although the app by itself sends the newest first', async () => {
    on.phone.queue.hold()
    for (const text of ['one', 'two', 'three']) await on.send(text)
    on.phone.queue.release()
    expect(on.aired()).toEqual(['one', 'two', 'three'])
    expect(on.phone.settings.webhooks.internet_required).toBe(false)
  })

  it('uses the handle as the id, so that a second try is the same text', async () => {
    on.phone.fault(SEND, 'cut after')
    const handle = await on.send('once')
    // The phone answers about nothing: the doubt stays.
    on.phone.fault(STATE, 500)
    await on.pass(60_000)
    expect(await status(handle)).toBe('PENDING')
    on.phone.clear()
    await on.pass(60_000)
    expect([...on.phone.queue.rows.keys()]).toEqual([handle])
    expect([await status(handle), on.aired()]).toEqual(['SENT', ['once']])
  })

  it('sends again what the phone never got', async () => {
    on.phone.fault(SEND, 'cut before')
    const handle = await on.send('lost')
    on.phone.clear()
    await on.pass(30_000)
    expect([await status(handle), on.aired()]).toEqual(['SENT', ['lost']])
  })

  it('believes no "not found" of a phone that may have forgotten', async () => {
    on.phone.fault(SEND, 'cut after')
    const handle = await on.send('long ago')
    on.phone.fault(STATE, 500)
    await on.pass(13 * HOUR)
    on.phone.queue.rows.clear()
    on.phone.clear()
    await on.pass(60_000)
    expect((await on.world.record(handle)).error_reason).toBe('outcome_unknown')
    expect(on.aired()).toEqual(['long ago'])
  })

  it('believes no "not found" of something else at that address', async () => {
    on.phone.fault(SEND, 'cut after')
    const handle = await on.send('proxied')
    on.phone.fault(STATE, 404)
    on.phone.fault('GET /health', 'html')
    await on.pass(60_000)
    expect([await status(handle), on.aired()]).toEqual(['PENDING', ['proxied']])
  })

  it('takes a page instead of an answer as no answer', async () => {
    on.phone.fault(SEND, 'html')
    const handle = await on.send('hotel network')
    expect(await status(handle)).toBe('PENDING')
    on.phone.clear()
    await on.pass(30_000)
    expect([await status(handle), on.aired()]).toEqual(['SENT', ['hotel network']])
  })

  it('shows delivery, and a failure after it changes nothing', async () => {
    on.phone.queue.become('Delivered')
    const handle = await on.send('report')
    await on.pass(5000)
    expect(await status(handle)).toBe('DELIVERED')
    on.phone.queue.set(on.phone.queue.rows.get(handle)!, 'Failed', 'Delivery result: 0')
    await on.pass(60_000)
    expect(await status(handle)).toBe('DELIVERED')
  })

  it('waits with a text that Android keeps to itself', async () => {
    on.phone.queue.become('Processed')
    const handle = await on.send('hanging')
    await on.pass(2 * HOUR)
    expect(await status(handle)).toBe('ACCEPTED')
    on.phone.queue.set(on.phone.queue.rows.get(handle)!, 'Sent')
    await on.pass(HOUR)
    expect(await status(handle)).toBe('SENT')
  })

  it.each([
    ['RESULT_ERROR_RADIO_OFF', 'radio_off: The phone is in flight mode'],
    ['RESULT_RIL_SIM_ABSENT', 'no_sim: The phone has no SIM card'],
    [
      'RESULT_ERROR_LIMIT_EXCEEDED',
      'rate_limited: Android limits how many texts an app may send; lower the pace',
    ],
  ])('explains %s, and the line says it until a text leaves', async (reason, words) => {
    on.phone.queue.become({ error: reason })
    const handle = await on.send('fails')
    await on.pass(5000)
    expect(await on.world.record(handle)).toMatchObject({ status: 'ERROR', error_detail: words })
    expect((await on.line()).state).toBe('DEGRADED')
    on.phone.queue.become('Sent')
    await on.send('leaves')
    await on.pass(5000)
    expect((await on.line()).state).toBe('ONLINE')
  })

  it('explains a text that was cancelled on the phone', async () => {
    on.phone.queue.hold()
    const handle = await on.send('stop it')
    on.phone.queue.set(on.phone.queue.rows.get(handle)!, 'Cancelled')
    await on.pass(5000)
    expect((await on.world.record(handle)).error_detail).toBe(
      'cancelled: The message was cancelled on the phone',
    )
  })

  it('holds its texts while the phone rejects the password, and sends them with the right one', async () => {
    const change = (password: string) =>
      on.world.call('PATCH', `/admin/lines/${on.lineId}`, {
        as: 'admin',
        body: { config: { ...on.config, password } },
      })
    await change('wrong')
    await on.pass(5000)
    const handle = await on.send('patient')
    await on.pass(HOUR)
    expect((await on.line()).state_detail).toBe(
      'The phone rejects the user name or password. Copy both from the app, under Local Server.',
    )
    expect(await status(handle)).toBe('QUEUED')
    await change(on.config.password)
    await on.pass(60_000)
    expect([await status(handle), on.aired()]).toEqual(['SENT', ['patient']])
  })

  it('is one text for us when the phone dies in the middle and sends it again', async () => {
    on.phone.queue.hold()
    const handle = await on.send('twice on air')
    on.phone.queue.crashAfterAiring(handle)
    on.phone.queue.release()
    await on.pass(5000)
    expect(on.aired()).toEqual(['twice on air', 'twice on air'])
    expect([await status(handle), on.phone.queue.rows.size]).toEqual(['SENT', 1])
  })

  it('goes on asking about its texts after a restart', async () => {
    const handle = await on.send('before')
    await on.world.restart()
    on.phone.queue.set(on.phone.queue.rows.get(handle)!, 'Delivered')
    await on.pass(10_000)
    expect(await status(handle)).toBe('DELIVERED')
  })
})
