import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ANNA, createTelnyxWorld, NUMBER, type TelnyxWorld } from '../../support/drivers/telnyx-world.js'
import { ENGINES, type Json } from '../../support/world.js'

const BOB = '+12025558302'
const CLEO = '+12025558303'

describe.each(ENGINES)('group MMS through Telnyx on %s', (engine) => {
  let on: TelnyxWorld
  beforeEach(async () => {
    on = await createTelnyxWorld(engine)
  })
  afterEach(() => on.close())

  const post = (fields: Json) =>
    on.world.post('/api/send-group-message', { from_number: NUMBER, content: 'Hello all', ...fields })
  async function send(numbers: string[]) {
    const { body } = await post({ numbers })
    await on.world.settle()
    return { handle: body.message_handle as string, group: body.group_id as string }
  }
  const called = async () => {
    await on.peer.webhooks.called()
    await on.world.settle()
  }
  const report = async (statuses: string[], id?: string) => {
    const [row] = on.peer.sent()
    const to = row!.to.map((phone_number, i) => ({ phone_number, status: statuses[i] }))
    const payload = { ...on.peer.messages.shown(row!), to, ...(id ? { id } : {}) }
    on.peer.webhooks.call([row!.webhookUrl], 'message.finalized', payload)
    await called()
  }

  it('go to everybody at once, by SMS', async () => {
    on.peer.become('queued')
    const { handle } = await send([ANNA, BOB, CLEO])
    expect(on.peer.sent()).toMatchObject([{ to: [ANNA, BOB, CLEO], text: 'Hello all' }])
    expect(await on.world.record(handle)).toMatchObject({ status: 'ACCEPTED', service: 'SMS' })
  })

  it('are delivered once all have them, whatever id each report has', async () => {
    on.peer.become('queued')
    const { handle } = await send([ANNA, BOB])
    await report(['delivered', 'sent'], 'an-id-of-its-own')
    expect(await on.status(handle)).toBe('SENT')
    await report(['delivered', 'delivery_failed'])
    expect(await on.status(handle)).toBe('SENT')
    await report(['delivered', 'delivered'], 'another-id')
    expect(await on.status(handle)).toBe('DELIVERED')
  })

  it('fail if nobody gets them', async () => {
    on.peer.become('queued')
    const { handle } = await send([ANNA, BOB])
    await report(['delivery_failed', 'delivery_failed'])
    expect(await on.status(handle)).toBe('ERROR')
  })

  it('refuse more than eight people', async () => {
    const { handle } = await send(Array.from({ length: 9 }, (_, i) => `+1202555840${i}`))
    expect((await on.world.record(handle)).error_detail).toBe('group: Group MMS has at most 8 recipients')
    expect(on.peer.sent()).toEqual([])
  })

  it('are answered in their group', async () => {
    const { group } = await send([ANNA, BOB])
    on.peer.text(BOB, 'Hello back', { cc: [ANNA] })
    await called()
    on.peer.text(ANNA, 'To you alone')
    await called()
    const got = await on.arrived()
    expect(got.map(({ content, from_number: from, group_id: id }) => [content, from, id || null])).toEqual([
      ['Hello back', BOB, group],
      ['To you alone', ANNA, null],
    ])
  })

  it('are found if the answer to them was lost', async () => {
    on.peer.webhooks.become('vanished')
    on.peer.fault('POST /messages/group_mms', 'cut after')
    const { handle } = await send([ANNA, BOB])
    on.peer.clear()
    await on.pass(60_000)
    expect([await on.status(handle), on.peer.sent().length]).toEqual(['SENT', 1])
  })
})
