import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  ADA,
  BOB,
  createWorld,
  ENGINES,
  type Json,
  LINE,
  SHARED_LINE,
  type Who,
  type World,
} from '../support/world.js'

const B_LINE = '+12025550171'

describe.each(ENGINES)('virtual phones among two live accounts on %s', (engine) => {
  let world: World
  let b: Who
  beforeAll(async () => {
    world = await createWorld(engine)
    const account = await world.addAccount('phones@example.com', B_LINE)
    b = account.live
    const lines = (await world.get('/admin/lines', 'admin')).body.data
    const shared = lines.find((line: Json) => line.number === SHARED_LINE && line.world === 'live')
    await world.post(`/admin/lines/${shared.id}/members`, { account_id: account.id }, 'admin')
    await world.settle()
  })
  afterAll(() => world.close())

  const phones = async (as?: Who) =>
    (await world.get('/sim/phones', as)).body.data.map((phone: Json) => phone.number)
  const send = async (fields: Json, as?: Who) => {
    const sent = await world.send(fields, as)
    await world.advance(2000)
    return (await world.status(sent.message_handle, as)).status
  }
  const texts = async (phone: string, as?: Who) =>
    (await world.inbox(phone, as)).map((message) => message.content)

  it('an account has phones of its own as soon as it has a simulated line', async () => {
    expect(await phones(b)).toEqual(await phones())
    expect(await phones(b)).toContain(ADA)
    expect(await send({ from_number: B_LINE, content: 'at once' }, b)).toBe('DELIVERED')
    expect(await texts(ADA, b)).toEqual(['at once'])
    expect(await texts(ADA)).toEqual([])
  })

  it("no account sees its neighbour's phones, also not by a number that it writes to", async () => {
    await world.post('/sim/phones', { number: '+13035550001', name: 'Secret' })
    await send({ number: '+13035550002' })
    for (const number of ['+13035550001', '+13035550002']) {
      expect(await phones(b)).not.toContain(number)
      const absent = (await world.get('/sim/phones/+13035550009', b)).body
      const foreign = await world.get(`/sim/phones/${number}`, b)
      expect([foreign.status, JSON.stringify(foreign.body).replace(number, '')]).toEqual([
        404,
        JSON.stringify(absent).replace('+13035550009', ''),
      ])
      expect((await world.call('DELETE', `/sim/phones/${number}`, { as: b })).status).toBe(404)
      expect((await world.post(`/sim/phones/${number}/read`, undefined, b)).status).toBe(404)
    }
    expect(await phones()).toContain('+13035550001')
  })

  it('no account switches a phone off, makes it refuse, or answer, for its neighbour', async () => {
    for (const settings of [{ power: false }, { refuses: true }, { imessage: false }]) {
      await world.setPhone(ADA, settings, b)
      expect(await send({ content: JSON.stringify(settings) })).toBe('DELIVERED')
    }
    await world.setPhone(BOB, { auto_reply: 'from the neighbour' }, b)
    await send({ number: BOB })
    expect((await world.arrived(LINE, BOB)).map((message) => message.content)).toEqual([])
    await world.call('DELETE', `/sim/phones/${ADA}`, { as: b })
    expect(await texts(ADA)).toHaveLength(3)
    expect((await world.get(`/sim/phones/${ADA}`)).body).toMatchObject({ power: true, refuses: false })
  })

  it('on a shared line each account writes to its own phone and sees what its own phone sent', async () => {
    const number = '+13035550003'
    await send({ from_number: SHARED_LINE, number, content: 'from A' })
    await send({ from_number: SHARED_LINE, number, content: 'from B' }, b)
    expect([await texts(number), await texts(number, b)]).toEqual([['from A'], ['from B']])
    await world.text(number, 'to the account that wrote last', { to: SHARED_LINE })
    await world.advance(1000)
    const sent = async (as?: Who) =>
      (await world.get(`/sim/phones/${number}/inbox?direction=out`, as)).body.data.length
    expect([await sent(), await sent(b)]).toEqual([1, 0])
    const typing = { from_number: SHARED_LINE, number, state: 'start' }
    expect((await world.post('/api/send-typing-indicator', typing, b)).status).toBe(200)
    const shows = async (as?: Who) => (await world.get(`/sim/phones/${number}`, as)).body.typing
    expect([await shows(), await shows(b)]).toEqual([[], [SHARED_LINE]])
  })
})
