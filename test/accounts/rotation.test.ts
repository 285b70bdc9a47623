import { afterEach, describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { createWorld, ENGINES, type World } from '../support/world.js'

const HOUR = 3_600_000

describe.each(ENGINES)('rotating a key on %s', (engine) => {
  let world: World
  afterEach(() => world.close())
  const rotate = (id: string, body: object = {}) => world.post(`/admin/keys/${id}/rotate`, body, 'admin')
  const works = async (key: { id: string; secret: string }) =>
    (await world.get('/api/v2/messages', key)).status === 200

  it.each(['live', 'test'] as const)(
    'lets both %s keys work for the overlap, then the new one alone',
    async (kind) => {
      world = await createWorld(engine)
      const [account] = (await world.get('/admin/accounts', 'admin')).body.data
      const made = { account_id: account.id, kind, label: 'shop' }
      const old = (await world.post('/admin/keys', made, 'admin')).body
      const { status, body } = await rotate(old.id, { overlap_seconds: 3600 })
      expect([status, body]).toMatchObject([
        201,
        { kind, label: 'shop', account_id: old.account_id, expires_at: null, revoked_at: null },
      ])
      expect([await works(old), await works(body)]).toEqual([true, true])
      await world.advance(HOUR - 1)
      expect(await works(old)).toBe(true)
      await world.advance(1)
      expect([await works(old), await works(body)]).toEqual([false, true])
      // The loops that tidy up show it as revoked, at its moment.
      await world.advance(24 * HOUR)
      const shown = (await world.get(`/admin/keys/${old.id}`, 'admin')).body
      expect(shown.revoked_at).toBe(shown.expires_at)
      expect(shown.revoked_at).not.toBeNull()
      expect((await rotate(old.id)).status).toBe(409)
    },
  )

  it('is a day by default, at once with 0, and refuses what cannot be', async () => {
    world = await createWorld(engine)
    const [account] = (await world.get('/admin/accounts', 'admin')).body.data
    const keys = []
    for (let i = 0; i < 2; i++)
      keys.push((await world.post('/admin/keys', { account_id: account.id }, 'admin')).body)
    await rotate(keys[0].id, {})
    const end = (await world.get(`/admin/keys/${keys[0].id}`, 'admin')).body.expires_at
    expect(Date.parse(end)).toBe(world.app.ctx.clock.now() + 24 * HOUR)
    // One successor for each key.
    expect((await rotate(keys[0].id)).status).toBe(409)
    await rotate(keys[1].id, { overlap_seconds: 0 })
    expect(await works(keys[1])).toBe(false)
    expect((await rotate('none')).status).toBe(404)
    for (const overlap_seconds of [-1, 31 * 86_400, 'soon', 1.5])
      expect((await rotate(keys[0].id, { overlap_seconds })).status).toBe(400)
    const own = (await world.post('/admin/keys', { account_id: account.id }, 'admin')).body
    expect((await world.post(`/admin/keys/${own.id}/rotate`, {}, own)).status).toBe(403)
    const env = { TRUNKLINE_URL: world.app.url() }
    const ran = await runCli(['key', 'rotate', own.id, '--overlap', '2h', '--json'], env)
    expect(JSON.parse(ran.stdout)).toMatchObject({ account_id: account.id, secret: expect.any(String) })
    const shown = (await world.get(`/admin/keys/${own.id}`, 'admin')).body
    expect(Date.parse(shown.expires_at)).toBe(world.app.ctx.clock.now() + 2 * HOUR)
  })
})
