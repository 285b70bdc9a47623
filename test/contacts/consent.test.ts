import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { START_TEXT, STOP_TEXT } from '../../src/core/contacts/opt-out.js'
import { findLineByNumber } from '../../src/storage/lines/lines.js'
import { openDoor } from '../support/drivers/door.js'
import { ADA, createWorld, ENGINES, type Json, LINE, type World } from '../support/world.js'

describe.each(ENGINES)('consent on %s', (engine) => {
  let world: World
  let n = 0
  beforeAll(async () => {
    world = await createWorld(engine, { line: { config: { latency_ms: 0 } } })
  })
  afterAll(() => world.close())

  const someone = () => `+1202555${8000 + ++n}`
  const says = async (number: string, ...texts: string[]) => {
    for (const text of texts) {
      await world.text(number, text)
      await world.advance(1000)
    }
  }
  const shown = async (number: string) => (await world.inbox(number)).map((one: Json) => one.content)

  it('STOP is one inbound message and gets one confirmation, which the opt-out does not block', async () => {
    const number = someone()
    await says(number, 'Stop. Thank you')
    expect(await shown(number)).toEqual([STOP_TEXT])
    const { data } = (await world.get(`/api/v2/messages?number=${encodeURIComponent(number)}`)).body
    expect(data.map((one: Json) => [one.is_outbound, one.status, one.opted_out])).toEqual([
      [true, 'DELIVERED', true],
      [false, 'RECEIVED', true],
    ])
    const log = (await world.events()).filter((event) => event.subject === data[1].message_handle)
    expect(log.map((event) => event.type)).toEqual(['message.received'])
  })

  it('a STOP that is repeated gets no second one, and what is sent then is refused with 202', async () => {
    const number = someone()
    await says(number, 'STOP', 'stop!', 'Unsubscribe')
    expect(await shown(number)).toEqual([STOP_TEXT])
    const blocked = await world.post('/api/send-message', { from_number: LINE, number, content: 'But wait' })
    expect(blocked).toMatchObject({
      status: 202,
      body: { status: 'ERROR', error_code: 4002, error_reason: 'opted_out', opted_out: true },
    })
    await world.advance(1000)
    expect(await shown(number)).toEqual([STOP_TEXT])
  })

  it('START after STOP is confirmed once; without a STOP it is an ordinary word', async () => {
    const number = someone()
    await says(number, 'start', 'yes')
    expect(await shown(number)).toEqual([])
    await says(number, 'STOP', 'START', 'START')
    expect(await shown(number)).toEqual([STOP_TEXT, START_TEXT])
    expect(await world.send({ number })).toMatchObject({ status: 'QUEUED', opted_out: false })
  })

  it('several words at once are taken in their order', async () => {
    const number = someone()
    const line = (await findLineByNumber(world.app.ctx.db, 'live', LINE))!
    const door = openDoor(world.app.ctx, line)
    const say = (content: string, i: number) =>
      door.receive({ providerId: `${number}-${i}`, from: number, service: 'SMS', content, sentAt: 0 })
    await Promise.all(['STOP', 'START', 'STOP', 'START', 'START'].map(say))
    await world.advance(1000)
    expect(await shown(number)).toEqual([STOP_TEXT, START_TEXT, STOP_TEXT, START_TEXT])
    expect(await world.send({ number })).toMatchObject({ opted_out: false })
  })

  it.each(['Stop by later', "don't stop", 'The end', 'cancel my order', 'yes please'])(
    '%j is an ordinary message',
    async (text) => {
      const number = someone()
      await says(number, text)
      expect(await shown(number)).toEqual([])
      expect(await world.send({ number })).toMatchObject({ opted_out: false })
    },
  )

  it('HELP is answered when the line has words for it, also to those who opted out', async () => {
    const number = someone()
    await says(number, 'help')
    expect(await shown(number)).toEqual([])
    await world.setLine(LINE, { help_text: 'Acme: call +1 202 555 0100.' })
    await says(number, 'STOP', 'HELP?')
    expect(await shown(number)).toEqual([STOP_TEXT, 'Acme: call +1 202 555 0100.'])
    await world.setLine(LINE, { help_text: null })
  })

  it('a line may have its own words, and none at all where the carrier answers by itself', async () => {
    await world.setLine(LINE, { stop_text: 'Adieu.', start_text: 'Bonjour.' })
    const [first, second] = [someone(), someone()]
    await says(first, 'ARRET', 'START')
    expect(await shown(first)).toEqual(['Adieu.', 'Bonjour.'])
    const line = await world.setLine(LINE, { consent_replies: 'carrier', help_text: 'Help' })
    expect(line).toMatchObject({ consent_replies: 'carrier', stop_text: 'Adieu.', help_text: 'Help' })
    await says(second, 'STOP', 'HELP')
    expect(await shown(second)).toEqual([])
    expect(await world.send({ number: second })).toMatchObject({ error_code: 4002 })
    await world.setLine(LINE, {
      consent_replies: 'send',
      stop_text: null,
      start_text: null,
      help_text: null,
    })
  })

  it('settings that make no sense are refused', async () => {
    const lines = (await world.get('/admin/lines', 'admin')).body.data
    for (const body of [
      { consent_replies: 'never' },
      { stop_text: '' },
      { stop_text: 'x'.repeat(481) },
      { help_text: 7 },
      { loop_limit: -1 },
      { loop_limit: 1.5 },
    ])
      expect(
        (await world.call('PATCH', `/admin/lines/${lines[0].id}`, { as: 'admin', body })).status,
        JSON.stringify(body),
      ).toBe(400)
  })

  it('in a group STOP counts, and nobody there gets a confirmation', async () => {
    const number = someone()
    const { body } = await world.post('/api/send-group-message', {
      from_number: LINE,
      numbers: [ADA, number],
      content: 'Hello both',
    })
    await world.advance(1000)
    await world.text(number, 'STOP', { to: undefined, group_id: body.group_id })
    await world.advance(1000)
    expect(await shown(number)).toEqual(['Hello both'])
    expect(await shown(ADA)).not.toContain(STOP_TEXT)
    expect(await world.send({ number })).toMatchObject({ error_code: 4002 })
  })
})
