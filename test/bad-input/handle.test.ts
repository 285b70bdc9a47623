import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BOB, createWorld, ENGINES, type World } from '../support/world.js'

describe.each(ENGINES)('messages by handle on %s', (engine) => {
  let world: World
  let ada: string
  let bob: string
  beforeAll(async () => {
    world = await createWorld(engine)
    ada = (await world.send({ content: 'ada' })).message_handle
    bob = (await world.send({ content: 'bob', number: BOB })).message_handle
    await world.advance(1000)
  })
  afterAll(() => world.close())

  const both = (handle: string) => [
    `/api/v2/messages/${handle}`,
    `/api/status?handle=${handle}`,
    `/api/status?message_handle=${handle}`,
  ]
  it.each([
    'nothing',
    '00000000-0000-4000-8000-000000000000',
    '0',
    '-1',
    '%25',
    '*',
    '%',
    "'%20or%20''%3D'",
    '1%3Bdrop%20table%20messages',
    '%2B12025550101',
    '+12025550101',
    '%2012025550101',
    'ada%40example.com',
    '%F0%9F%98%80',
    'null',
    'undefined',
    '__proto__',
    'x'.repeat(512),
  ])('%s is not there', async (handle) => {
    for (const path of handle === '%' ? both(handle).slice(1) : both(handle)) {
      const reply = await world.get(path)
      expect(reply.status).toBe(404)
      expect(reply.body).toMatchObject({
        status: 'ERROR',
        message: 'There is no message with this handle',
        error_code: 4000,
      })
    }
  })

  it('part of a handle, or one in the other case, is another handle', async () => {
    for (const handle of [ada.slice(0, -1), `${ada} `, ada.toUpperCase(), `${ada}%`]) {
      for (const path of both(encodeURIComponent(handle))) expect((await world.get(path)).status).toBe(404)
    }
  })

  it.each(['/api/status', '/api/status?handle=', '/api/status?message_handle=', '/api/status?x=1'])(
    '%s lacks it',
    async (path) => {
      expect(await world.get(path)).toMatchObject({
        status: 400,
        body: { message: 'missing required parameter: handle' },
      })
    },
  )

  it('one given twice, or of 10 KB, is refused or unknown', async () => {
    expect((await world.get(`/api/status?handle=${ada}&handle=${bob}`)).status).toBe(400)
    expect((await world.get(`/api/status?handle=${'x'.repeat(10_000)}`)).status).toBe(404)
    expect((await world.get(`/api/v2/messages/${'x'.repeat(10_000)}`)).status).toBe(414)
  })

  it('both names say the same, and the newer one wins', async () => {
    expect((await world.get(`/api/status?message_handle=${ada}`)).body.content).toBe('ada')
    expect((await world.get(`/api/status?handle=${bob}&message_handle=${ada}`)).body.content).toBe('bob')
  })
})
