import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { formOf, upload } from '../../media/support.js'
import { ANNA, createTwilioWorld, NUMBER, type TwilioWorld } from '../../support/drivers/twilio-world.js'
import { PNG } from '../../support/files.js'
import { ENGINES } from '../../support/world.js'

const SEND = 'POST Messages'
const LIST = 'GET Messages'
const MINUTE = 60_000

/** Twilio returns nothing of ours with a message, and its callbacks may get lost. */
describe.each(ENGINES)('a send through Twilio without an answer on %s', (engine) => {
  let on: TwilioWorld
  beforeEach(async () => {
    on = await createTwilioWorld(engine)
    on.peer.webhooks.become('lost')
  })
  afterEach(() => on.close())

  /** A send that Twilio takes without an answer. */
  async function takenInDoubt(content: string, fields: object = {}) {
    on.peer.fault(SEND, 'cut after')
    const handle = await on.send(content, fields)
    on.peer.clear()
    return handle
  }
  const reason = async (handle: string) => (await on.world.record(handle)).error_reason
  /** A message that another program sent from the same number. */
  const alien = (body: string) =>
    on.peer.messages.add({ direction: 'outbound-api', from: NUMBER, to: ANNA, body })

  it('is found by recipient, text and time', async () => {
    await on.send('something else')
    const handle = await takenInDoubt('found')
    await on.pass(MINUTE)
    expect([await on.status(handle), on.texts()]).toEqual(['SENT', ['something else', 'found']])
  })

  it('is found while it waits at Twilio and has no sending day', async () => {
    on.peer.become('queued')
    const handle = await takenInDoubt('waiting')
    await on.pass(MINUTE)
    expect([await on.status(handle), on.texts()]).toEqual(['ACCEPTED', ['waiting']])
  })

  it('is found with its file, which Twilio has not fetched yet', async () => {
    on.peer.become('queued')
    const { media_url } = (await upload(on.world, formOf(PNG))).body
    const handle = await takenInDoubt('picture', { media_url })
    await on.pass(MINUTE)
    expect([await on.status(handle), on.texts()]).toEqual(['ACCEPTED', ['picture']])
  })

  it('is found behind the note of a trial account', async () => {
    const handle = await takenInDoubt('trial')
    on.peer.sent()[0]!.body = 'Sent from your Twilio trial account - trial'
    await on.pass(3 * MINUTE)
    expect([await on.status(handle), on.peer.sent().length]).toEqual(['SENT', 1])
  })

  it('is sent again if Twilio never got it, but not before the list can be believed', async () => {
    on.peer.fault(SEND, 'cut before')
    const handle = await on.send('lost')
    on.peer.clear()
    await on.pass(MINUTE)
    expect([await on.status(handle), on.texts()]).toEqual(['PENDING', []])
    await on.pass(2 * MINUTE)
    expect(on.texts()).toEqual(['lost'])
    await on.pass(2 * MINUTE)
    expect([await on.status(handle), on.texts()]).toEqual(['SENT', ['lost']])
  })

  it('is not sent again while the list lags behind', async () => {
    on.peer.messages.hide()
    const handle = await takenInDoubt('hidden')
    await on.pass(MINUTE)
    on.peer.messages.show()
    await on.pass(3 * MINUTE)
    expect([await on.status(handle), on.texts()]).toEqual(['SENT', ['hidden']])
  })

  it('is not sent again while the list cannot be read', async () => {
    on.peer.fault(SEND, 'cut after')
    on.peer.fault(LIST, { status: 503, code: 20503 })
    const handle = await on.send('dark')
    await on.pass(10 * MINUTE)
    expect([await on.status(handle), on.texts()]).toEqual(['PENDING', ['dark']])
    on.peer.clear()
    await on.pass(MINUTE)
    expect([await on.status(handle), on.texts()]).toEqual(['SENT', ['dark']])
  })

  it('is not guessed among two equal texts; a late callback still settles it', async () => {
    const handle = await takenInDoubt('twin')
    alien('twin')
    await on.pass(3 * MINUTE)
    expect([await on.status(handle), await reason(handle)]).toEqual(['ERROR', 'outcome_unknown'])
    on.peer.webhooks.become('once')
    on.peer.set(on.peer.sent()[0]!, 'delivered')
    expect(await on.peer.webhooks.called()).toEqual([204])
    expect([await on.status(handle), on.texts()]).toEqual(['DELIVERED', ['twin', 'twin']])
  })

  it('is not sent again if another text in the list might be it', async () => {
    on.peer.fault(SEND, 'cut before')
    const handle = await on.send('“quoted”')
    on.peer.clear()
    alien('"quoted"')
    await on.pass(4 * MINUTE)
    expect([await reason(handle), on.texts()]).toEqual(['outcome_unknown', ['"quoted"']])
  })

  it('leaves out what belongs to other sends, and what is older', async () => {
    alien('same')
    await on.pass(5 * MINUTE)
    const first = await on.send('same')
    on.peer.fault(SEND, 'cut before')
    const second = await on.send('same again')
    on.peer.clear()
    await on.pass(4 * MINUTE)
    expect([await on.status(first), await on.status(second)]).toEqual(['SENT', 'SENT'])
    expect(on.texts()).toEqual(['same', 'same', 'same again'])
  })

  it('is found on a later page', async () => {
    const handle = await takenInDoubt('deep')
    for (let i = 0; i < 450; i++) alien(`other ${i}`)
    await on.pass(MINUTE)
    expect(await on.status(handle)).toBe('SENT')
  })
})
