import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { SendResult } from '../../src/core/messages/outcome.js'
import { createPuppet, type Puppet } from '../support/puppet.js'
import { createWorld, ENGINES, type Json, LINE, SHARED_LINE, type World } from '../support/world.js'

const [A, B, C] = ['+12025550171', '+12025550172', '+12025550173'] as const
const ACCEPTED: SendResult = { outcome: 'accepted', providerId: 'p', status: 'SENT' }

describe.each(ENGINES)('a pool of lines on %s', (engine) => {
  let world: World
  let puppet: Puppet
  let accountId: string
  let ids: string[]
  let pool: Json
  let people = 0
  const nextPerson = () => `+1303555${String(++people).padStart(4, '0')}`
  const send = async (number: string, from_number: string = A) =>
    (await world.send({ from_number, number, content: 'Hello' })).from_number as string
  const pools = (body: object) => world.post('/admin/pools', body, 'admin')
  const lineOf = async (number: string) =>
    (await world.get('/admin/lines', 'admin')).body.data.find(
      (one: Json) => one.number === number && one.world === 'live',
    )
  async function say(number: string, state: 'ONLINE' | 'OFFLINE') {
    puppet.on(number).host.state(state)
    const stored = async () => {
      await world.settle()
      return (await lineOf(number)).state
    }
    await expect.poll(stored).toBe(state)
    world.app.ctx.directory.forget()
  }
  const others = (number: string) => [A, B, C].filter((one) => one !== number)

  beforeAll(async () => {
    puppet = createPuppet()
    world = await createWorld(engine, { drivers: [puppet] })
    accountId = (await world.get('/admin/accounts', 'admin')).body.data[0].id
    ids = []
    for (const number of [A, B, C]) {
      const line = { account_id: accountId, number, driver: 'puppet' }
      ids.push((await world.post('/admin/lines', line, 'admin')).body.id)
    }
    await world.settle()
    pool = (await pools({ name: 'phones', lines: ids })).body
  })
  beforeEach(async () => {
    puppet.acts = { send: async (message) => ({ ...ACCEPTED, providerId: `p-${message.ref}` }) as SendResult }
    for (const number of [A, B, C]) await say(number, 'ONLINE')
  })
  afterAll(() => world.close())

  it('keeps each conversation on one line, whichever line a send names', async () => {
    const used = new Set<string>()
    for (let i = 0; i < 12; i++) {
      const person = nextPerson()
      const first = await send(person)
      used.add(first)
      for (const named of [A, B, C]) expect(await send(person, named)).toBe(first)
    }
    expect([...used].sort(), 'new conversations spread over all lines').toEqual([A, B, C])
    await world.settle()
  })

  it('answers on the line that a person wrote to', async () => {
    for (const number of [A, B, C]) {
      const person = nextPerson()
      await puppet.on(number).host.receive({
        providerId: `in-${person}`,
        from: person,
        content: 'Hi',
        service: 'SMS',
        sentAt: world.app.ctx.clock.now(),
      } as never)
      expect(await send(person, A)).toBe(number)
    }
  })

  it('puts two sends at once to a new person on one line', async () => {
    const person = nextPerson()
    const lines = await Promise.all(Array.from({ length: 8 }, (_, i) => send(person, [A, B, C][i % 3])))
    expect(new Set(lines).size).toBe(1)
    await world.settle()
  })

  it('gives new conversations to the line with most room', async () => {
    await say(A, 'OFFLINE')
    await say(B, 'OFFLINE')
    const [waiting] = [nextPerson()]
    puppet.acts.send = () => new Promise(() => {})
    await world.setLine(C, { pace: 1, pace_unit: 'hour' })
    for (let i = 0; i < 4; i++) expect(await send(waiting)).toBe(C)
    await say(A, 'ONLINE')
    await say(B, 'ONLINE')
    for (let i = 0; i < 6; i++) expect([A, B]).toContain(await send(nextPerson()))
    await world.setLine(C, { pace: 0, pace_unit: 'second' })
    expect(await send(waiting), 'its conversation stays').toBe(C)
  })

  it('hands a conversation over from a line that is down, and does not call it back', async () => {
    const person = nextPerson()
    const first = await send(person)
    await world.settle()
    await say(first, 'OFFLINE')
    const second = await send(person)
    expect(others(first)).toContain(second)
    await world.settle()
    await say(first, 'ONLINE')
    expect(await send(person, first)).toBe(second)
    await world.settle()
  })

  it('hands over from a blocked line, and sends that name it leave from another', async () => {
    // Each change starts the line anew, and it is online then.
    const block = async (blocked: boolean) => {
      await world.call('PATCH', `/admin/lines/${ids[0]}`, { as: 'admin', body: { blocked } })
      await expect.poll(() => puppet.on(A).line.blockedAt !== null).toBe(blocked)
    }
    await block(true)
    expect([B, C]).toContain(await send(nextPerson(), A))
    await block(false)
    await world.settle()
  })

  it('does not hand over a conversation while a message of it may have left', async () => {
    const person = nextPerson()
    puppet.acts.send = async () => ({ outcome: 'unknown', code: 'no_answer', detail: 'No answer' })
    const first = await send(person)
    await world.settle()
    await say(first, 'OFFLINE')
    expect(await send(person)).toBe(first)
  })

  it('does not hand over conversations while all lines are down, however long the queue of theirs is', async () => {
    const people = Array.from({ length: 9 }, nextPerson)
    const places: string[] = []
    for (const person of people) places.push(await send(person))
    await world.settle()
    for (const number of [A, B, C]) await say(number, 'OFFLINE')
    const ofFirst = people.filter((_, i) => places[i] === places[0])
    for (const person of ofFirst.toReversed()) expect(await send(person)).toBe(places[0])
  })

  it('does not hand over a conversation while a message of it waits', async () => {
    const person = nextPerson()
    const first = await send(person)
    await world.settle()
    for (const number of [A, B, C]) await say(number, 'OFFLINE')
    expect(await send(person), 'no line is better').toBe(first)
    for (const number of others(first)) await say(number, 'ONLINE')
    expect(await send(person)).toBe(first)
  })

  it('keeps to the lines of a token that is confined', async () => {
    const { body } = await world.post('/v3/auth/tokens', { phone_number: B })
    const as = { token: body.token as string }
    const person = nextPerson()
    await puppet.on(A).host.receive({
      providerId: `in-${person}`,
      from: person,
      content: 'Hi',
      service: 'SMS',
      sentAt: world.app.ctx.clock.now(),
    } as never)
    expect(await send(person)).toBe(A)
    const confined = await world.send({ from_number: B, number: person, content: 'x' }, as)
    expect(confined.from_number).toBe(B)
    expect(await send(person, C), 'the conversation stays').toBe(A)
    for (let i = 0; i < 4; i++)
      expect((await world.send({ from_number: B, number: nextPerson(), content: 'x' }, as)).from_number).toBe(
        B,
      )
  })

  it('loses a line that leaves it, and ends with its lines in place', async () => {
    const person = nextPerson()
    const first = await send(person)
    await world.settle()
    const left = ids.filter((_, i) => [A, B, C][i] !== first)
    const path = `/admin/pools/${pool.id}`
    const changed = await world.call('PATCH', path, { as: 'admin', body: { lines: left, name: 'fewer' } })
    expect(changed.body).toMatchObject({ name: 'fewer', lines: [{}, {}] })
    const named = others(first)[0]!
    expect(others(first)).toContain(await send(person, named))
    expect(await send(person, first), 'a line for itself').toBe(first)
    expect((await world.call('DELETE', path, { as: 'admin' })).status).toBe(204)
    expect((await world.call('DELETE', path, { as: 'admin' })).status).toBe(404)
    expect(await send(nextPerson(), B)).toBe(B)
    expect((await world.get('/admin/pools', 'admin')).body.data).toEqual([])
    await world.settle()
  })

  it('needs dedicated lines of one account and one kind, each in one pool', async () => {
    const b = await world.addAccount('pool@example.com', '+12025550150')
    const foreign = (await lineOf('+12025550150')).id
    const says = async (lines: unknown[], name: unknown = 'x') => {
      const { status, body } = await pools({ name, lines })
      return [status, body.error?.message]
    }
    expect(await says([ids[0], ids[0]])).toEqual([400, 'lines: a line is named twice'])
    expect(await says([ids[0], foreign])).toEqual([400, expect.stringContaining('another account')])
    expect(await says([(await lineOf(SHARED_LINE)).id])).toEqual([400, expect.stringContaining('shared')])
    expect(await says([ids[0], (await lineOf(LINE)).id])).toEqual([400, expect.stringContaining('services')])
    expect(await says(['nowhere'])).toEqual([404, 'There is no line nowhere'])
    expect((await says([]))[0]).toBe(400)
    expect((await says([ids[0]], ''))[0]).toBe(400)
    expect((await says([ids[0]], 'one'))[0]).toBe(201)
    expect(await says([ids[0], ids[1]], 'two')).toEqual([409, expect.stringContaining('another pool')])
    expect(await says([ids[1]], 'one')).toEqual([409, expect.stringContaining('name')])
    const two = (await pools({ name: 'two', lines: [ids[1]] })).body
    const renamed = await world.call('PATCH', `/admin/pools/${two.id}`, {
      as: 'admin',
      body: { name: 'one' },
    })
    expect(renamed.status).toBe(409)
    expect((await world.get('/admin/pools', b.live)).status).toBe(403)
  })
})
