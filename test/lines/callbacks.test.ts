import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type App, createApp } from '../../src/app.js'
import { createClock } from '../../src/base/clock.js'
import { LineFault } from '../../src/core/lines/fault.js'
import type { Runner } from '../../src/worker/lines/runner.js'
import { createPuppet, type Puppet } from '../support/puppet.js'
import { createWorld, ENGINES, type Json, START, type World } from '../support/world.js'

const [FIRST, SECOND] = ['+12025550171', '+12025550172']

describe.each(ENGINES)('callbacks of carriers on %s', (engine) => {
  let world: World
  let puppet: Puppet
  const lines: Record<string, Json> = {}
  beforeAll(async () => {
    puppet = createPuppet()
    world = await createWorld(engine, { drivers: [puppet] })
    const { id } = (await world.post('/admin/accounts', { email: 'lines@example.com' }, 'admin')).body
    for (const number of [FIRST, SECOND])
      lines[number] = (
        await world.post('/admin/lines', { account_id: id, number, driver: 'puppet' }, 'admin')
      ).body
    await world.settle()
  })
  beforeEach(() => {
    puppet.called.length = 0
    puppet.acts = {}
  })
  afterAll(() => world.close())

  const address = (number = FIRST) => puppet.on(number).host.callbackUrl()
  const call = (url: string, init: RequestInit = {}) => fetch(url, { method: 'POST', ...init })

  it('reach the driver of their line as they came, whatever they are', async () => {
    const body = Buffer.from([0, 255, 123, 10])
    const reply = await call(`${address()}?a=1&a=2&b=&c=%00`, {
      body,
      headers: { 'content-type': 'application/x-unheard-of', 'x-signature': 'abc' },
    })
    expect([reply.status, await reply.json()]).toEqual([200, { ok: true }])
    expect(puppet.called).toMatchObject([
      {
        method: 'POST',
        path: '?a=1&a=2&b=&c=%00',
        headers: { 'content-type': 'application/x-unheard-of', 'x-signature': 'abc' },
        body: body.toString('base64'),
      },
    ])
  })

  it.each([
    ['POST', '', 'application/json', '{not json'],
    ['POST', '', 'application/json', ''],
    ['POST', '/', 'application/x-www-form-urlencoded', 'a=b&a=c'],
    ['POST', '/status/x%2Fy', 'multipart/form-data; boundary=x', '--x--'],
    ['PUT', '', 'text/xml', '<a/>'],
    ['POST', '', undefined, 'nothing said'],
    ['GET', '?from=%2B1202&text=', undefined, undefined],
  ])('may be a %s to %j with %s', async (method, more, type, body) => {
    const reply = await call(`${address()}${more}`, {
      method,
      ...(body === undefined ? {} : { body: Buffer.from(body) }),
      headers: type ? { 'content-type': type } : {},
    })
    expect(reply.status).toBe(200)
    expect(puppet.called).toMatchObject([
      { method, path: more, body: Buffer.from(body ?? '').toString('base64') },
    ])
  })

  it('are answered as the driver says: a status, JSON, a text of its own kind, or nothing', async () => {
    const said = async (answer: Json) => {
      puppet.acts.callback = async () => answer
      const reply = await call(address())
      return [reply.status, reply.headers.get('content-type'), await reply.text()]
    }
    expect(await said({ status: 403, body: { no: 1 } })).toEqual([
      403,
      'application/json; charset=utf-8',
      '{"no":1}',
    ])
    expect(await said({ status: 200, body: 'OK' })).toEqual([200, 'text/plain; charset=utf-8', 'OK'])
    expect(await said({ status: 200, body: '<Response/>', contentType: 'text/xml' })).toEqual([
      200,
      expect.stringMatching(/^text\/xml/),
      '<Response/>',
    ])
    expect(await said({ status: 204 })).toEqual([204, null, ''])
    expect(await said({ status: 200 })).toEqual([200, 'application/json; charset=utf-8', '{}'])
    expect(await said({ status: 200, body: [1] })).toMatchObject([200, {}, '[1]'])
    for (const nonsense of [undefined, null, {}, { status: 99 }, { status: '200' }, { status: 1000 }])
      expect((await said(nonsense))[0]).toBe(503)
  })

  it('look like an unknown address when the token is wrong', async () => {
    const right = at(address())
    const unknown = await world.post('/callbacks', {}, null)
    expect(unknown.status).toBe(404)
    const [line, token] = right.split('/').slice(2) as [string, string]
    for (const path of [
      `/callbacks/${line}/${token.slice(0, -1)}`,
      `/callbacks/${line}/${token}x`,
      `/callbacks/${line}/${encodeURIComponent(token).replace(/./, (c) => `%${c.charCodeAt(0).toString(16)}`)}`,
      `/callbacks/${line}/x`,
      `/callbacks/${line}/x/y`,
      `/callbacks/${line}/%00`,
      `/callbacks/${crypto.randomUUID()}/${token}`,
      `/callbacks/${at(address(SECOND)).split('/')[2]}/${token}`,
    ]) {
      const reply = await world.post(path, {}, null)
      expect([path, reply.status, reply.body]).toEqual([path, 404, unknown.body])
    }
    expect(puppet.called).toEqual([])
  })

  it('of a stranger are not read', async () => {
    const reply = await call(`${address()}x`, { body: Buffer.alloc((4 << 20) + 1) }).catch(() => undefined)
    // Cut off while it still talks, or told: never too large, which only a true address is.
    if (reply) expect(reply.status).toBe(404)
  })

  it('may be 4 MB and not a byte more', async () => {
    expect((await call(address(), { body: Buffer.alloc(4 << 20) })).status).toBe(200)
    expect(puppet.called[0]!.body.length).toBe(Math.ceil((4 << 20) / 3) * 4)
    const large = await call(address(), { body: Buffer.alloc((4 << 20) + 1) })
    expect(large.status).toBe(413)
    expect(puppet.called).toHaveLength(1)
  })

  it('are to come again when the driver fails or cannot', async () => {
    puppet.acts.callback = async () => {
      throw new Error('broken')
    }
    expect((await call(address())).status).toBe(503)
    puppet.acts.callback = async () => {
      throw new LineFault('unreachable', 'Not now')
    }
    const reply = await call(address())
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '2'])
    puppet.acts.callback = async () => {
      throw new LineFault('nonsense' as 'refused', 'What?')
    }
    expect((await call(address())).status).toBe(503)
  })

  it('are taken while the line counts as offline: the carrier has found us', async () => {
    puppet.on(FIRST).host.state('OFFLINE', 'no way out')
    await world.settle()
    expect((await call(address())).status).toBe(200)
    puppet.on(FIRST).host.state('ONLINE')
    await world.settle()
  })

  it('leave their token neither in the log nor in the metrics', async () => {
    const token = at(address()).split('/')[3]!
    await call(address())
    await call(`${address()}/more?x=${token}`)
    puppet.acts.callback = async () => {
      throw new Error('broken')
    }
    await call(address())
    const metrics = await (await fetch(`${world.app.url()}/metrics`)).text()
    expect(metrics).toContain('/callbacks/:line/:token')
    expect(metrics).not.toContain(token)
    expect(world.logs.length).toBeGreaterThan(0)
    expect(world.logs.filter((line) => line.includes(token))).toEqual([])
  })

  it('are to come again while nobody drives the line', async () => {
    const url = address(SECOND)
    // As in the moment between two drivers of it.
    const { lines: desk } = world.app.ctx
    const get = desk.get
    desk.get = () => undefined
    try {
      if (engine === 'sqlite') expect((await call(url)).status).toBe(503)
    } finally {
      desk.get = get
    }
    await world.call('DELETE', `/admin/lines/${lines[SECOND].id}`, { as: 'admin' })
    await world.settle()
    expect((await call(url)).status).toBe(404)
  })
})

