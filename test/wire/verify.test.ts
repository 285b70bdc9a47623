import SendblueAPI from 'sendblue'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADA, createWorld, ENGINES, SHARED_LINE, type World } from '../support/world.js'

const VECTOR_AT = 2_000_000_000_000
const LIVE = { apiKey: 'dev-live-key', apiSecret: 'dev-live-secret' }

describe.each(ENGINES)('TOTP and Verify with the published SDK on %s', (engine) => {
  let world: World
  let client: SendblueAPI
  beforeAll(async () => {
    // A year whose days need not all pass before the time of a vector of RFC 6238.
    world = await createWorld(engine, { startAt: VECTOR_AT - 60_000 })
    client = new SendblueAPI({ baseURL: world.app.url(), ...LIVE })
  })
  afterAll(() => world.close())

  it('TOTP: create, list, getCode, delete', async () => {
    const created = await client.v2.totp.secrets.create({
      uri: 'otpauth://totp/GitHub:agent@example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&digits=8',
    })
    const { id, ...rest } = created.totp_secret!
    expect(created.status).toBe('OK')
    expect(rest).toMatchObject({
      label: 'agent@example.com',
      issuer: 'GitHub',
      algorithm: 'SHA1',
      digits: 8,
      period: 30,
    })
    expect(rest.secret).toBe('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ')
    const listed = await client.v2.totp.secrets.list()
    expect(listed.totp_secrets).toMatchObject([{ id, label: 'agent@example.com' }])
    expect(listed.totp_secrets![0]).not.toHaveProperty('secret')
    await world.advance(VECTOR_AT - world.app.ctx.clock.now())
    expect(await client.v2.totp.getCode(id!)).toEqual({ code: '69279037', expires_in: 10, status: 'OK' })
    expect(await client.v2.totp.secrets.delete(id!)).toEqual({ status: 'OK' })
    expect((await client.v2.totp.secrets.list()).totp_secrets).toEqual([])
    await expect(client.v2.totp.getCode(id!)).rejects.toBeInstanceOf(SendblueAPI.NotFoundError)
    await expect(client.v2.totp.secrets.create({ secret: 'JBSWY3DPEHPK3PXP' })).rejects.toThrow(/label/)
  })

  it('Verify: create, retrieve, list, seen from the phone', async () => {
    const service = (await world.post('/api/v2/verify/services', { friendly_name: 'SDK' })).body
    const started = await client.verify.verifications.create(service.sid, {
      to: ADA,
      hosted: {
        parent_origin: 'https://example.com',
        theme: 'light',
        accent_color: '0b57d0',
        brand_name: 'SDK',
      },
    })
    expect(started).toMatchObject({
      status: 'pending',
      channel: 'imessage',
      to: ADA,
      service_sid: service.sid,
    })
    expect(started.delivery_target!.pool_number).toBe(SHARED_LINE)
    expect(started.hosted!.url).toContain(`/verify/hosted/${started.hosted!.session_id}#token=`)
    expect((await fetch(started.hosted!.component_script)).status).toBe(200)
    const params = { service_sid: service.sid }
    const { hosted, ...rest } = started
    expect(await client.verify.verifications.retrieve(started.sid, params)).toEqual(rest)

    const since = started.date_updated
    await world.advance(1000)
    await world.text(ADA, started.delivery_target!.code, { to: SHARED_LINE })
    await world.settle()
    const approved = await client.verify.verifications.retrieve(started.sid, params)
    expect(approved.status).toBe('approved')
    expect(approved.delivery_target).toBeUndefined()
    const list = await client.verify.verifications.list({ limit: 10, offset: 0, updated_at_gte: since })
    expect(list).toMatchObject({
      status: 'OK',
      data: [{ sid: started.sid, status: 'approved', date_completed: approved.date_updated }],
      pagination: { count: 1, has_more: false, limit: 10, offset: 0 },
    })
    await expect(client.verify.verifications.retrieve('VRnone', params)).rejects.toBeInstanceOf(
      SendblueAPI.NotFoundError,
    )
    await expect(client.verify.verifications.create(service.sid, { to: 'Ada' })).rejects.toThrow(
      /to: must be/,
    )
  })
})
