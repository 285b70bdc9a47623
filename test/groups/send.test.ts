import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADA, createWorld, ENGINES, type Json, LINE, SHARED_LINE, type World } from '../support/world.js'
import { FAY, fresh, groupsIn } from './support.js'

describe.each(ENGINES)('groups on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  afterAll(() => world.close())

  const { send, modify, group, chat, eventsOf, ownerId, made } = groupsIn(() => world)

  describe('sending', () => {
    it('reaches every phone, with the group on it, and is delivered when all have it', async () => {
      const answer = await send({ numbers: [ADA, FAY], content: 'Hello both' })
      expect(answer.status).toBe(202)
      expect(answer.body).toMatchObject({
        status: 'QUEUED',
        message_type: 'group',
        group_id: expect.stringMatching(/^sb_group_[0-9a-f-]{36}$/),
        group_display_name: '',
        participants: [ADA, FAY, LINE],
        number: [ADA, FAY],
        to_number: [ADA, FAY],
        from_number: LINE,
        sendblue_number: LINE,
        content: 'Hello both',
        media_url: '',
        service: 'iMessage',
        opted_out: false,
      })
      const { message_handle, group_id } = answer.body
      await world.settle()
      expect((await world.record(message_handle)).status).toBe('SENT')
      await world.advance(1000)
      expect(await world.status(message_handle)).toMatchObject({
        status: 'DELIVERED',
        was_downgraded: false,
        number: [ADA, FAY],
        participants: [ADA, FAY, LINE],
      })
      const { id } = await chat(group_id)
      for (const phone of [ADA, FAY]) {
        expect((await world.inbox(phone)).filter((one) => one.group?.id === id)).toMatchObject([
          {
            content: 'Hello both',
            from: LINE,
            message_handle,
            group: { name: null, members: [ADA, FAY, LINE] },
          },
        ])
      }
      expect(await world.record(message_handle)).toMatchObject({
        status: 'DELIVERED',
        message_type: 'group',
        group_id,
        group_display_name: '',
        participants: [ADA, FAY, LINE],
        number: `${ADA},${FAY}`,
        to_number: `${ADA},${FAY}`,
      })
      expect(await eventsOf(group_id)).toEqual([
        ['group.created', { name: null, photoUrl: null, members: [ADA, FAY] }],
      ])
    })

    it('the same people are the same group, in any order and however often they are named', async () => {
      const [a, b, c] = fresh(3) as [string, string, string]
      const { group_id } = (await send({ numbers: [a, b, c] })).body
      const written = c.replace('+1202555', '+1 (202) 555-')
      const again = await send({ numbers: [written, a, b, a, c] })
      expect(again.body).toMatchObject({ group_id, to_number: [a, b, c] })
      expect((await send({ group_id })).body.group_id).toBe(group_id)
      expect((await send({ numbers: [a, b] })).body.group_id).not.toBe(group_id)
      expect((await send({ numbers: [a, b, c], from_number: SHARED_LINE })).body.group_id).not.toBe(group_id)
      await world.advance(1000)
      expect((await group(group_id)).participants).toHaveLength(3)
      expect((await world.inbox(a)).length).toBe(5)
    })

    it('two first sends at once make one group', async () => {
      const [a, b] = fresh(2)
      const answers = await Promise.all([0, 1, 2, 3].map((i) => send({ numbers: i % 2 ? [a, b] : [b, a] })))
      expect(new Set(answers.map((answer) => answer.body.group_id)).size).toBe(1)
      await world.advance(1000)
      expect(await world.inbox(a!)).toHaveLength(4)
      expect(await eventsOf(answers[0]!.body.group_id)).toHaveLength(1)
    })

    it('messages of a group leave in the order they were accepted', async () => {
      const [a, b] = fresh(2) as [string, string]
      const texts = ['one', 'two', 'three', 'four', 'five']
      for (const content of texts) await send({ numbers: [a, b], content })
      await world.advance(5000)
      expect((await world.inbox(b)).map((message) => message.content)).toEqual(texts)
    })

    it('takes 25 people and not 26; two and not one', async () => {
      const many = fresh(26)
      expect((await send({ numbers: many.slice(0, 25) })).body.participants).toHaveLength(26)
      const faults: [Json, RegExp][] = [
        [{ numbers: many }, /^numbers: .*at most 25/],
        [{ numbers: fresh(100) }, /^numbers: .*at most 25/],
        [{ numbers: [ADA] }, /^numbers: .*at least 2 different/],
        [{ numbers: [ADA, ADA, '+1 202-555-0101'] }, /^numbers: .*at least 2 different/],
        [{ numbers: [] }, /^numbers: .*at least 2 different/],
        [{ numbers: [ADA, LINE] }, /Cannot send messages to self/],
        [{ numbers: [ADA, '2025550106'] }, /^numbers\.1: .*E\.164/],
        [{ numbers: [ADA, 'ada@example.com'] }, /^numbers\.1: .*E\.164/],
        [{ numbers: [ADA, 42] }, /^numbers\.1: /],
        [{ numbers: [ADA, null] }, /^numbers\.1: /],
        [{ numbers: `${ADA},${FAY}` }, /^numbers: /],
        [{}, /missing required parameter: numbers \(or group_id\)/],
        [{ numbers: null, group_id: null }, /missing required parameter: numbers \(or group_id\)/],
        [{ numbers: [ADA, FAY], content: '' }, /missing required parameter: content/],
        [{ numbers: [ADA, FAY], content: 'x'.repeat(18_996) }, /^content: /],
        [{ numbers: [ADA, FAY], from_number: undefined }, /missing required parameter: from_number/],
        [{ numbers: [ADA, FAY], from_number: '+12025550177' }, /This phone number is not defined/],
        [{ numbers: [ADA, FAY], media_url: 'http://example.com/a.png' }, /^media_url: /],
        [{ numbers: [ADA, FAY], media_url: 'https://10.0.0.1/a.png' }, /^media_url: /],
        [{ numbers: [ADA, FAY], status_callback: 'https://u:p@example.com/' }, /^status_callback: /],
        [{ numbers: [ADA, FAY], send_style: 'Confetti' }, /^send_style: /],
        [{ numbers: [ADA, FAY], seat_id: 'nobody' }, /^seat_id: /],
      ]
      for (const [fields, text] of faults) {
        const answer = await send(fields)
        expect([fields, answer.status]).toEqual([fields, 400])
        expect(answer.body).toMatchObject({ status: 'ERROR', error_code: 4000 })
        expect(answer.body.message).toMatch(text)
      }
    })

    it('takes group_id instead of numbers; numbers beside it must be its people', async () => {
      const [a, b, c] = fresh(3) as [string, string, string]
      const group_id = await made([a, b])
      expect((await send({ group_id, numbers: [b, a] })).body.group_id).toBe(group_id)
      expect((await send({ group_id, numbers: [] })).body.group_id).toBe(group_id)
      expect(
        (await send({ groupId: group_id, fromNumber: LINE, from_number: undefined })).body.group_id,
      ).toBe(group_id)
      const other = await send({ group_id, numbers: [a, b, c] })
      expect(other.status).toBe(400)
      expect(other.body.message).toMatch(/^numbers: not the people of group_id/)
      for (const absent of ['sb_group_none', 'x'.repeat(400), "' or 1=1 --", '%']) {
        const answer = await send({ group_id: absent })
        expect(answer.status).toBe(404)
        expect(answer.body).toMatchObject({ status: 'ERROR', error: 'group_not_found' })
      }
      // A group lives on its line.
      expect((await send({ group_id, from_number: SHARED_LINE })).status).toBe(404)
    })

    it('carries media, styles, seats and replies of the same group', async () => {
      const [a, b, c] = fresh(3) as [string, string, string]
      const owner = await ownerId()
      const seat = { account_id: owner, email: `seat-${engine}@example.com` }
      const { id } = (await world.post('/admin/seats', seat, 'admin')).body
      const first = await send({
        numbers: [a, b],
        content: undefined,
        mediaUrl: 'https://example.com/cat.png',
        sendStyle: 'confetti',
        statusCallback: 'https://example.com/status',
        seat_id: id,
      })
      expect(first.body).toMatchObject({
        content: '',
        media_url: 'https://example.com/cat.png',
        send_style: 'confetti',
        seat_id: id,
        sender_email: seat.email,
      })
      await world.advance(1000)
      expect(await world.inbox(b)).toMatchObject([
        { media_url: 'https://example.com/cat.png', send_style: 'confetti' },
      ])
      const handle = first.body.message_handle
      const answer = await send({ numbers: [a, b], reply_to: { message_handle: handle } })
      expect(answer.body.reply_to).toEqual({ message_handle: handle })
      await world.advance(1000)
      const [shown, replied] = await world.inbox(b)
      expect(replied.reply_to).toBe(shown.id)

      const single = (await world.send({ number: a })).message_handle
      for (const target of [
        { numbers: [a, b], reply_to: { message_handle: single } },
        { numbers: [a, c], reply_to: { message_handle: handle } },
        { numbers: [a, b], reply_to: { message_handle: 'none' } },
        { numbers: [a, b], from_number: SHARED_LINE, reply_to: { message_handle: handle } },
      ]) {
        const refused = await send(target)
        expect(refused.status).toBe(400)
        expect(refused.body.message).toMatch(/^reply_to\.message_handle: no such message/)
      }
      expect((await world.send({ number: a, reply_to: { message_handle: handle } })).message).toMatch(
        /^reply_to\.message_handle: no such message/,
      )
    })

    it('makes no group for a send that is refused', async () => {
      const [a, b] = fresh(2)
      await send({ numbers: [a, b], seat_id: 'nobody' })
      await send({ numbers: [a, b], reply_to: { message_handle: 'none' } })
      const { n } = (await world.app.ctx.db.one<{ n: number }>(
        'select count(*) as n from group_members where handle = $1',
        [a!],
      ))!
      expect(n).toBe(0)
    })

    it('is one message per Idempotency-Key, and per retry of the published client', async () => {
      const [a, b] = fresh(2)
      const key = { 'idempotency-key': `g-${engine}` }
      const answers = await Promise.all([0, 1, 2].map(() => send({ numbers: [a, b] }, key)))
      expect(new Set(answers.map((one) => JSON.stringify(one.body))).size).toBe(1)
      const retry = await send({ numbers: [a, b] }, { 'x-stainless-retry-count': '1' })
      expect(retry.headers['x-idempotent-replay']).toBe('true')
      expect(retry.body.message_handle).toBe(answers[0]!.body.message_handle)
      await world.advance(1000)
      expect(await world.inbox(a!)).toHaveLength(1)
      expect((await send({ numbers: [a, b], content: 'other' }, key)).status).toBe(422)
    })

    it('a repeat makes no second group, whoever is in the first by now', async () => {
      const [a, b, c] = fresh(3) as [string, string, string]
      const key = { 'idempotency-key': `grown-${engine}` }
      const first = await send({ numbers: [a, b] }, key)
      await world.advance(1000)
      expect((await modify(first.body.group_id, 'add', c)).status).toBe(200)
      const again = await send({ numbers: [a, b] }, key)
      expect(again.headers['x-idempotent-replay']).toBe('true')
      expect(again.body).toMatchObject({
        message_handle: first.body.message_handle,
        group_id: first.body.group_id,
      })
      const groups = () =>
        world.app.ctx.db.all('select distinct group_id from group_members where handle = $1', [a])
      expect(await groups()).toHaveLength(1)
      expect((await send({ numbers: [a, b], content: 'other' }, key)).status).toBe(422)
      expect(await groups()).toHaveLength(1)
      expect((await send({ numbers: [a, b] })).body.group_id, 'meant anew').not.toBe(first.body.group_id)
      expect(await groups()).toHaveLength(2)
    })

    it('is refused on a line without groups', async () => {
      await world.setLine(SHARED_LINE, { config: { mac: false } })
      const answer = await send({ numbers: [ADA, FAY], from_number: SHARED_LINE })
      expect(answer.status).toBe(400)
      expect(answer.body).toMatchObject({ error: 'unsupported_line' })
      await world.setLine(SHARED_LINE, { config: {} })
    })
  })

  describe('lists', () => {
    it('by type, by group, and by everyone a message went to or came from', async () => {
      const [a, b, c] = fresh(3) as [string, string, string]
      const contents = async (query: string) => {
        const { data, pagination } = (await world.get(`/api/v2/messages?order_direction=asc&${query}`)).body
        expect(pagination.total).toBe(data.length)
        return data.map((message: Json) => message.content)
      }
      const group_id = (await send({ numbers: [a, b], content: 'to both' })).body.group_id
      await world.advance(10)
      await send({ numbers: [b, c], content: 'to others' })
      await world.advance(10)
      await world.send({ number: a, content: 'to one' })
      await world.advance(1000)
      await world.text(a, 'from one', { to: undefined, group_id })
      await world.advance(10)
      const only = (number: string) => `number=${encodeURIComponent(number)}`
      expect(await contents(`group_id=${group_id}`)).toEqual(['to both', 'from one'])
      expect(await contents(`${only(a)}`)).toEqual(['to both', 'to one', 'from one'])
      for (const order of ['createdAt', 'updatedAt', 'sentAt'])
        expect((await contents(`${only(b)}&order_by=${order}`)).sort()).toEqual(['to both', 'to others'])
      expect(await contents(`to_${only(a)}`)).toEqual(['to both', 'to one'])
      expect(await contents(`from_${only(a)}`)).toEqual(['from one'])
      expect(await contents(`${only(a)}&message_type=message`)).toEqual(['to one'])
      expect(await contents(`${only(a)}&message_type=group`)).toEqual(['to both', 'from one'])
      expect(await contents(`${only(a)}&message_type=group&is_outbound=false`)).toEqual(['from one'])
      expect(await contents(`${only(a)}&to_${only(a)}&is_outbound=true`)).toEqual(['to both', 'to one'])
      expect(await contents(`${only(a)}&to_${only(b)}`)).toEqual(['to both'])
      expect(await contents(`${only(b)}&to_${only(a)}&from_${only(LINE)}`)).toEqual(['to both'])
      expect(await contents(`${only(b)}&to_${only(c)}&order_by=sentAt`)).toEqual(['to others'])
      expect(await contents(`${only(a)}&to_${only(c)}`)).toEqual([])
      expect(await contents(`${only(c)}&group_id=${group_id}`)).toEqual([])
      expect(await contents(`group_id=none`)).toEqual([])
      const page = (await world.get(`/api/v2/messages?${only(a)}&limit=1&offset=1`)).body
      expect(page.pagination).toEqual({ hasMore: true, limit: 1, offset: 1, total: 3 })
      const records = (await world.get(`/api/v2/messages?group_id=${group_id}`)).body.data
      for (const record of records)
        expect(record).toMatchObject({ group_id, message_type: 'group', participants: [a, b, LINE] })
      const asAdmin = await world.get(`/api/v2/messages?${only(b)}`, 'admin')
      expect(asAdmin.body.pagination.total).toBe(2)
    })
  })
})
