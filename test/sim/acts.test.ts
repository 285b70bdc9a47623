import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorld, ENGINES, LINE, type World } from '../support/world.js'

describe.each(ENGINES)('what people do on phones, on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  afterAll(() => world.close())
  const path = (number: string) => `/sim/phones/${encodeURIComponent(number)}`

  it('opting out and in again', async () => {
    const number = '+12025558801'
    await world.send({ number })
    await world.advance(1000)
    expect((await world.post(`${path(number)}/opt-out`, { to: LINE })).status).toBe(201)
    await world.advance(5000)
    expect(await world.send({ number })).toMatchObject({ status: 'ERROR', opted_out: true })
    await world.post(`${path(number)}/opt-out`, { to: LINE, opted_out: false })
    await world.advance(5000)
    expect(await world.send({ number })).toMatchObject({ status: 'QUEUED', opted_out: false })
    expect((await world.post(`${path(number)}/opt-out`, { to: '+12025550159' })).status).toBe(400)
    expect((await world.post(`${path(number)}/opt-out`, {})).status).toBe(400)
  })

  it('a deleted phone is gone with what it showed; another account keeps it', async () => {
    const number = '+12025558802'
    await world.post('/sim/phones', { number, name: 'Gone', imessage: false })
    await world.send({ number, content: 'Before' })
    await world.advance(1000)
    expect((await world.call('DELETE', path(number))).body).toEqual({ number, deleted: true })
    expect((await world.get(path(number))).status).toBe(404)
    expect((await world.call('DELETE', path(number))).status).toBe(404)
    await world.send({ number, content: 'After' })
    await world.advance(1000)
    expect((await world.inbox(number)).map(({ content }) => content)).toEqual(['After'])
    expect((await world.get(path(number))).body).toMatchObject({ name: '', imessage: true })
    const b = await world.addAccount(`acts-${engine}@example.com`, '+12025550153')
    await world.send({ from_number: '+12025550153', number, content: 'B' }, b.live)
    await world.advance(1000)
    expect((await world.call('DELETE', path(number))).body).toEqual({ number, deleted: true })
    expect(await world.inbox(number)).toEqual([])
    expect(await world.inbox(number, b.live)).toHaveLength(1)
  })
})
