import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_WORLD } from '../../src/services/accounts/default-world.js'
import { ADA, createWorld, ENGINES, type Json, LINE, START, type Who, type World } from '../support/world.js'

const SERVICES = '/api/v2/verify/services'
const LIST = '/api/v2/verify/verifications'
const B_LINE = '+12025550150'
const NO_SID = `SV${'0'.repeat(32)}`

describe.each(ENGINES)('the list of verifications on %s', (engine) => {
  let world: World
  let b: Awaited<ReturnType<World['addAccount']>>
  const sids: string[] = []
  let service: Json
  beforeAll(async () => {
    world = await createWorld(engine)
    b = await world.addAccount('b@example.com', B_LINE)
    service = (await world.post(SERVICES, { friendly_name: 'Example' })).body
    for (let i = 0; i < 5; i++) {
      await world.advance(1000)
      sids.push((await world.post(`${SERVICES}/${service.sid}/verifications`, { to: ADA })).body.sid)
    }
  })
  afterAll(() => world.close())
  const list = async (query = '', as?: Who) => {
    const { body } = await world.get(`${LIST}${query}`, as)
    return { sids: body.data.map((row: Json) => row.sid), ...body }
  }

  it('is in pages, the last changed first', async () => {
    expect(await list()).toMatchObject({
      status: 'OK',
      sids: sids.toReversed(),
      pagination: { count: 5, has_more: false, limit: 100, offset: 0 },
    })
    expect(await list('?limit=2')).toMatchObject({
      sids: sids.toReversed().slice(0, 2),
      pagination: { count: 2, has_more: true, limit: 2, offset: 0 },
    })
    expect(await list('?limit=2&offset=4')).toMatchObject({
      sids: [sids[0]],
      pagination: { count: 1, has_more: false, limit: 2, offset: 4 },
    })
    expect(await list('?offset=99')).toMatchObject({ sids: [], pagination: { count: 0, has_more: false } })
    expect((await list('?limit=5000')).pagination.limit).toBe(1000)
    const from = new Date(START + 4000).toISOString()
    expect((await list(`?updated_at_gte=${from}`)).sids).toEqual([sids[4], sids[3]])
    expect((await list('?updated_at_gte=2199-01-01')).sids).toEqual([])
  })

  it.each([
    'limit=0',
    'limit=-1',
    'limit=1.5',
    'limit=NaN',
    'limit=1&limit=2',
    'offset=-1',
    'offset=x',
    'updated_at_gte=yesterday',
    'updated_at_gte=2026-02-30',
    'updated_at_gte=2026-01-01T00',
    'updated_at_gte=1700000000',
  ])('refuses ?%s, naming the field', async (query) => {
    const reply = await world.get(`${LIST}?${query}`)
    expect([reply.status, reply.body.status]).toEqual([400, 'ERROR'])
    expect(reply.body.message).toContain(query.split('=')[0])
  })

  it('takes huge offsets', async () => {
    for (const offset of ['2147483648', '9007199254740991', '1e15']) {
      const reply = await world.get(`${LIST}?offset=${offset}`)
      expect([reply.status, reply.body.data]).toEqual([200, []])
    }
  })

  it("shows nothing of other accounts, and another account's things answer as absent ones do", async () => {
    expect((await list('', b.live)).sids).toEqual([])
    expect((await list('', 'test')).sids).toEqual([])
    const foreign = `${SERVICES}/${service.sid}`
    const absent = `${SERVICES}/${NO_SID}`
    for (const as of [b.live, 'test'] as Who[]) {
      for (const [method, tail, body] of [
        ['GET', '', undefined],
        ['DELETE', '', undefined],
        ['POST', '/verifications', { to: ADA }],
        ['GET', `/verifications/${sids[0]}`, undefined],
        ['POST', `/verifications/${sids[0]}`, { status: 'canceled' }],
        ['DELETE', `/verifications/${sids[0]}`, undefined],
      ] as const) {
        const [theirs, nobodys] = [
          await world.call(method, foreign + tail, { as, body }),
          await world.call(method, absent + tail, { as, body }),
        ]
        expect([method, tail, theirs.status, theirs.body]).toEqual([method, tail, 404, nobodys.body])
      }
    }
    const other = (await world.post(SERVICES, { friendly_name: 'Other' })).body
    expect((await world.get(`${SERVICES}/${other.sid}/verifications/${sids[0]}`)).status).toBe(404)
    expect((await world.get(`${foreign}/verifications/${sids[0]}`)).body.status).toBe('pending')
  })

  it('is for the whole account: Basic and its tokens count, a token for some lines does not', async () => {
    const { id, secret } = DEFAULT_WORLD.keys.live
    const basic = { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` }
    const mint = async (body: Json) => (await world.post('/v3/auth/tokens', body)).body
    const bearer = async (body: Json) => ({ authorization: `Bearer ${(await mint(body)).token}` })
    const [account, confined] = [await bearer({}), await bearer({ phone_number: LINE })]
    for (const [method, path, body] of [
      ['GET', LIST],
      ['GET', SERVICES],
      ['GET', `${SERVICES}/${service.sid}`],
      ['GET', `${SERVICES}/${service.sid}/verifications/${sids[0]}`],
      ['POST', SERVICES, { friendly_name: 'x' }],
      ['POST', `${SERVICES}/${service.sid}/verifications`, { to: ADA }],
      ['POST', `${SERVICES}/${service.sid}/verifications/${sids[0]}`, { status: 'canceled' }],
    ] as const) {
      const status = async (headers: Record<string, string>) =>
        (await world.call(method, path, { as: null, body, headers })).status
      const done = method === 'GET' || path.endsWith(sids[0]!) ? 200 : 201
      const answers = [await status(confined), await status(account), await status(basic)]
      expect([method, path, ...answers]).toEqual([method, path, 403, done, done])
    }
  })

  it('is for accounts only', async () => {
    for (const path of [LIST, SERVICES]) {
      expect((await world.get(path, null)).status).toBe(401)
      expect((await world.get(path, 'admin')).status).toBe(403)
    }
  })

  it.each(['%00', "'", '%25', 'x'.repeat(300), 'VR*', '%2F'])('a sid %s finds nothing', async (sid) => {
    for (const path of [`${SERVICES}/${sid}`, `${SERVICES}/${service.sid}/verifications/${sid}`])
      expect((await world.get(path)).status).toBe(sid === '%00' ? 400 : 404)
  })
})