describe.skipIf(!ENGINES.includes('postgres'))('callbacks at two processes', () => {
  it('reach the one that drives the line, wherever they arrive', async () => {
    const [here, there] = [createPuppet(), createPuppet()]
    const world = await createWorld('postgres', {
      drivers: [here],
      env: { TRUNKLINE_LEASE_MS: '1000', LOG_LEVEL: 'silent' },
    })
    let other: App | undefined
    try {
      const { id } = (await world.post('/admin/accounts', { email: 'lines@example.com' }, 'admin')).body
      await world.post('/admin/lines', { account_id: id, number: FIRST, driver: 'puppet' }, 'admin')
      await world.settle()
      const path = at(here.on(FIRST).host.callbackUrl())
      other = await createApp(world.config, { drivers: [there], clock: createClock(START) })
      await other.start()
      const large = Buffer.alloc(1 << 20, 7)
      for (const app of [world.app, other]) {
        const reply = await fetch(`${app.url()}${path}?x=1`, { method: 'POST', body: large })
        expect([reply.status, await reply.json()]).toEqual([200, { ok: true }])
        // Its own token is good at the other one, too; a wrong one at neither.
        expect((await fetch(`${app.url()}${path}x`, { method: 'POST' })).status).toBe(404)
      }
      // The line may change hands between the two.
      const called = [...here.called, ...there.called]
      const whole = ['?x=1', Math.ceil((1 << 20) / 3) * 4]
      expect(called.map((call) => [call.path, call.body.length])).toEqual([whole, whole])
    } finally {
      await other?.stop()
      await world.close()
    }
  })

  it('are brought to it once, however long it takes and however often it looks what there is to do', async () => {
    const [here, there] = [createPuppet(), createPuppet()]
    const world = await createWorld('postgres', { drivers: [here] })
    let other: App | undefined
    try {
      const { id } = (await world.post('/admin/accounts', { email: 'lines@example.com' }, 'admin')).body
      const line = { account_id: id, number: FIRST, driver: 'puppet' }
      const { id: lineId } = (await world.post('/admin/lines', line, 'admin')).body
      await world.settle()
      const path = at(here.on(FIRST).host.callbackUrl())
      // The second process drives no line: the first has them all.
      other = await createApp(world.config, { drivers: [there], clock: createClock(START) })
      await other.server.listen({ host: '127.0.0.1', port: 0 })
      const runner = world.app.ctx.lines.get(lineId) as Runner
      let begun = () => {}
      const begins = () => new Promise<void>((resolve) => (begun = resolve))
      let answer = () => {}
      here.acts.callback = () => {
        begun()
        return new Promise((resolve) => (answer = () => resolve({ status: 202 })))
      }
      let isBegun = begins()
      const first = fetch(`${other.url()}${path}?first`, { method: 'POST' })
      runner.sweep()
      await isBegun
      const answerFirst = answer
      // A second one need not wait for it, and the looks for it do not begin the first one again.
      isBegun = begins()
      const second = fetch(`${other.url()}${path}?second`, { method: 'POST' })
      await isBegun
      runner.sweep()
      runner.sweep()
      await world.settle()
      answer()
      expect((await second).status).toBe(202)
      answerFirst()
      expect((await first).status).toBe(202)
      expect(here.called.map((call) => call.path)).toEqual(['?first', '?second'])
    } finally {
      await other?.stop()
      await world.close()
    }
  })
})

const at = (url: string) => new URL(url).pathname
