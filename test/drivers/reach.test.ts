import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { calledFault } from '../../src/core/lines/reach.js'
import { reachQuestion } from '../../src/services/lines/reach-ask.js'
import { type FileServer, serve } from '../support/files.js'
import { createPuppet, type Puppet } from '../support/puppet.js'
import { createWorld, ENGINES, type Json, type World } from '../support/world.js'

const NUMBER = '+12025550171'
const LOCAL = 'http://127.0.0.1:9'

describe.each(ENGINES)('the test whether the carrier reaches us, on %s', (engine) => {
  let world: World
  let puppet: Puppet
  let proxy: FileServer
  let lineId: string
  let from: string
  let isNeeded: boolean
  /** What the server at the public address does with a request; undefined passes it on. */
  let answer: { status: number; headers?: Record<string, string>; body?: string } | undefined
  const asked: string[] = []

  beforeEach(async () => {
    from = LOCAL
    isNeeded = false
    answer = undefined
    asked.length = 0
    proxy = await serve(async (request, response) => {
      asked.push(request.url!)
      if (answer) return void response.writeHead(answer.status, answer.headers).end(answer.body)
      const passed = await fetch(`${world.app.url()}${request.url}`, { method: request.method! })
      response.writeHead(passed.status, { 'content-type': 'application/json' }).end(await passed.text())
    })
    puppet = createPuppet()
    puppet.calls = () => ({ from, without: 'nothing arrives', isNeeded })
    world = await createWorld(engine, { drivers: [puppet], env: { TRUNKLINE_PUBLIC_URL: proxy.url } })
    const account_id = (await world.get('/admin/accounts', 'admin')).body.data[0].id
    const line = { account_id, number: NUMBER, driver: 'puppet' }
    lineId = (await world.post('/admin/lines', line, 'admin')).body.id
    await world.settle()
  })
  afterEach(async () => {
    await world.close()
    await proxy.close()
  })

  const test = async (): Promise<Json> => (await world.post(`/admin/lines/${lineId}/test`, {}, 'admin')).body
  const last = async () => (await test()).findings.at(-1)

  it('passes if the public address leads back here, also before there is a line', async () => {
    const tested = await test()
    expect(tested.ok).toBe(true)
    expect(tested.findings.at(-1)).toMatchObject({
      ok: true,
      what: `${new URL(proxy.url).host} leads to this server`,
    })
    const before = await world.post('/admin/lines/test', { driver: 'puppet', number: NUMBER }, 'admin')
    expect(before.body.findings.at(-1).what).toContain('leads to this server')
    const secret = new URL(puppet.on(NUMBER).host.callbackUrl()).pathname
    expect(asked.some((path) => path.includes(secret))).toBe(false)
    expect(puppet.called).toEqual([])
  })

  it.each([
    [{ status: 404 }, 'another server answers (HTTP 404), or a proxy that does not pass /callbacks on'],
    [{ status: 200, body: '{"reached":"yes"}' }, 'another server answers (HTTP 200)'],
    [
      { status: 302, headers: { location: 'https://login.example.com/x?y' } },
      'a redirect to login.example.com',
    ],
    [{ status: 401 }, 'something asks for a login there (HTTP 401)'],
    [{ status: 502 }, 'a proxy answers, but does not reach Trunkline (HTTP 502)'],
  ])('fails if the address answers %j', async (given, words) => {
    answer = given
    const tested = await test()
    expect(tested.ok).toBe(false)
    expect(tested.findings.at(-1).what).toContain(words)
    expect(tested.findings.at(-1).advice).toContain('TRUNKLINE_PUBLIC_URL')
  })

  it('fails if nobody answers', async () => {
    await proxy.close()
    expect(await last()).toMatchObject({ ok: false })
    expect((await last()).what).toContain('nobody listens at that address and port')
  })

  it('says that a carrier on the internet cannot call this machine, and how to get an address', async () => {
    from = 'https://api.carrier.example.com'
    const tested = await test()
    expect(tested.ok).toBe(true)
    expect(tested.findings.at(-1).what).toBe(
      'A puppet cannot call this server, because its address 127.0.0.1 is known to this machine only; nothing arrives',
    )
    expect(tested.findings.at(-1).advice).toMatch(/cloudflared.*ngrok.*TRUNKLINE_PUBLIC_URL/)
    expect(asked).toEqual([])
    isNeeded = true
    expect((await test()).ok).toBe(false)
  })

  it('tells when the carrier last called', async () => {
    await fetch(puppet.on(NUMBER).host.callbackUrl(), { method: 'POST', body: 'x' })
    expect((await last()).what).toMatch(/^The carrier last called at 2026-03-01T12:00:/)
  })

  it('answers only questions of this installation, for a minute', async () => {
    const { path } = reachQuestion(world.app.ctx)
    expect((await world.call('POST', path, { as: null })).body).toHaveProperty('reached')
    expect((await world.call('POST', `${path}x`, { as: null })).status).toBe(404)
    const made = path.replace(/reach-([0-9a-z]+)/, 'reach-zzzzzzzzz')
    expect((await world.call('POST', made, { as: null })).status).toBe(404)
    await world.advance(61_000)
    expect((await world.call('POST', path, { as: null })).status).toBe(404)
  })

  it('asks nothing for a driver without calls', async () => {
    puppet.calls = () => undefined
    expect((await test()).findings).toHaveLength(1)
    expect(asked).toEqual([])
  })
})

it('knows addresses that cannot be called', () => {
  const carrier = 'https://api.carrier.example.com'
  expect(calledFault('https://sms.example.com', carrier)).toBeUndefined()
  expect(calledFault('http://192.168.1.5:4040', carrier)).toContain('is not public')
  expect(calledFault('https://my_host.example.com', carrier)).toContain('has an underscore')
  expect(calledFault('', carrier)).toBe('the server has no address')
  expect(calledFault('http://127.0.0.1:4040', 'http://192.168.1.20:1234')).toContain('this machine only')
  expect(calledFault('http://192.168.1.5:4040', 'http://192.168.1.20:1234')).toBeUndefined()
})
