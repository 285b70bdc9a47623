import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MAX_OF_ACCOUNT, MAX_OF_STRANGERS } from '../../src/services/requests/waiting.js'
import { removeRequestsBeyond } from '../../src/storage/requests/requests.js'
import { ADA, createWorld, ENGINES, type Json, LINE, type Who, type World } from '../support/world.js'

const OTHER_LINE = '+12025550190'

describe.each(ENGINES)('the request log on %s', (engine) => {
  let world: World
  let other: Awaited<ReturnType<World['addAccount']>>

  beforeAll(async () => {
    world = await createWorld(engine, { env: { TRUNKLINE_AUTH_FAILURES_PER_MINUTE: '100000' } })
    other = await world.addAccount('other@example.com', OTHER_LINE)
  })
  afterAll(() => world.close())

  const list = async (query = '', as: Who = 'live'): Promise<Json[]> => {
    const { status, body } = await world.get(`/${as === 'admin' ? 'admin' : 'v3'}/requests?${query}`, as)
    expect([status, body.error]).toEqual([200, undefined])
    return body.data
  }
  const clear = async () => {
    await world.app.ctx.requestLog.flush()
    await world.app.ctx.db.run('delete from requests')
  }
  const dropped = async () =>
    (await world.app.ctx.metrics.requestsDropped.get()).values.reduce((sum, { value }) => sum + value, 0)

  it('shows what was called, by whom and how it ended', async () => {
    await clear()
    const before = Date.now()
    await world.post('/api/send-message', { number: ADA, from_number: LINE, content: 'Hi', campaign: 'x' })
    await world.post('/api/send-message', { number: ADA, from_number: LINE })
    const [failed, sent] = await list()
    expect(sent).toMatchObject({
      method: 'POST',
      path: '/api/send-message',
      status: 202,
      key_id: expect.stringMatching(/./),
      error_code: null,
      error_message: null,
      ignored: 'campaign',
    })
    expect(Date.parse(sent.at)).toBeGreaterThanOrEqual(before)
    expect(sent.duration_ms).toBeGreaterThan(0)
    expect(sent.request_id).toBeTruthy()
    expect(sent).not.toHaveProperty('request_body')
    expect(failed).toMatchObject({ status: 400, error_code: 'invalid', ignored: null })
    expect(failed.error_message).toContain('content')
    const { body: shown } = await world.get(`/v3/requests/${sent.id}`)
    expect(shown).toEqual({ ...sent, request_body: null, response_body: null })
  })

  it('shows each account its own calls, and an admin all', async () => {
    await clear()
    await world.get('/api/lines')
    await world.get('/api/lines', other.live)
    await world.get('/admin/accounts', 'admin')
    expect((await list()).map(({ path }) => path)).toEqual(['/api/lines'])
    const [own] = await list('path=/api/', other.live)
    expect((await world.get(`/v3/requests/${own.id}`)).status).toBe(404)
    expect((await world.get(`/admin/requests/${own.id}`, 'admin')).body.account_id).toBe(other.id)
    const all = await list('method=get&path=/a', 'admin')
    expect(all.map(({ path, account_id }) => [path, account_id !== null])).toEqual([
      [`/admin/requests/${own.id}`, false],
      ['/admin/accounts', false],
      ['/api/lines', true],
      ['/api/lines', true],
    ])
    expect(await list(`account_id=${other.id}&path=/api`, 'admin')).toHaveLength(1)
    expect((await world.get('/admin/requests')).status).toBe(403)
  })

  it('filters and pages', async () => {
    await clear()
    for (let i = 0; i < 5; i++) await world.get('/api/lines')
    await world.get('/api/status?handle=none')
    await world.get('/v3/messages/none')
    const statuses = async (query: string) => (await list(query)).map(({ status }) => status)
    expect(await statuses('status=4xx')).toEqual([404, 404])
    expect(await statuses('status=404&path=/v3/messages')).toEqual([404])
    expect(await statuses('path=/api&status=200')).toHaveLength(5)
    expect(await statuses('method=POST')).toEqual([])
    expect(await statuses(`since=${new Date(Date.now() + 60_000).toISOString()}`)).toEqual([])
    const ids: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body }: Json = await world.get(`/v3/requests?path=/api&limit=2&cursor=${cursor}`)
      ids.push(...body.data.map(({ id }: Json) => id))
      cursor = body.next_cursor
    }
    expect(ids).toHaveLength(6)
    expect(new Set(ids).size).toBe(6)
    expect((await world.get('/v3/requests?status=bad')).status).toBe(400)
    expect((await world.get('/v3/requests?cursor=bad')).status).toBe(400)
    expect((await world.get('/v3/requests/bad')).status).toBe(400)
  })

  it('stores no numbers and no contents', async () => {
    await clear()
    const secret = 'Meet me at the harbour'
    await world.send({ content: secret })
    await world.call('PUT', `/api/v2/contacts/${ADA}`, { as: 'live', body: { first_name: secret } })
    await world.get(`/api/v2/contacts/${encodeURIComponent('+12025550999')}`)
    await world.get(`/v3/search?q=${encodeURIComponent(`is:${secret}`)}`)
    await world.get(`/api/${encodeURIComponent(secret)}`)
    await world.post('/sim/reset', { [secret]: 1 }, 'live')
    await world.post('/api/send-message', { number: secret, from_number: '+12025550888', content: secret })
    await world.app.ctx.requestLog.flush()
    const rows = await world.app.ctx.db.all('select * from requests')
    expect(rows.length).toBeGreaterThan(5)
    const text = JSON.stringify(rows)
    for (const part of [secret, 'harbour', ADA, '2025550', LINE]) expect(text).not.toContain(part)
    expect(text).toContain('/api/v2/contacts/*0999')
  })

  it('knows whose key a path was called with that does not exist', async () => {
    await clear()
    await world.get('/api/lines')
    await world.get('/api/line')
    expect((await list()).map(({ path, status }) => [path, status])).toEqual([
      ['/api/line', 404],
      ['/api/lines', 200],
    ])
  })

  it('shows callers without a valid key to admins only, within a bound', async () => {
    await clear()
    const stranger = { id: 'nobody', secret: 'wrong' }
    for (let i = 0; i < MAX_OF_STRANGERS + 20; i++) await world.get('/api/lines', stranger)
    expect(await list('status=401')).toEqual([])
    const seen = await list('status=401&limit=1000', 'admin')
    expect(seen).toHaveLength(MAX_OF_STRANGERS)
    expect(seen[0]).toMatchObject({ account_id: null, key_id: null, error_code: 'unauthorized' })
  })

  it("keeps an account's calls through a flood of another's", async () => {
    await clear()
    const before = await dropped()
    for (let i = 0; i < 5; i++) await world.get('/api/lines', other.live)
    for (let i = 0; i < MAX_OF_ACCOUNT + 50; i++) await world.get('/api/lines')
    expect(await list('path=/api', other.live)).toHaveLength(5)
    expect(await list('path=/api&limit=1000')).toHaveLength(MAX_OF_ACCOUNT)
    expect((await dropped()) - before).toBe(50)
  })

  it('keeps bodies for as long as the account asks, without secrets', async () => {
    await clear()
    const start = await world.call('PUT', '/v3/requests/bodies', { as: 'live', body: {} })
    expect(Date.parse(start.body.until) - Date.now()).toBeGreaterThan(59 * 60_000)
    await world.send({ content: 'Kept' })
    const hook = { url: 'https://u:pw@example.com/x?key=abc', secret: 'a-very-long-secret-of-a-webhook' }
    await world.post('/api/account/webhooks', { webhooks: [hook], globalSecret: 'another-long-secret-here' })
    await world.post('/api/v2/totp/secrets', { label: 'x', secret: 'JBSWY3DPEHPK3PXP' })
    await world.get('/api/lines', other.live)
    await world.call('PUT', '/v3/requests/bodies', { as: 'live', body: { minutes: 0 } })
    await world.send({ content: 'Not kept' })
    const bodyOf = async (path: string, n = 0) => {
      const found = (await list(`path=${path}`))[n]
      return (await world.get(`/v3/requests/${found.id}`)).body
    }
    expect((await bodyOf('/api/send-message')).request_body).toBeNull()
    const kept = await bodyOf('/api/send-message', 1)
    expect(JSON.parse(kept.request_body)).toMatchObject({ number: ADA, content: 'Kept' })
    expect(JSON.parse(kept.response_body)).toMatchObject({ content: 'Kept', status: 'QUEUED' })
    expect((await bodyOf('/api/account/webhooks')).request_body).toContain('https://example.com/x?*')
    expect((await bodyOf('/api/v2/totp/secrets')).request_body).toContain('not kept')
    const text = JSON.stringify(await world.app.ctx.db.all('select * from requests'))
    for (const part of ['very-long', 'another-long', 'JBSWY', 'u:pw', 'key=abc'])
      expect(text).not.toContain(part)
    const { rows } = (await world.app.ctx.db.one<{ rows: number }>(
      'select count(*) as rows from requests where account_id = $1 and response_body is not null',
      [other.id],
    ))!
    expect(rows).toBe(0)
  })

  it('keeps bodies when an admin asks, until the time is over', async () => {
    await clear()
    const path = `/admin/accounts/${other.id}/request-bodies`
    expect((await world.call('PUT', path, { as: 'admin', body: { minutes: 61 } })).status).toBe(400)
    expect((await world.call('PUT', path, { as: 'admin', body: { minutes: 5 } })).status).toBe(200)
    await world.get('/api/lines', other.live)
    await world.app.ctx.db.run('update accounts set bodies_until = $1', [Date.now() - 1])
    world.app.ctx.directory.forget()
    await world.get('/api/lines', other.live)
    const [later, earlier] = await list('path=/api', other.live)
    const shown = async ({ id }: Json) =>
      (await world.get(`/v3/requests/${id}`, other.live)).body.response_body
    expect(await shown(earlier)).toContain('numbers')
    expect(await shown(later)).toBeNull()
  })

  it('fails no request when it cannot be written, and goes on later', async () => {
    await clear()
    await world.app.ctx.db.run('alter table requests rename to away')
    try {
      expect((await world.send()).status).toBe('QUEUED')
      await world.app.ctx.requestLog.flush()
      expect((await world.send()).status).toBe('QUEUED')
    } finally {
      await world.app.ctx.db.run('alter table away rename to requests')
    }
    await world.app.ctx.requestLog.flush()
    await world.send()
    expect((await list('path=/api/send-message')).length).toBeGreaterThan(0)
  })

  it('is written by itself within a second, and when the server stops', async () => {
    await clear()
    await world.get('/api/lines')
    await world.advance(1000)
    const count = async () =>
      (await world.app.ctx.db.one<{ n: number }>('select count(*) as n from requests'))!.n
    expect(await count()).toBe(1)
    await world.get('/api/lines')
    await world.restart()
    expect(await count()).toBe(2)
  })

  it('is removed by age, and beyond a number of rows', async () => {
    await clear()
    const { db, requestLog } = world.app.ctx
    for (let i = 0; i < 6; i++) await world.get('/api/lines')
    await requestLog.flush()
    const [oldest] = await db.all<{ id: string; account_id: string }>(
      'select id, account_id from requests order by at, id limit 1',
    )
    await db.run('update requests set at = $1 where id = $2', [Date.now() - 3 * 86_400_000 - 1, oldest!.id])
    await requestLog.removeOld()
    expect(await list('path=/api')).toHaveLength(5)
    await db.run(
      'update requests set at = at + 1000 * (select count(*) from requests r where r.id < requests.id)',
    )
    await removeRequestsBeyond(db, oldest!.account_id, 3)
    expect((await list('path=/api')).length).toBe(3)
  })
})

it('can be switched off', async () => {
  const world = await createWorld('sqlite', { env: { TRUNKLINE_REQUEST_DAYS: '0' } })
  try {
    await world.get('/api/lines')
    await world.app.ctx.requestLog.flush()
    expect(await world.app.ctx.db.all('select * from requests')).toEqual([])
    expect((await world.get('/v3/requests')).status).toBe(404)
  } finally {
    await world.close()
  }
})
