import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { follow } from '../support/web/sse.js'
import { ADA, BOB, createWorld, DAN, ENGINES, EVE, type Json, LINE, type World } from '../support/world.js'

const path = (phone: string) => `/sim/phones/${encodeURIComponent(phone)}`

describe.each(ENGINES)('what phones look like on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  afterAll(() => world.close())

  const screen = async (phone: string, query = '') =>
    (await world.get(`${path(phone)}/inbox?limit=1000${query}`)).body.data as Json[]
  /** Whether the stream of changes says something when this happens. */
  async function tells(act: () => Promise<unknown>): Promise<boolean> {
    const stream = await follow(world, '/sim/screens')
    expect((await stream.next())?.data).toBe('open')
    await act()
    await world.advance(10_000)
    const frame = await stream.next()
    stream.close()
    return frame?.event === 'screen.changed'
  }

  it.each<[string, () => Promise<unknown>]>([
    ['a message arrives', () => world.send()],
    ['somebody writes', () => world.text(ADA, 'Hi')],
    [
      'a line types',
      () =>
        world.post('/api/send-typing-indicator', { number: ADA, from_number: LINE, max_duration_ms: 5000 }),
    ],
    ['a line reads', () => world.post('/api/mark-read', { number: ADA, from_number: LINE })],
    ['a person reads', () => world.post(`${path(ADA)}/read`, {})],
    ['a switch is turned', () => world.setPhone(BOB, { rcs: true })],
    ['somebody calls', () => world.post(`${path(ADA)}/calls`, { to: LINE })],
    ['a group is made', () => world.post('/sim/groups', { by: ADA, line: LINE, members: [DAN, EVE] })],
    ['a phone is made', () => world.post('/sim/phones', { number: '+12025550170', name: 'Finn' })],
  ])('the stream tells when %s', async (_name, act) => {
    expect(await tells(act)).toBe(true)
  })

  it('the stream tells when a line puts a tapback', async () => {
    const { message_handle } = await world.send({ content: 'For a heart' })
    await world.advance(10_000)
    const react = { from_number: LINE, message_handle, reaction: 'love' }
    expect(await tells(() => world.post('/api/send-reaction', react))).toBe(true)
    const shown = (await screen(ADA)).find((one) => one.message_handle === message_handle)
    expect(shown.reactions).toMatchObject([{ by: LINE, reaction: 'love' }])
  })

  it("says nothing of other networks' phones", async () => {
    const stream = await follow(world, '/sim/screens', 'test')
    await stream.next()
    await world.text(ADA, 'Not for the test world')
    await world.setPhone(ADA, { name: 'Ada' }, 'test')
    expect((await stream.next())?.event).toBe('screen.changed')
    stream.close()
    expect((await world.get('/sim/screens', 'admin')).status).toBe(403)
  })

  it('a text of a phone has the handle of its message, once the line knows it', async () => {
    const { id } = await world.text(ADA, 'Known soon')
    await world.settle()
    const shown = (await screen(ADA)).find((one) => one.id === id)
    expect((await world.record(shown.message_handle)).content).toBe('Known soon')
  })

  it('a tapback of a phone says what it is on', async () => {
    await world.send({ content: 'Nice?' })
    await world.advance(10_000)
    const target = (await screen(ADA)).find((one) => one.content === 'Nice?')
    const { body } = await world.post(`${path(ADA)}/messages/${target.id}/reactions`, { reaction: 'like' })
    const shown = await screen(ADA)
    expect(shown.find((one) => one.id === body.id).tapback_on).toBe(target.id)
    expect(shown.find((one) => one.id === target.id)).toMatchObject({
      tapback_on: null,
      reactions: [{ by: ADA }],
    })
  })

  it('an effect of a phone reaches the line, by iMessage only', async () => {
    const { id } = await world.text(ADA, 'Boom', { send_style: 'slam' })
    const plain = await world.text(BOB, 'Boom', { send_style: 'slam' })
    await world.settle()
    const shown = (await screen(ADA)).find((one) => one.id === id)
    expect(shown.send_style).toBe('slam')
    // Existing clients know no styles of inbound messages; Trunkline's own routes show them.
    expect((await world.record(shown.message_handle)).send_style).toBe('')
    const own = (await world.get(`/v3/messages/${shown.message_handle}`)).body.data
    expect(own.message.send_style).toBe('slam')
    expect((await screen(BOB)).find((one) => one.id === plain.id).send_style).toBe('')
    const wrong = await world.post(`${path(ADA)}/messages`, { to: LINE, content: 'x', send_style: 'bang' })
    expect([wrong.status, wrong.body.error.message]).toEqual([400, expect.stringMatching(/^send_style: /)])
  })

  it('newest: of more than the limit the newest, still oldest first', async () => {
    for (const content of ['one', 'two', 'three']) await world.text(EVE, content)
    await world.settle()
    const two = async (query: string) =>
      (await world.get(`${path(EVE)}/inbox?limit=2${query}`)).body.data.map((one: Json) => one.content)
    expect(await two('')).toEqual(['one', 'two'])
    expect(await two('&newest=true')).toEqual(['two', 'three'])
    expect((await world.get(`${path(EVE)}/inbox?newest=perhaps`)).status).toBe(400)
  })

  it('a group shows who made it, named it, joined and left', async () => {
    const [cleo, finn] = ['+12025550171', '+12025550172']
    const made = { by: ADA, line: LINE, members: [EVE, cleo], name: 'Trip' }
    const { id } = (await world.post('/sim/groups', made)).body
    const group = `/sim/groups/${id}`
    await world.call('PATCH', group, { body: { by: EVE, name: 'Trip to Rome' } })
    await world.post(`${group}/members`, { by: ADA, number: finn })
    await world.post(`${group}/leave`, { by: cleo })
    await world.settle()
    const { history } = (await world.get(group)).body
    expect(history.map(({ kind, by, value }: Json) => [kind, by, value])).toEqual([
      ['made', ADA, 'Trip'],
      ['named', EVE, 'Trip to Rome'],
      ['added', ADA, finn],
      ['left', cleo, cleo],
    ])
  })
})
