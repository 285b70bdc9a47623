import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADA, BOB, createWorld, ENGINES, type Json, LINE, SHARED_LINE, type World } from '../support/world.js'
import { FAY, fresh, groupsIn } from './support.js'

/** Becomes what an unknown number becomes: iMessage, on. */
const GUS = '+12025550107'

describe.each(ENGINES)('groups on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  afterAll(() => world.close())

  const { send, modify, group, chat, eventsOf, ownerId, made } = groupsIn(() => world)

  describe('making one', () => {
    const create = (body: Json, headers = {}) =>
      world.post('/api/create-group', { from_number: LINE, ...body }, 'live', headers)

    it('puts it on its phones; the same people again are the same group', async () => {
      const [a, b] = fresh(2) as [string, string]
      const answer = await create({ numbers: [a, b, a], name: 'Book club' })
      expect(answer.status).toBe(200)
      expect(answer.body).toEqual({
        status: 'OK',
        group_id: expect.stringMatching(/^sb_group_/),
        group_name: 'Book club',
        from_number: LINE,
        participants: [a, b, LINE],
      })
      await world.settle()
      const { group_id } = answer.body
      expect(await chat(group_id)).toMatchObject({ name: 'Book club', members: [a, b, LINE] })
      expect((await create({ numbers: [b, a], name: 'Other' })).body).toEqual(answer.body)
      expect((await send({ numbers: [a, b] })).body).toMatchObject({
        group_id,
        group_display_name: 'Book club',
      })
      const key = { 'idempotency-key': `c-${engine}` }
      const first = await create({ numbers: fresh(2) }, key)
      expect(first.body.group_name).toBe('')
      const [c, d] = fresh(2)
      const twice = await Promise.all([create({ numbers: [c, d] }), create({ numbers: [d, c] })])
      expect(twice[0]!.body.group_id).toBe(twice[1]!.body.group_id)
    })

    it('refuses what cannot be one', async () => {
      for (const [body, status] of [
        [{}, 400],
        [{ numbers: [ADA] }, 400],
        [{ numbers: fresh(26) }, 400],
        [{ numbers: [ADA, LINE] }, 400],
        [{ numbers: [ADA, FAY], name: '  ' }, 400],
        [{ numbers: [GUS, BOB] }, 422],
      ] as const)
        expect([body, (await create(body)).status]).toEqual([body, status])
    })
  })

  describe('membership', () => {
    it('adds and removes, on the phones and on our side', async () => {
      const [a, b, c] = fresh(3) as [string, string, string]
      const id = await made([a, b])
      const added = await modify(id, 'add', c)
      expect(added.status).toBe(200)
      expect(added.body).toEqual({
        status: 'OK',
        message: `${c} is in the group`,
        group_id: id,
        modify_type: 'add_recipient',
        number: c,
        error: null,
        error_message: null,
      })
      expect((await group(id)).participant_numbers).toEqual([a, b, c])
      expect((await chat(id)).members).toEqual([a, b, c, LINE])
      await send({ group_id: id })
      await world.advance(1000)
      expect(await world.inbox(c)).toHaveLength(1)
      expect((await modify(id, 'remove', a)).status).toBe(200)
      expect((await group(id)).participant_numbers).toEqual([b, c])
      expect((await chat(id)).members).toEqual([b, c, LINE])
      expect((await eventsOf(id)).map(([type, data]) => [type, data.members.length])).toEqual([
        ['group.created', 2],
        ['group.updated', 3],
        ['group.updated', 2],
      ])
      // The new people are this group now, and the old ones are not.
      expect((await send({ numbers: [c, b] })).body.group_id).toBe(id)
      expect((await send({ numbers: [a, b] })).body.group_id).not.toBe(id)
    })

    it('adding who is in it, or removing who is not, is OK and changes nothing', async () => {
      const [a, b, c] = fresh(3) as [string, string, string]
      const id = await made([a, b])
      const before = await group(id)
      expect((await modify(id, 'add', a)).body).toMatchObject({ status: 'OK', error: null })
      expect((await modify(id, 'remove', c)).body).toMatchObject({ status: 'OK', error: null })
      expect(await group(id)).toEqual(before)
      expect(await eventsOf(id)).toHaveLength(1)
    })

    it('a group that comes to have the people of another keeps to itself', async () => {
      const [a, b, c] = fresh(3) as [string, string, string]
      const three = await made([a, b, c])
      const two = await made([a, b])
      expect((await modify(two, 'add', c)).status).toBe(200)
      expect((await send({ numbers: [a, b, c] })).body.group_id).toBe(three)
      expect((await send({ group_id: two })).body.group_id).toBe(two)
      expect((await modify(two, 'remove', c)).status).toBe(200)
      expect((await send({ numbers: [a, b] })).body.group_id).toBe(two)
    })

    it('removal needs at least 4 members before it', async () => {
      const [a, b, c] = fresh(3) as [string, string, string]
      const small = await modify(await made([a, b]), 'remove', a)
      expect(small.status).toBe(400)
      expect(small.body).toMatchObject({
        status: 'ERROR',
        error: 'group_too_small',
        error_message: small.body.message,
      })
      const id = await made([a, b, c])
      const both = await Promise.all([modify(id, 'remove', a), modify(id, 'remove', b)])
      expect(both.map((one) => one.status).sort()).toEqual([200, expect.toBeOneOf([400, 422])])
      expect((await chat(id)).members).toHaveLength(3)
      expect((await group(id)).participants).toHaveLength(2)
    })

    it('an e-mail address of iMessage may be added: the phone of its owner is in the group by it', async () => {
      const [a, b, owner] = fresh(3) as [string, string, string]
      const id = await made([a, b])
      expect((await modify(id, 'add', 'nobody@example.com')).status).toBe(422)
      await world.setPhone(owner, { email: 'someone@example.com' })
      expect((await modify(id, 'add', 'Someone@Example.com')).body.number).toBe('someone@example.com')
      const { participants, participant_numbers } = await group(id)
      expect(participant_numbers).toEqual([a, b])
      expect(participants[2]).toMatchObject({ handle: 'someone@example.com', phone: null, type: 'contact' })
      await send({ group_id: id })
      await world.advance(1000)
      expect((await world.inbox(owner)).map((one) => one.content)).toEqual(['Hello all'])
      await world.text(owner, 'From my mail', { to: undefined, group_id: id })
      await world.advance(1000)
      const [record] = (await world.get(`/api/v2/messages?group_id=${id}&is_outbound=false`)).body.data
      expect(record).toMatchObject({
        content: 'From my mail',
        from_number: 'someone@example.com',
        participants: [a, b, 'someone@example.com', LINE],
      })
      expect((await world.inbox(a)).at(-1)).toMatchObject({ from: 'someone@example.com' })
      expect((await world.post(`/sim/groups/${id}/leave`, { by: owner })).body.members).toEqual([a, b, LINE])
    })

    it('says by code what is wrong', async () => {
      const [a, b, c] = fresh(3) as [string, string, string]
      const id = await made([a, b])
      const full = await made(fresh(25))
      const withLine = await made([a, SHARED_LINE])
      const cases: [Json, number, string | undefined, RegExp][] = [
        [{ group_id: 'sb_group_none' }, 404, 'group_not_found', /^group_id: /],
        [{ group_id: full }, 400, 'group_full', /25 people/],
        [{ number: LINE }, 400, 'account_line', /^number: /],
        [{ number: SHARED_LINE }, 400, 'account_line', /^number: /],
        [
          { group_id: withLine, number: SHARED_LINE, modify_type: 'remove_recipient', from_number: LINE },
          400,
          'account_line',
          /^number: /,
        ],
        [{ group_id: withLine }, 400, 'ambiguous_sending_line', /^from_number: /],
        [{ from_number: SHARED_LINE }, 400, 'line_not_registered', /^from_number: /],
        [{ from_number: '+12025550177' }, 400, 'line_not_registered', /^from_number: /],
        [
          { modify_type: 'rename' },
          400,
          undefined,
          /^modify_type: must be one of add_recipient, remove_recipient/,
        ],
        [{ modify_type: undefined }, 400, undefined, /missing required parameter: modify_type/],
        [{ number: undefined }, 400, undefined, /missing required parameter: number/],
        [{ number: 'nobody' }, 400, undefined, /^number: /],
        [{ number: 'a@b@example.com' }, 400, undefined, /^number: /],
        [{ number: [c] }, 400, undefined, /^number: /],
        [{ group_id: '' }, 400, undefined, /^group_id: /],
        [{ group_id: undefined }, 400, undefined, /missing required parameter: group_id/],
        [{ number: BOB }, 422, undefined, /iMessage only/],
      ]
      for (const [fields, status, error, text] of cases) {
        const body = { group_id: id, modify_type: 'add_recipient', number: c, ...fields }
        const answer = await world.post('/api/modify-group', body)
        expect([fields, answer.status, answer.body.error]).toEqual([fields, status, error])
        expect(answer.body.status).toBe('ERROR')
        expect(answer.body.message).toMatch(text)
      }
      expect(
        (
          await world.post('/api/modify-group', {
            group_id: withLine,
            modify_type: 'add_recipient',
            number: c,
            from_number: LINE,
          })
        ).status,
      ).toBe(200)
      expect((await group(id)).participant_numbers).toEqual([a, b])
    })

    it('a repeat with the same Idempotency-Key changes nothing a second time', async () => {
      const [a, b, c, d] = fresh(4) as [string, string, string, string]
      const id = await made([a, b, c])
      const body = { group_id: id, modify_type: 'add_recipient', number: d }
      const key = { 'idempotency-key': `m-${engine}` }
      const first = await world.post('/api/modify-group', body, 'live', key)
      await modify(id, 'remove', d)
      const again = await world.post('/api/modify-group', body, 'live', key)
      expect(again.body).toEqual(first.body)
      expect(again.headers['x-idempotent-replay']).toBe('true')
      await world.settle()
      expect((await group(id)).participant_numbers).toEqual([a, b, c])
      expect((await chat(id)).members).toEqual([a, b, c, LINE])
      expect((await world.post('/api/modify-group', { ...body, number: a }, 'live', key)).status).toBe(422)
    })

    it('is refused while the line is gone', async () => {
      const line = '+12025550160'
      const owner = await ownerId()
      const { id } = (await world.post('/admin/lines', { account_id: owner, number: line }, 'admin')).body
      await world.settle()
      const { group_id } = (await send({ numbers: fresh(2), from_number: line })).body
      await world.advance(1000)
      await world.call('DELETE', `/admin/lines/${id}`, { as: 'admin' })
      expect((await modify(group_id, 'add', FAY)).body).toMatchObject({ error: 'line_not_registered' })
      expect((await group(group_id)).group_id).toBe(group_id)
    })
  })
})
