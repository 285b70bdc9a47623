import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dumpOf } from '../support/dump.js'
import { ADA, createWorld, ENGINES, type Json, type World } from '../support/world.js'

const SERVICES = '/api/v2/verify/services'
const ORIGIN = 'https://shop.example.com'

describe.each(ENGINES)('hosted verification on %s', (engine) => {
  let world: World
  let service: Json
  beforeAll(async () => {
    world = await createWorld(engine)
    service = (await world.post(SERVICES, { friendly_name: 'Example Shop' })).body
  })
  afterAll(() => world.close())

  const ask = (hosted: Json) =>
    world.post(`${SERVICES}/${service.sid}/verifications`, { to: ADA, hosted }, 'live', {
      host: 'api.example.test',
    })
  const start = async (hosted: Json = {}) => (await ask({ parent_origin: ORIGIN, ...hosted })).body
  const tokenOf = ({ hosted }: Json) => hosted.url.split('#token=')[1]
  const state = (session: string, token?: string) =>
    world.call('POST', `/verify/hosted/${session}/state`, {
      as: null,
      headers: token === undefined ? {} : { 'x-verify-token': token },
    })

  it('is there only when asked for, with the token in the fragment, and not on retrieval', async () => {
    const started = await start()
    const { session_id } = started.hosted
    expect(started.hosted).toEqual({
      session_id: expect.stringMatching(/^VH[0-9a-f]{32}$/),
      url: `http://api.example.test/verify/hosted/${session_id}#token=${tokenOf(started)}`,
      component_script: 'http://api.example.test/verify/component.js',
      expires_at: started.expires_at,
    })
    expect(tokenOf(started)).toMatch(/^[\w-]{43}$/)
    const { hosted, ...rest } = started
    const read = await world.get(new URL(started.url).pathname)
    expect({ ...read.body, url: started.url }).toEqual(rest)
    expect(await dumpOf(world.app)).not.toContain(tokenOf(started))
  })

  it('takes a null for an option that is left out', async () => {
    const started = await start({ accent_color: null, brand_name: null, theme: null })
    expect(started.hosted.session_id).toMatch(/^VH/)
    expect((await ask({ parent_origin: null })).status).toBe(400)
  })

  it('shows its state for the token and for nothing else', async () => {
    const started = await start({ accent_color: '#FFd400', brand_name: ' Brand ', theme: 'dark' })
    const other = await start()
    const { session_id } = started.hosted
    const { code, pool_number, sms_deep_link } = started.delivery_target
    const common = {
      verification_sid: started.sid,
      service_sid: service.sid,
      parent_origin: ORIGIN,
      brand_name: 'Brand',
      accent_color: 'ffd400',
    }
    const pending = await state(session_id, tokenOf(started))
    expect(pending.body).toEqual({
      ...common,
      status: 'pending',
      expires_in: 300,
      to: ADA,
      code,
      pool_number,
      sms_deep_link,
    })
    expect(pending.headers['cache-control']).toBe('no-store')
    expect(pending.headers['access-control-allow-origin']).toBeUndefined()
    const nobody = await state(`VH${'0'.repeat(32)}`, tokenOf(started))
    expect(nobody.status).toBe(404)
    for (const token of [
      undefined,
      '',
      'x',
      tokenOf(other),
      `${tokenOf(started)}x`,
      tokenOf(started).slice(0, -1),
    ]) {
      const reply = await state(session_id, token)
      expect([reply.status, reply.body]).toEqual([404, nobody.body])
    }
    const inQuery = await world.call('POST', `/verify/hosted/${session_id}/state?token=${tokenOf(started)}`, {
      as: null,
    })
    expect(inQuery.status).toBe(404)

    await world.text(ADA, code, { to: pool_number })
    await world.settle()
    expect((await state(session_id, tokenOf(started))).body).toEqual({
      ...common,
      status: 'approved',
      expires_in: 300,
    })
    expect((await state(other.hosted.session_id, tokenOf(other))).body).toMatchObject({
      status: 'pending',
      brand_name: 'Example Shop',
    })
  })

  it('expires and is canceled before the eyes of the widget', async () => {
    const [expiring, canceled] = [await start(), await start()]
    await world.call('DELETE', new URL(canceled.url).pathname)
    expect((await state(canceled.hosted.session_id, tokenOf(canceled))).body.status).toBe('canceled')
    await world.advance(300_000)
    const after = await state(expiring.hosted.session_id, tokenOf(expiring))
    expect(after.body).toMatchObject({ status: 'expired', expires_in: 0 })
    expect(after.body).not.toHaveProperty('code')
  })

  it('is a page that only its own site may frame, without inline script', async () => {
    const { hosted } = await start({ parent_origin: 'http://localhost:5173', theme: 'dark' })
    const page = await world.call('GET', `/verify/hosted/${hosted.session_id}`, { as: null })
    expect(page.status).toBe(200)
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(page.headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors http://localhost:5173; require-trusted-types-for 'script'; trusted-types 'none'",
    )
    expect(page.headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    })
    expect(page.body).toContain('data-theme="dark"')
    expect(page.body).not.toMatch(/<script(?![^>]*\bsrc=)|\son\w+=|style=|https?:\/\//)
    expect((await world.call('GET', `/verify/hosted/VH${'0'.repeat(32)}`, { as: null })).status).toBe(404)
  })

  it.each(['component.js', 'widget.js', 'widget.css'])('serves %s from here', async (name) => {
    const reply = await world.call('GET', `/verify/${name}`, { as: null })
    expect([reply.status, reply.headers['x-content-type-options']]).toEqual([200, 'nosniff'])
    expect(reply.headers['content-type']).toMatch(name.endsWith('.js') ? /^text\/javascript/ : /^text\/css/)
    expect(reply.body).not.toMatch(/https?:\/\//)
  })

  it.each([
    [{}, 'parent_origin'],
    [{ parent_origin: '' }, 'parent_origin'],
    [{ parent_origin: 'https://*.example.com' }, 'parent_origin'],
    [{ parent_origin: 'http://example.com' }, 'parent_origin'],
    [{ parent_origin: 'https://10.0.0.1' }, 'parent_origin'],
    [{ parent_origin: 'https://example.com/' }, 'parent_origin'],
    [{ parent_origin: `https://${'x'.repeat(400)}` }, 'parent_origin'],
    [{ parent_origin: ORIGIN, accent_color: 'red' }, 'accent_color'],
    [{ parent_origin: ORIGIN, accent_color: '#fff' }, 'accent_color'],
    [{ parent_origin: ORIGIN, accent_color: 'ffd400;}' }, 'accent_color'],
    [{ parent_origin: ORIGIN, accent_color: 16_766_976 }, 'accent_color'],
    [{ parent_origin: ORIGIN, brand_name: '' }, 'brand_name'],
    [{ parent_origin: ORIGIN, brand_name: ' ' }, 'brand_name'],
    [{ parent_origin: ORIGIN, brand_name: 'a\nb' }, 'brand_name'],
    [{ parent_origin: ORIGIN, brand_name: 'x'.repeat(61) }, 'brand_name'],
    [{ parent_origin: ORIGIN, theme: 'blue' }, 'theme'],
    [{ parent_origin: ORIGIN, theme: 'Dark' }, 'theme'],
    [{ parent_origin: ORIGIN, accentColor: 'ffd400' }, 'accentColor'],
    [[], 'hosted'],
    ['https://example.com', 'hosted'],
  ])('%j is refused, naming the field', async (hosted, field) => {
    const reply = await ask(hosted)
    expect([reply.status, reply.body]).toEqual([
      400,
      { status: 'ERROR', message: expect.stringContaining(field) },
    ])
  })

  it('links lead to where people reach the server', async () => {
    const set = (value: string) => ({ env: { TRUNKLINE_PUBLIC_URL: value } })
    const behind = await createWorld(engine, set('https://messages.example.com/'))
    try {
      const made = (await behind.post(SERVICES, { friendly_name: 'x' })).body
      expect(made.url).toBe(`https://messages.example.com${SERVICES}/${made.sid}`)
    } finally {
      await behind.close()
    }
    for (const value of ['messages.example.com', 'ftp://example.com'])
      await expect(createWorld('sqlite', set(value))).rejects.toThrow(/TRUNKLINE_PUBLIC_URL/)
  })
})
