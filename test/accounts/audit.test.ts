import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, createApp } from '../../src/app.js'
import { createClock } from '../../src/base/clock.js'
import type { AuditEntry } from '../../src/core/audit/audit.js'
import { createAuditTrail, dropOldAudit, endLostChanges } from '../../src/services/audit/audit.js'
import { runCli } from '../support/cli.js'
import { makeDirectory } from '../support/directory.js'
import { ADA, createWorld, credentials, ENGINES, type Json, LINE, type World } from '../support/world.js'

const DAY = 24 * 3_600_000

describe.each(ENGINES)('the audit log on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    // With keys of its own: the development keys do not work behind a proxy.
    world = await createWorld(engine, { isReal: true })
  })
  afterAll(() => world.close())

  const list = async (query = '') => (await world.get(`/admin/audit?${query}`, 'admin')).body
  const newest = async (): Promise<Json> => (await list('limit=1')).data[0]
  const verify = (...args: string[]) =>
    runCli(['audit', 'verify', '--url', world.app.url(), ...args], {
      TRUNKLINE_API_KEY_ID: 'dev-admin-key',
      TRUNKLINE_API_SECRET_KEY: 'dev-admin-secret',
    })

  it('says who did what to which object, from where, when and with which result', async () => {
    const before = Date.now()
    const headers = { 'x-forwarded-for': '203.0.113.7' }
    const key = (await world.post('/admin/keys', { kind: 'admin', label: 'audited' }, 'admin', headers)).body
    const row = await newest()
    expect(row).toMatchObject({
      actor: 'key',
      actor_id: 'dev-admin-key',
      key_id: 'dev-admin-key',
      account_id: null,
      address: '127.0.0.1',
      forwarded_for: '203.0.113.7',
      action: 'POST /admin/keys',
      object: key.id,
      fields: 'kind label',
      status: 201,
    })
    expect(Date.parse(row.at)).toBeGreaterThanOrEqual(before)
    expect(Date.parse(row.at)).toBeLessThanOrEqual(Date.now())

    await world.call('DELETE', `/admin/keys/${key.id}`, { as: 'admin' })
    expect(await newest()).toMatchObject({ action: 'DELETE /admin/keys/:id', object: key.id, status: 200 })
    await world.call('DELETE', '/admin/keys/nothing', { as: 'admin' })
    expect(await newest()).toMatchObject({ object: 'nothing', status: 404 })

    const token = (await world.post('/v3/auth/tokens', { phone_number: LINE })).body
    const account = (await world.get('/account')).body
    expect(await newest()).toMatchObject({
      actor_id: 'dev-live-key',
      account_id: account.id ?? expect.any(String),
      object: token.token_id,
    })
    const path = `/api/lines/${encodeURIComponent(LINE)}/call-forwarding`
    const body = { forwarding_number: '+12025550123' }
    expect((await world.call('PUT', path, { as: token, body })).status).toBe(200)
    expect(await newest()).toMatchObject({
      actor: 'token',
      actor_id: token.token_id,
      key_id: 'dev-live-key',
      object: LINE,
    })
    const dump = JSON.stringify(await list('limit=1000'))
    for (const secret of [key.secret, token.token, 'audited']) expect(dump).not.toContain(secret)
  })

  it('names the console session, its beginning and its end', async () => {
    const header = { 'x-trunkline-console': '1' }
    const signIn = { key_id: 'dev-admin-key', secret: 'dev-admin-secret' }
    const reply = await world.post('/console/session', signIn, null, header)
    const cookie = reply.headers['set-cookie']!.split(';')[0]!
    const session = cookie.split('=')[1]!.split('.')[0]
    expect(await newest()).toMatchObject({
      actor: 'console',
      actor_id: session,
      key_id: 'dev-admin-key',
      action: 'POST /console/session',
    })
    await world.post('/admin/seats', {}, null, { ...header, cookie })
    const body = { email: 'c@example.com' }
    expect((await world.post('/admin/accounts', body, null, { ...header, cookie })).status).toBe(201)
    expect(await newest()).toMatchObject({
      actor: 'console',
      actor_id: session,
      action: 'POST /admin/accounts',
    })
    await world.call('DELETE', '/console/session', { as: null, headers: { ...header, cookie } })
    expect(await newest()).toMatchObject({
      actor_id: session,
      action: 'DELETE /console/session',
      status: 204,
    })
    // A sign-in that fails is nobody's act: the server's metrics count it.
    const { head } = await list()
    await world.post('/console/session', { ...signIn, secret: 'wrong' }, null, header)
    expect((await list()).head).toEqual(head)
  })

  it('names the seat that the person at the console chose, if it is a seat of the account', async () => {
    const mine = await world.app.ctx.directory.account(
      (await world.app.ctx.directory.key('dev-live-key'))!.key.accountId!,
    )
    const other = await world.addAccount('seats@example.com', '+12025550177')
    const seatOf = async (account_id: string) =>
      (await world.post('/admin/seats', { account_id, email: 'person@example.com' }, 'admin')).body.id
    const [own, foreign] = [await seatOf(mine!.id), await seatOf(other.id)]
    const header: Record<string, string> = { 'x-trunkline-console': '1' }
    for (const kind of ['live', 'admin']) {
      const key = { key_id: `dev-${kind}-key`, secret: `dev-${kind}-secret` }
      const reply = await world.post('/console/session', key, null, header)
      header.cookie = reply.headers['set-cookie']!.split(';')[0]!
    }
    const change = async (path: string, body: object, headers: Record<string, string>, as: null | 'live') => {
      expect((await world.post(path, body, as, headers)).status).toBeLessThan(300)
      return (await newest()).seat_id
    }
    const token = { phone_number: LINE }
    const [chosen, strange] = [own, foreign].map((id) => ({ ...header, 'x-trunkline-seat': id }))
    expect(await change('/v3/auth/tokens', token, chosen!, null)).toBe(own)
    expect(await change('/admin/keys', { kind: 'admin' }, chosen!, null)).toBe(own)
    expect(await change('/v3/auth/tokens', token, strange!, null)).toBe(null)
    expect(await change('/v3/auth/tokens', token, header, null)).toBe(null)
    // A key is nobody's in particular.
    expect(await change('/v3/auth/tokens', token, { 'x-trunkline-seat': own }, 'live')).toBe(null)
  })

  it('lists by account, key, action, object and time, page by page', async () => {
    for (const label of ['1', '2', '3']) await world.post('/admin/keys', { kind: 'admin', label }, 'admin')
    const all = await list('limit=1000')
    const made = all.data.filter((row: Json) => row.action === 'POST /admin/keys')
    const action = `action=${encodeURIComponent('POST /admin/keys')}`
    expect((await list(action)).data).toEqual(made)
    expect((await list(`object=${made[0].object}`)).data).toEqual([made[0]])
    expect((await list('key_id=dev-live-key')).data.every((row: Json) => row.account_id)).toBe(true)
    expect((await list('account_id=nobody')).data).toEqual([])
    const first = await list(`${action}&limit=2&order=asc`)
    const second = await list(`${action}&limit=1000&order=asc&cursor=${first.next_cursor}`)
    expect([...first.data, ...second.data]).toEqual(made.toReversed())
    expect((await list(`since=${made[0].at}`)).data).toContainEqual(made[0])
    expect((await list(`until=${all.data.at(-1).at}`)).data).toEqual([])
    expect((await list(`since=${new Date(Date.now() + DAY).toISOString()}`)).data).toEqual([])
    for (const query of ['cursor=x', 'since=yesterday', 'order=up'])
      expect((await world.get(`/admin/audit?${query}`, 'admin')).status).toBe(400)
  })

  it('keeps refusals of a known key, but not so many that they fill it', async () => {
    await world.post('/admin/keys', { kind: 'admin' })
    expect(await newest()).toMatchObject({
      actor_id: 'dev-live-key',
      action: 'POST /admin/keys',
      status: 403,
    })
    const { head } = await list()
    for (let n = 0; n < 70; n++) await world.post('/admin/keys', { kind: 'admin' })
    expect((await list()).head.seq - head.seq).toBe(59)
    await world.post('/admin/keys', { kind: 'admin' }, null)
    expect((await list()).head.seq - head.seq).toBe(59)
  })

  it('writes nothing for a message, and no word of a request', async () => {
    const { head } = await list()
    await world.send({ content: 'audit-canary' })
    await world.text(ADA, 'audit-canary-back')
    await world.settle()
    expect((await list()).head).toEqual(head)
    await world.post('/api/v2/contacts', { number: ADA, first_name: 'audit-canary' })
    expect(await newest()).toMatchObject({ action: 'POST /api/v2/contacts', object: ADA })
    const { totp_secret: secret } = (await world.post('/api/v2/totp/secrets', { label: 'audit-canary' })).body
    expect(await newest()).toMatchObject({ object: secret.id, fields: expect.stringContaining('label') })
    const shown = JSON.stringify(await list('limit=1000'))
    expect(shown).not.toContain('audit-canary')
    expect(shown).not.toContain(secret.secret)
  })

  it('is one unbroken chain after changes at once, from several processes', async () => {
    const other =
      engine === 'postgres'
        ? await createApp(world.config, {
            log: world.app.ctx.log,
            clock: createClock(world.app.ctx.clock.now()),
          })
        : world.app
    const before = (await list()).head.seq
    const change = (app: App, n: number) =>
      app.server.inject({
        method: 'POST',
        url: '/admin/keys',
        headers: credentials('admin'),
        payload: { kind: 'admin', label: `at once ${n}` },
      })
    const apps = [world.app, other]
    const made = await Promise.all(Array.from({ length: 60 }, (_, n) => change(apps[n % 2]!, n)))
    expect(made.map(({ statusCode }) => statusCode)).toEqual(made.map(() => 201))
    const { data, head } = await list('limit=60')
    expect(head.seq).toBe(before + 60)
    expect(new Set(data.map((row: Json) => row.object))).toEqual(new Set(made.map((one) => one.json().id)))
    if (other !== world.app) await other.stop()
    const checked = await verify('--json')
    expect(checked.stderr).toBe('')
    expect(JSON.parse(checked.stdout)).toMatchObject({ intact: true, head: `${head.seq}:${head.hash}` })
  })

  it('appends a change whose process stopped before it answered', async () => {
    const { ctx } = world.app
    const entry: AuditEntry = {
      at: Date.now() - DAY,
      actor: 'cli',
      actorId: null,
      keyId: null,
      accountId: null,
      seatId: null,
      address: null,
      forwardedFor: null,
      action: 'DELETE /admin/lines/:id',
      object: 'lost',
      fields: null,
      status: null,
    }
    await createAuditTrail(ctx).begin(entry)
    await endLostChanges(ctx, false)
    expect((await list('object=lost')).data).toEqual([])
    await ctx.db.run('update audit_open set begun_at = begun_at - 1000000')
    await Promise.all([endLostChanges(ctx, false), endLostChanges(ctx, false)])
    expect((await list('object=lost')).data).toMatchObject([{ object: 'lost', status: null }])
    expect((await verify()).code).toBe(0)
  })

  it('loses its beginning by age and can still be checked', async () => {
    const { ctx } = world.app
    const known = JSON.parse((await verify('--json')).stdout).head
    const { anchor } = await list()
    expect(anchor).toEqual({ seq: 0, hash: '' })
    const first = (await list('order=asc&limit=4')).data
    const old = { ...ctx, config: { ...ctx.config, auditDays: 1 } }
    // Rows of today stay, whatever stands before them in time.
    await dropOldAudit(old)
    expect((await list()).anchor.seq).toBe(0)
    await ctx.db.write((sql) => sql.run('update audit_log set at = at - $1 where seq <= 3', [2 * DAY]))
    await dropOldAudit(old)
    const page = await list('order=asc&limit=1')
    expect(page.anchor).toEqual({ seq: 3, hash: first[2].hash })
    expect(page.data[0]).toEqual(first[3])
    expect((await verify('--known', known)).code).toBe(0)
    await world.post('/admin/keys', { kind: 'admin' }, 'admin')
    expect((await verify()).code).toBe(0)
  })

  it('shows a changed row, a missing row and a missing end; an export shows them, too', async () => {
    const { db } = world.app.ctx
    const exported = await runCli(['audit', 'export', '--url', world.app.url()])
    const lines = exported.stdout.trim().split('\n')
    const { head } = await list()
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({ seq: head.seq, hash: head.hash })
    const file = join(makeDirectory('trunkline-audit-'), 'audit.ndjson')
    const inFile = async (kept: string[]) => {
      writeFileSync(file, kept.join('\n'))
      return verify('--file', file)
    }
    expect((await inFile(lines)).code).toBe(0)
    expect((await inFile(lines.toSpliced(5, 1))).stderr).toContain(
      `Row ${JSON.parse(lines[5]!).seq} is missing`,
    )
    expect((await inFile(lines.with(5, lines[5]!.replace('"status":', '"status":1')))).stderr).toMatch(
      /was changed/,
    )
    expect((await inFile(['nonsense'])).stderr).toContain('Line 1')

    const middle = head.seq - 5
    const stolen = await db.one<Record<string, string>>('select * from audit_log where seq = $1', [middle])
    await db.run('update audit_log set object = $2 where seq = $1', [middle, 'another'])
    expect((await verify()).stderr).toContain(`Row ${middle} was changed`)
    await db.run('update audit_log set object = $2 where seq = $1', [middle, stolen!.object!])
    expect((await verify()).code).toBe(0)
    await db.run('update audit_log set seq = -seq where seq = $1', [middle])
    expect((await verify()).stderr).toMatch(/missing/)
    await db.run('update audit_log set seq = -seq where seq < 0')
    await db.run('update audit_log set seq = -seq where seq > $1', [head.seq - 2])
    expect((await verify()).stderr).toContain(`Rows ${head.seq - 1} to ${head.seq} are missing at its end`)
    await db.run('update audit_log set seq = -seq where seq < 0')
    expect((await verify()).code).toBe(0)
    // A log that was written anew as a whole is intact in itself, but not the log of an earlier check.
    expect((await verify('--known', `${head.seq}:${'0'.repeat(64)}`)).stderr).toContain(
      'not the row that was there',
    )
    expect((await verify('--known', `${head.seq}:${head.hash}`)).code).toBe(0)
  })
})
