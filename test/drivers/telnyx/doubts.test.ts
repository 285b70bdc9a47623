import { afterEach, describe, expect, it } from 'vitest'
import { ANNA, createTelnyxWorld, NUMBER, type TelnyxWorld } from '../../support/drivers/telnyx-world.js'
import { ENGINES } from '../../support/world.js'

const SEND = 'POST /messages'
const MINUTE = 60_000
const HOUR = 3_600_000

describe.each(ENGINES)('a send through Telnyx without an answer on %s', (engine) => {
  let on: TelnyxWorld
  afterEach(() => on.close())

  const begin = async (settings: object = {}) => {
    on = await createTelnyxWorld(engine, settings)
    on.peer.webhooks.become('vanished')
  }
  /** A send that Telnyx takes without an answer. */
  async function takenInDoubt(content: string, fields: object = {}) {
    on.peer.fault(SEND, 'cut after')
    const handle = await on.send(content, fields)
    on.peer.clear()
    return handle
  }
  const reason = async (handle: string) => (await on.world.record(handle)).error_reason
  /** A message that another program sent from the same number. */
  const alien = (text: string, fields: object = {}) =>
    on.peer.messages.add({ direction: 'outbound', from: NUMBER, to: [ANNA], text, status: 'sent', ...fields })
  /** Makes the line send without an address for reports, as a server that cannot be called does. */
  const hide = () => Object.assign(on.world.app.ctx, { publicUrl: () => '' })
  const passHours = async (hours: number) => {
    for (let quarter = 0; quarter < hours * 4; quarter++) {
      await on.world.advance(15 * MINUTE)
      await on.world.settle()
    }
  }

  it('is found in the log of webhooks, although none got through', async () => {
    await begin()
    on.peer.webhooks.become('lost')
    on.peer.fault('GET /detail_records', { status: 500 })
    on.peer.fault(SEND, 'cut after')
    const handle = await on.send('logged')
    await on.pass(MINUTE)
    expect([await on.status(handle), on.texts()]).toEqual(['SENT', ['logged']])
  })

  it('is found in the detail records by our ref', async () => {
    await begin()
    await on.send('something else')
    alien('found', { webhookUrl: 'https://other.example.com/?ref=another' })
    const handle = await takenInDoubt('found')
    await on.pass(MINUTE)
    expect([await on.status(handle), on.peer.sent().length]).toEqual(['SENT', 3])
  })

  it('is found in the detail records of yesterday', async () => {
    await begin()
    on.peer.fault('GET /detail_records', { status: 500 })
    const handle = await takenInDoubt('late')
    on.peer.fault('GET /detail_records', { status: 500 })
    await passHours(20)
    expect(await on.status(handle)).toBe('PENDING')
    on.peer.clear()
    await passHours(1)
    expect([await on.status(handle), on.texts()]).toEqual(['SENT', ['late']])
  })

  it('is not sent again while it waits in the queue, where no list shows it', async () => {
    await begin()
    on.peer.become('queued')
    const handle = await takenInDoubt('waiting')
    await passHours(4)
    expect([await on.status(handle), on.texts()]).toEqual(['PENDING', ['waiting']])
    on.peer.sent()[0]!.status = 'delivered'
    await passHours(1)
    expect([await on.status(handle), on.texts()]).toEqual(['DELIVERED', ['waiting']])
  })

  it('is sent again if Telnyx never got it, but not before four hours', async () => {
    await begin()
    on.peer.fault(SEND, 'cut before')
    const handle = await on.send('lost')
    on.peer.clear()
    await passHours(4)
    expect([await on.status(handle), on.texts()]).toEqual(['PENDING', []])
    await passHours(0.5)
    await on.pass(MINUTE)
    expect([await on.status(handle), on.texts()]).toEqual(['SENT', ['lost']])
  })

  it('asks seldom in these four hours', async () => {
    await begin()
    on.peer.fault(SEND, 'cut before')
    await on.send('lost')
    on.peer.heard.length = 0
    await on.pass(HOUR)
    const asked = on.peer.heard.filter((route) => route === 'GET /detail_records').length
    expect(asked).toBeGreaterThan(4)
    expect(asked).toBeLessThan(40)
  })

  it('is not sent again while the lists cannot be read', async () => {
    await begin()
    const handle = await takenInDoubt('dark')
    for (const route of ['GET /detail_records', 'GET /webhook_deliveries'])
      on.peer.fault(route, { status: 503 })
    await passHours(6)
    expect([await on.status(handle), on.texts()]).toEqual(['PENDING', ['dark']])
    on.peer.clear()
    await passHours(0.5)
    expect([await on.status(handle), on.texts()]).toEqual(['SENT', ['dark']])
  })

  it('is recognised by its text if Telnyx cannot call us', async () => {
    await begin()
    hide()
    alien('another text')
    const handle = await takenInDoubt('by text')
    expect(on.peer.sent().at(-1)!.webhookUrl).toBe(null)
    await on.pass(MINUTE)
    expect([await on.status(handle), on.peer.sent().length]).toEqual(['SENT', 2])
  })

  it('is not guessed among two equal texts', async () => {
    await begin()
    hide()
    const handle = await takenInDoubt('twin')
    alien('twin')
    await passHours(5)
    expect([await on.status(handle), await reason(handle)]).toEqual(['ERROR', 'outcome_unknown'])
    expect(on.texts()).toEqual(['twin', 'twin'])
  })
})
