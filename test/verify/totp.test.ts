import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toBase32, totpCode } from '../../src/core/verify/totp.js'
import { dumpOf } from '../support/dump.js'
import { createWorld, ENGINES, type Json, LINE, START, type Who, type World } from '../support/world.js'

const SECRETS = '/api/v2/totp/secrets'
const CODE = '/api/v2/totp/code'
const NO_ID = '00000000-0000-4000-8000-000000000000'
const SEEDS = {
  SHA1: '12345678901234567890',
  SHA256: '12345678901234567890123456789012',
  SHA512: '1234567890123456789012345678901234567890123456789012345678901234',
}

describe.each(ENGINES)('TOTP on %s', (engine) => {
  let world: World
  let b: Awaited<ReturnType<World['addAccount']>>
  beforeAll(async () => {
    world = await createWorld(engine)
    b = await world.addAccount('b@example.com', '+12025550150')
  })
  afterAll(() => world.close())

  const create = async (body: Json, as?: Who) => {
    const reply = await world.post(SECRETS, body, as)
    expect([reply.status, reply.body.status]).toEqual([201, 'OK'])
    return reply.body.totp_secret
  }
  const code = async (id: string, as?: Who) => (await world.get(`${CODE}/${id}`, as)).body

  it('label is required unless uri is provided', async () => {
    for (const body of [
      {},
      { label: '' },
      { label: '  ' },
      { label: null },
      { secret: 'JBSWY3DPEHPK3PXP' },
    ]) {
      const reply = await world.post(SECRETS, body)
      expect([reply.status, reply.body]).toEqual([
        400,
        { status: 'ERROR', message: 'missing required parameter: label (or uri)' },
      ])
    }
    const uri = 'otpauth://totp/GitHub:agent?secret=JBSWY3DPEHPK3PXP'
    expect(await create({ uri })).toMatchObject({ label: 'agent', issuer: 'GitHub' })
  })

  it('a secret has defaults, and is shown on creation, never on list or get', async () => {
    const made = await create({ label: ' GitHub - agent@example.com ', secret: 'jbsw y3dp ehpk 3pxp' })
    expect(made).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/),
      label: 'GitHub - agent@example.com',
      issuer: null,
      algorithm: 'SHA1',
      digits: 6,
      period: 30,
      created_at: new Date(START).toISOString(),
      secret: 'JBSWY3DPEHPK3PXP',
    })
    const { secret, ...rest } = made
    const list = await world.get(SECRETS)
    expect(list.body.status).toBe('OK')
    expect(list.body.totp_secrets).toContainEqual(rest)
    expect((await world.get(`${SECRETS}/${made.id}`)).body).toEqual({ status: 'OK', totp_secret: rest })
    expect(JSON.stringify(list.body)).not.toContain(secret)
  })

  it('secret: omitted, one is generated', async () => {
    const [one, two] = [await create({ label: 'a' }), await create({ label: 'b', issuer: null })]
    expect(one.secret).toMatch(/^[A-Z2-7]{32}$/)
    expect(two.secret).not.toBe(one.secret)
    expect((await code(one.id)).code).toMatch(/^\d{6}$/)
  })

  it('uri overrides all other fields and fills them in', async () => {
    const uri = `otpauth://totp/ACME:me@example.com?secret=${toBase32(Buffer.from(SEEDS.SHA256))}&algorithm=SHA256&digits=8&period=60`
    const made = await create({
      uri,
      label: 'ignored',
      issuer: 'ignored',
      secret: 'not base32!',
      algorithm: 'SHA512',
      digits: 6,
      period: 15,
    })
    expect(made).toMatchObject({
      label: 'me@example.com',
      issuer: 'ACME',
      algorithm: 'SHA256',
      digits: 8,
      period: 60,
      secret: toBase32(Buffer.from(SEEDS.SHA256)),
    })
    const whatever = { label: 5, issuer: 'a\nb', secret: 7, algorithm: 'MD5', digits: 7, period: -1 }
    expect(await create({ uri, ...whatever })).toMatchObject({ label: 'me@example.com', digits: 8 })
  })

  it.each(['SHA1', 'SHA256', 'SHA512'] as const)('computes the current code with %s', async (algorithm) => {
    const key = Buffer.from(SEEDS[algorithm])
    for (const digits of [6, 8]) {
      const made = await create({ label: 'x', secret: toBase32(key), algorithm, digits })
      const seconds = Math.floor(world.app.ctx.clock.now() / 1000)
      expect(await code(made.id)).toEqual({
        status: 'OK',
        code: totpCode(key, { algorithm, digits, period: 30 }, seconds),
        expires_in: 30 - (seconds % 30),
      })
    }
  })

  it('the code changes at its boundary second and not before', async () => {
    const { id } = await create({ label: 'x' })
    const now = world.app.ctx.clock.now()
    await world.advance(30_000 - (now % 30_000))
    const first = await code(id)
    expect(first.expires_in).toBe(30)
    await world.advance(29_999)
    expect(await code(id)).toEqual({ ...first, expires_in: 1 })
    await world.advance(1)
    const next = await code(id)
    expect(next.expires_in).toBe(30)
    expect(next.code).not.toBe(first.code)
  })

  it('delete is permanent', async () => {
    const { id } = await create({ label: 'x' })
    const gone = await world.call('DELETE', `${SECRETS}/${id}`)
    expect([gone.status, gone.body]).toEqual([200, { status: 'OK' }])
    expect((await world.call('DELETE', `${SECRETS}/${id}`)).status).toBe(404)
    expect((await world.get(`${CODE}/${id}`)).status).toBe(404)
    expect(await world.app.ctx.db.all('select * from totp_secrets where id = $1', [id])).toEqual([])
  })

  it.each([
    [{ label: 'x', secret: '' }, 'secret'],
    [{ label: 'x', secret: 'JBSWY3DPEHPK3PX1' }, 'secret'],
    [{ label: 'x', secret: 'JBSWY3DPEHPK3PX8' }, 'secret'],
    [{ label: 'x', secret: 'MY' }, 'secret'],
    [{ label: 'x', secret: 'A'.repeat(1000) }, 'secret'],
    [{ label: 'x', secret: 'A'.repeat(10_240) }, 'secret'],
    [{ label: 'x', secret: 7 }, 'secret'],
    [{ label: 'x', digits: 7 }, 'digits'],
    [{ label: 'x', digits: '6' }, 'digits'],
    [{ label: 'x', period: 0 }, 'period'],
    [{ label: 'x', period: -1 }, 'period'],
    [{ label: 'x', period: 1.5 }, 'period'],
    [{ label: 'x', period: 86_401 }, 'period'],
    [{ label: 'x', period: 1e9 }, 'period'],
    [{ label: 'x', algorithm: 'md5' }, 'algorithm'],
    [{ label: 'x', algorithm: 'MD5' }, 'algorithm'],
    [{ label: 'x'.repeat(201) }, 'label'],
    [{ label: 'a\u0007b' }, 'label'],
    [{ label: 7 }, 'label'],
    [{ label: 'x', issuer: 'a\r\nb' }, 'issuer'],
    [{ uri: '' }, 'uri'],
    [{ uri: 'otpauth://hotp/x?secret=JBSWY3DPEHPK3PXP&counter=1' }, 'uri'],
    [{ uri: 'https://example.com/?secret=JBSWY3DPEHPK3PXP' }, 'uri'],
    [{ uri: 'otpauth://totp/x?secret=JBSWY3DPEHPK3PXP&secret=JBSWY3DPEHPK3PXQ' }, 'uri'],
    [{ uri: 'otpauth://totp/%00?secret=JBSWY3DPEHPK3PXP' }, 'uri'],
    [{ uri: 'otpauth://totp/%ff?secret=JBSWY3DPEHPK3PXP' }, 'uri'],
    [{ uri: `otpauth://totp/${'x'.repeat(5000)}?secret=JBSWY3DPEHPK3PXP` }, 'uri'],
  ])('%# is refused, naming the field and keeping the secret to itself', async (body, field) => {
    const reply = await world.post(SECRETS, body)
    expect(reply.status).toBe(400)
    expect(reply.body).toEqual({ status: 'ERROR', message: expect.stringContaining(field) })
    expect(reply.body.message).not.toContain('JBSWY3DP')
  })

  it('periods from one second to a day are fine', async () => {
    for (const period of [1, 86_400]) {
      const { id } = await create({ label: 'x', period })
      expect((await code(id)).expires_in).toBeLessThanOrEqual(period)
    }
  })

  it("another account's secret answers as an absent one does", async () => {
    const mine = await create({ label: 'mine' })
    for (const as of [b.live, 'test'] as Who[]) {
      expect(JSON.stringify((await world.get(SECRETS, as)).body)).not.toContain(mine.id)
      for (const [method, path] of [
        ['GET', SECRETS],
        ['DELETE', SECRETS],
        ['GET', CODE],
      ] as const) {
        const [theirs, nobodys] = [
          await world.call(method, `${path}/${mine.id}`, { as }),
          await world.call(method, `${path}/${NO_ID}`, { as }),
        ]
        expect([theirs.status, theirs.body]).toEqual([404, nobodys.body])
      }
    }
    for (const id of ['x', '%00', "'", '%25', 'x'.repeat(500)])
      expect([id, (await world.get(`${CODE}/${id}`)).status]).toEqual([id, id === '%00' ? 400 : 404])
    expect((await code(mine.id)).status).toBe('OK')
  })

  it('is for accounts: not for nobody, and an admin reads no codes, nor does a token for some lines', async () => {
    const { id } = await create({ label: 'x' })
    for (const path of [SECRETS, `${SECRETS}/${id}`, `${CODE}/${id}`]) {
      expect((await world.get(path, null)).status).toBe(401)
      expect((await world.get(path, 'admin')).status).toBe(403)
      const token = async (body: Json) => (await world.post('/v3/auth/tokens', body)).body
      expect((await world.get(path, await token({}))).status).toBe(200)
      expect((await world.get(path, await token({ phone_number: LINE }))).status).toBe(403)
    }
  })

  it('happens once per Idempotency-Key, also at the same moment, and a repeat does not show the secret', async () => {
    const body = { label: 'once' }
    const headers = { 'idempotency-key': 'totp-once' }
    const replies = await Promise.all([1, 2, 3].map(() => world.post(SECRETS, body, 'live', headers)))
    expect(replies.map((reply) => reply.status)).toEqual([201, 201, 201])
    expect(new Set(replies.map((reply) => reply.body.totp_secret.id)).size).toBe(1)
    expect(replies.filter((reply) => reply.body.totp_secret.secret !== undefined)).toHaveLength(1)
    const retry = await world.post(SECRETS, { label: 'retried' })
    const again = await world.post(SECRETS, { label: 'retried' }, 'live', { 'x-stainless-retry-count': '1' })
    const { secret, ...rest } = retry.body.totp_secret
    expect([again.body.totp_secret, typeof secret]).toEqual([rest, 'string'])
  })

  it('Secrets are stored encrypted: nothing of them is in the database or the log', async () => {
    const secret = 'ONLYTHISSECRETAPPEARSNOWHEREELSE'
    const made = await world.post(SECRETS, { label: 'sealed', secret }, 'live', {
      'idempotency-key': 'sealed',
    })
    const uri = await create({ uri: `otpauth://totp/sealed?secret=${secret}` })
    await code(uri.id)
    const dump = await dumpOf(world.app)
    expect(dump).toContain(made.body.totp_secret.id)
    expect(dump).not.toContain(secret)
    expect(world.logs.join('\n')).not.toContain(secret)
    const rows = await world.app.ctx.db.all<{ secret: string; kid: string }>(
      "select secret, kid from totp_secrets where label = 'sealed'",
    )
    expect(rows).toHaveLength(2)
    for (const row of rows) expect(row.secret.startsWith(`v1.${row.kid}.`)).toBe(true)
  })

  it('a secret moved to another row does not open, of the same account or another', async () => {
    const [one, two, theirs] = [
      await create({ label: 'one' }),
      await create({ label: 'two' }),
      await create({ label: 'theirs' }, b.live),
    ]
    for (const [target, as] of [
      [two, 'live'],
      [theirs, b.live],
    ] as const) {
      await world.app.ctx.db.run(
        'update totp_secrets set secret = (select secret from totp_secrets where id = $2) where id = $1',
        [target.id, one.id],
      )
      const reply = await world.get(`${CODE}/${target.id}`, as)
      expect([reply.status, reply.body.message]).toEqual([500, expect.stringContaining('Internal error')])
      expect(world.logs.filter((line) => line.includes('moved from another row')).at(-1)).toContain(target.id)
    }
    expect((await code(one.id)).status).toBe('OK')
  })
})
