import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorld, ENGINES, type Json, LINE, type World } from '../support/world.js'

describe.each(ENGINES)('a phone that answers by itself on %s', (engine) => {
  let world: World
  let last = 0
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  afterAll(() => world.close())

  /** A phone of its own for each test. */
  const answering = async (auto_reply: string | null, more: Json = {}) => {
    const number = `+1202555${4000 + last++}`
    expect(await world.setPhone(number, { auto_reply, ...more })).toMatchObject({ number, auto_reply })
    return number
  }
  const answersOf = async (number: string) => {
    const query = `is_outbound=false&number=${encodeURIComponent(number)}`
    return (await world.get(`/api/v2/messages?${query}`)).body.data as Json[]
  }

  it('answers each message once, by its own service', async () => {
    const number = await answering('I am out', { imessage: false })
    await world.send({ number, content: 'one' })
    await world.advance(10_000)
    expect(await answersOf(number)).toMatchObject([
      { content: 'I am out', from_number: number, to_number: LINE, service: 'SMS' },
    ])
    await Promise.all([world.send({ number, content: 'two' }), world.send({ number, content: 'three' })])
    await world.advance(10_000)
    expect(await answersOf(number)).toHaveLength(3)
    await world.restart()
    await world.advance(60_000)
    expect(await answersOf(number)).toHaveLength(3)
  })

  it('keeps its text until it is taken away, whatever else is switched', async () => {
    const number = await answering('Yes')
    const path = `/sim/phones/${encodeURIComponent(number)}`
    await world.setPhone(number, { name: 'Nora' })
    expect((await world.get(path)).body).toMatchObject({ auto_reply: 'Yes', name: 'Nora' })
    await world.setPhone(number, { auto_reply: null })
    expect((await world.get(path)).body.auto_reply).toBeNull()
    await world.send({ number })
    await world.advance(10_000)
    expect(await world.inbox(number)).toHaveLength(1)
    expect(await answersOf(number)).toEqual([])
    for (const auto_reply of ['', 7, 'x'.repeat(18_996)])
      expect((await world.call('PATCH', path, { body: { auto_reply } })).status).toBe(400)
  })

  it('answers what waited for it when it is switched on', async () => {
    const number = await answering('Back again', { power: false })
    await world.send({ number })
    await world.advance(10_000)
    expect(await answersOf(number)).toEqual([])
    await world.setPhone(number, { power: true })
    await world.advance(10_000)
    expect(await answersOf(number)).toHaveLength(1)
  })

  it('says nothing in groups', async () => {
    const numbers = [await answering('In a group'), await answering('In a group')]
    const sent = await world.post('/api/send-group-message', { numbers, from_number: LINE, content: 'All' })
    expect(sent.status).toBe(202)
    await world.advance(10_000)
    for (const number of numbers) {
      expect(await world.inbox(number)).toHaveLength(1)
      expect(await answersOf(number)).toEqual([])
    }
  })

  it('and a program that answers it, too, are stopped by the loop breaker', async () => {
    const line = await world.setLine(LINE, { loop_limit: 6 })
    const number = await answering('Who is there?')
    for (let i = 0; i < 10; i++) {
      await world.send({ number, content: `Me, ${i}` })
      await world.advance(1000)
    }
    expect((await answersOf(number)).length).toBeLessThan(5)
    const { data } = (await world.get('/admin/conversations/held', 'admin')).body
    expect(data).toMatchObject([{ line_id: line.id, conversation: number }])
  })
})
