import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorld, ENGINES, type Json, LINE, SHARED_LINE, type Who, type World } from '../support/world.js'
import { FAY, fresh, groupsIn } from './support.js'

/** Phones that become what an unknown number becomes: iMessage, on. */
const HAL = '+12025550108'
const IDA = '+12025550109'

describe.each(ENGINES)('groups on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  afterAll(() => world.close())

  const { send, modify, group } = groupsIn(() => world)

  describe('between accounts', () => {
    it("another account's group is as absent as none, and its members' phones show nothing of it", async () => {
      const b = await world.addAccount(`b-${engine}@example.com`, '+12025550150')
      const body = { from_number: '+12025550150', numbers: [HAL, IDA], content: 'beta-canary' }
      const theirs = (await world.post('/api/send-group-message', body, b.live)).body.group_id
      const mine = (await send({ numbers: [HAL, IDA], content: 'alpha' })).body.group_id
      await world.advance(1000)
      await world.post(`/sim/phones/${HAL}/messages`, { group_id: theirs, content: 'beta-reply' }, b.live)
      await world.advance(1000)
      expect(theirs).not.toBe(mine)
      const absent = 'sb_group_00000000-0000-7000-8000-000000000000'
      const asked: ((id: string) => Promise<{ status: number; body: Json }>)[] = [
        (id) => world.get(`/api/v2/groups/${id}`),
        (id) => send({ group_id: id }),
        (id) => modify(id, 'add', FAY),
        (id) => world.post(`/api/v2/groups/${id}/name`, { group_name: 'x' }),
        (id) => world.post(`/api/v2/groups/${id}/photo`, { photo_url: null }),
        (id) => world.get(`/api/v2/messages?group_id=${id}`),
        (id) => world.get(`/sim/groups/${id}`),
        (id) => world.post(`/sim/groups/${id}/leave`, { by: HAL }),
        (id) => world.post(`/sim/phones/${HAL}/messages`, { group_id: id, content: 'x' }),
      ]
      const theirChat = (await world.get(`/sim/groups/${theirs}`, b.live)).body.id
      for (const [index, ask] of asked.entries()) {
        const plain = async (id: string) => {
          const { status, body } = await ask(id)
          return [index, status, JSON.stringify(body).replaceAll(id, '<id>')]
        }
        expect(await plain(theirs)).toEqual(await plain(absent))
        expect(await plain(theirChat)).toEqual(await plain(absent))
      }
      const shown = JSON.stringify([
        (await world.get('/sim/groups')).body,
        await world.inbox(HAL),
        await world.inbox(IDA),
        (await world.get(`/api/v2/messages?number=${encodeURIComponent(HAL)}`)).body,
      ])
      expect(shown).not.toContain('beta')
      expect(shown).not.toContain(theirs)
      expect((await world.inbox(IDA, b.live)).map((one) => one.content)).toEqual([
        'beta-canary',
        'beta-reply',
      ])
      expect((await world.get(`/api/v2/groups/${theirs}`, null)).status).toBe(401)
      expect((await world.get(`/api/v2/groups/${theirs}`, 'admin')).status).toBe(403)
      expect((await world.get(`/api/v2/groups/${mine}`, 'test')).status).toBe(404)
    })

    it('on a shared line a group belongs to the account that made it, whoever its people last heard from', async () => {
      const b = await world.addAccount(`shared-${engine}@example.com`, '+12025550151')
      const lines = (await world.get('/admin/lines', 'admin')).body.data
      const shared = lines.find((line: Json) => line.number === SHARED_LINE && line.world === 'live')
      await world.post(`/admin/lines/${shared.id}/members`, { account_id: b.id }, 'admin')
      const [a, c] = fresh(2) as [string, string]
      const mine = (await send({ from_number: SHARED_LINE, numbers: [a, c] })).body.group_id
      const body = { from_number: SHARED_LINE, numbers: [a, c], content: 'x' }
      const theirs = (await world.post('/api/send-group-message', body, b.live)).body.group_id
      expect(theirs).not.toBe(mine)
      await world.advance(1000)
      await world.send({ from_number: SHARED_LINE, number: a }, b.live)
      await world.advance(1000)
      await world.text(a, 'for the first', { to: undefined, group_id: mine })
      await world.text(a, 'for the second', { to: undefined, group_id: theirs }, b.live)
      await world.advance(1000)
      const inbound = async (as: Who) =>
        (
          await world.get(`/api/v2/messages?is_outbound=false&from_number=${encodeURIComponent(a)}`, as)
        ).body.data.map((message: Json) => [message.group_id, message.content])
      expect(await inbound('live')).toEqual([[mine, 'for the first']])
      expect(await inbound(b.live)).toEqual([[theirs, 'for the second']])
      expect((await world.inbox(c)).map((one) => one.content)).toEqual(['Hello all', 'for the first'])
      expect((await world.inbox(c, b.live)).map((one) => one.content)).toEqual(['x', 'for the second'])
    })

    it('a token for some lines sees and changes the groups of those and no others', async () => {
      const { token } = (await world.post('/v3/auth/tokens', { phone_numbers: [SHARED_LINE] })).body
      const headers = { authorization: `Bearer ${token}` }
      const as = (method: string, path: string, body?: Json) =>
        world.call(method, path, { as: null, body, headers })
      const [a, c] = fresh(2) as [string, string]
      const contact = { number: a, first_name: 'Ann', last_name: 'Lee', sendblue_number: LINE }
      const { contact_id } = (await world.post('/api/v2/contacts', contact)).body.contact
      const inside = (await send({ numbers: [a, c], from_number: SHARED_LINE })).body.group_id
      const outside = (await send({ numbers: [a, c] })).body.group_id
      await world.advance(1000)
      const shown = (await as('GET', `/api/v2/groups/${inside}`)).body.data
      expect(shown.participants[0]).toMatchObject({ handle: a, name: null, contact_id: null })
      expect((await group(inside)).participants).toMatchObject([
        { handle: a, name: 'Ann Lee', contact_id },
        { handle: c, name: null, contact_id: null },
      ])
      const added = { group_id: inside, modify_type: 'add_recipient', number: fresh(1)[0] }
      expect((await as('POST', '/api/modify-group', added)).status).toBe(200)
      expect((await as('POST', `/api/v2/groups/${inside}/name`, { group_name: 'In' })).status).toBe(200)
      const text = { from_number: SHARED_LINE, content: 'x' }
      expect((await as('POST', '/api/send-group-message', { ...text, group_id: inside })).status).toBe(202)
      for (const [method, path, body] of [
        ['GET', '/api/v2/groups/<id>', undefined],
        ['POST', '/api/v2/groups/<id>/name', { group_name: 'x' }],
        ['POST', '/api/v2/groups/<id>/photo', { photo_url: null }],
        ['POST', '/api/modify-group', { ...added, group_id: '<id>' }],
        ['POST', '/api/send-group-message', { ...text, group_id: '<id>' }],
      ] as const) {
        const answers = []
        for (const id of [outside, 'sb_group_none']) {
          const fill = (value: unknown) => JSON.parse(JSON.stringify(value ?? null).replaceAll('<id>', id))
          const { status, body: answer } = await as(method, fill(path), body && fill(body))
          answers.push([status, answer])
        }
        expect(answers[0]).toEqual(answers[1])
        expect(answers[0]![0]).toBe(404)
      }
      const fromOutside = { from_number: LINE, numbers: [a, c], content: 'x' }
      expect((await as('POST', '/api/send-group-message', fromOutside)).status).toBe(403)
      expect((await as('POST', '/api/create-group', fromOutside)).status).toBe(403)
    })

    it('the free plan writes to groups of verified contacts only, and says which line acts', async () => {
      const account = { email: `free-${engine}@example.com`, plan: 'free' }
      const { id } = (await world.post('/admin/accounts', account, 'admin')).body
      const key = (await world.post('/admin/keys', { account_id: id }, 'admin')).body
      const [a, c, d] = fresh(3) as [string, string, string]
      const shared = { account_id: id, number: '+12025550191', kind: 'shared' }
      await world.post('/admin/lines', shared, 'admin')
      await world.settle()
      const text = { from_number: shared.number, numbers: [a, c], content: 'x' }
      const call = (path: string, body: Json) => world.post(path, body, key)
      await world.text(a, 'hi', { to: shared.number }, key)
      await world.advance(1000)
      const refused = await call('/api/send-group-message', text)
      expect(refused.status).toBe(403)
      expect(refused.body.message).toContain(`${c} is not a verified contact`)
      expect((await call('/api/create-group', text)).status).toBe(403)
      await world.text(c, 'hi', { to: shared.number }, key)
      await world.advance(1000)
      const { group_id } = (await call('/api/send-group-message', text)).body
      await world.advance(1000)
      const change = { group_id, modify_type: 'add_recipient', number: d }
      expect((await call('/api/modify-group', change)).body.message).toMatch(/from_number.*free plan/)
      expect((await call('/api/modify-group', { ...change, from_number: shared.number })).status).toBe(403)
      await world.text(d, 'hi', { to: shared.number }, key)
      await world.advance(1000)
      expect((await call('/api/modify-group', { ...change, from_number: shared.number })).status).toBe(200)
    })
  })
})
