import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_WORLD } from '../src/services/world.js'
import { GIF, PNG, serve } from './support/files.js'
import {
  ADA,
  BOB,
  createWorld,
  credentials,
  DAN,
  ENGINES,
  EVE,
  type Json,
  LINE,
  SHARED_LINE,
  type Who,
  type World,
} from './support/world.js'

/** Phones that become what an unknown number becomes: iMessage, on. */
const FAY = '+12025550106'
const GUS = '+12025550107'
const HAL = '+12025550108'
const IDA = '+12025550109'

let next = 0
/** Numbers nobody has used yet, so that every test has groups of its own. */
function fresh(count: number): string[] {
  return Array.from({ length: count }, () => `+1202555${String(2000 + next++)}`)
}

describe.each(ENGINES)('groups on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  afterAll(() => world.close())

  const send = (fields: Json = {}, headers: Record<string, string> = {}) =>
    world.post(
      '/api/send-group-message',
      { from_number: LINE, content: 'Hello all', ...fields },
      'live',
      headers,
    )
  const modify = (group_id: string, kind: 'add' | 'remove', number: string, fields: Json = {}) =>
    world.post('/api/modify-group', { group_id, modify_type: `${kind}_recipient`, number, ...fields })
  const group = async (id: string) => (await world.get(`/api/v2/groups/${id}`)).body.data
  const chat = async (id: string) => (await world.get(`/sim/groups/${id}`)).body
  const eventsOf = async (subject: string) =>
    (await world.events()).filter((event) => event.subject === subject).map(({ type, data }) => [type, data])
  const ownerId = async (): Promise<string> =>
    (await world.get('/admin/accounts', 'admin')).body.data.find(
      (one: Json) => one.email === DEFAULT_WORLD.email,
    ).id
  /** A group that is on its phones. */
  const made = async (numbers: string[]): Promise<string> => {
    const { group_id } = (await send({ numbers })).body
    await world.advance(1000)
    return group_id
  }

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
      const seat = { account_id: owner, email: `s${next}@example.com` }
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

    it('is refused on a line without groups', async () => {
      await world.setLine(SHARED_LINE, { config: { mac: false } })
      const answer = await send({ numbers: [ADA, FAY], from_number: SHARED_LINE })
      expect(answer.status).toBe(400)
      expect(answer.body).toMatchObject({ error: 'unsupported_line' })
      await world.setLine(SHARED_LINE, { config: {} })
    })
  })

  describe('delivery', () => {
    it('is iMessage only: one member without it and nobody gets it', async () => {
      const [a] = fresh(1) as [string]
      const { message_handle, group_id } = (await send({ numbers: [a, BOB] })).body
      await world.advance(1000)
      expect(await world.record(message_handle)).toMatchObject({
        status: 'ERROR',
        error_code: 10001,
        error_reason: 'refused',
        error_detail: `sim.group_needs_imessage: Groups are iMessage only, and ${BOB} has no iMessage`,
      })
      expect(await world.inbox(a)).toEqual([])
      expect((await world.get(`/sim/groups/${group_id}`)).status).toBe(404)
    })

    it('does not wait for a phone that is off, which gets it when it is on', async () => {
      const [a, b] = fresh(2) as [string, string]
      await world.setPhone(b, { power: false })
      const { message_handle } = (await send({ numbers: [a, b] })).body
      await world.advance(1000)
      expect((await world.record(message_handle)).status).toBe('DELIVERED')
      expect([(await world.inbox(a)).length, (await world.inbox(b)).length]).toEqual([1, 0])
      await world.setPhone(b, { power: true })
      await world.advance(1000)
      expect(await world.inbox(b)).toHaveLength(1)
      const updates = (await world.events()).filter((event) => event.subject === message_handle)
      expect(updates.map((event) => event.data.status)).toEqual(['QUEUED', 'SENT', 'DELIVERED'])
    })

    it('is not delivered before the last phone that is on has it', async () => {
      const [a, b] = fresh(2) as [string, string]
      await world.setPhone(b, { power: false })
      const { message_handle } = (await send({ numbers: [a, b] })).body
      await world.advance(50)
      // What waited for this phone comes at once; the other's is still on its way.
      await world.setPhone(b, { power: true })
      await world.advance(50)
      expect([(await world.inbox(a)).length, (await world.inbox(b)).length]).toEqual([0, 1])
      expect((await world.record(message_handle)).status).toBe('SENT')
      await world.advance(100)
      expect((await world.record(message_handle)).status).toBe('DELIVERED')
    })

    it('is SENT while all phones are off', async () => {
      const [a] = fresh(1) as [string]
      await world.setPhone(a, { power: false })
      const { message_handle } = (await send({ numbers: [a, DAN] })).body
      await world.advance(1000)
      expect((await world.record(message_handle)).status).toBe('SENT')
      await world.setPhone(a, { power: true })
      await world.advance(1000)
      expect((await world.record(message_handle)).status).toBe('DELIVERED')
    })

    it('passes over somebody who refuses everything', async () => {
      const [a] = fresh(1) as [string]
      const { message_handle } = (await send({ numbers: [a, EVE] })).body
      await world.advance(1000)
      expect((await world.record(message_handle)).status).toBe('DELIVERED')
      expect([(await world.inbox(a)).length, (await world.inbox(EVE)).length]).toEqual([1, 0])
    })

    it('is found again after the carrier took it and the connection broke, and goes out once', async () => {
      const [a, b] = fresh(2) as [string, string]
      for (const fault of ['accept-then-drop', 'drop'] as const) {
        await world.setLine(LINE, { config: { fault, fault_times: 1 }, settle_ms: 1000 })
        const { message_handle } = (await send({ numbers: [a, b], content: fault })).body
        await world.advance(20_000)
        expect((await world.record(message_handle)).status).toBe('DELIVERED')
        for (const phone of [a, b])
          expect((await world.inbox(phone)).filter((one) => one.content === fault)).toHaveLength(1)
      }
      await world.setLine(LINE, { config: {} })
    })

    it('reading in a group is reported, and proves arrival', async () => {
      await world.setLine(LINE, { config: { receipts: false } })
      const [a, b] = fresh(2) as [string, string]
      const { message_handle } = (await send({ numbers: [a, b] })).body
      await world.advance(1000)
      expect((await world.record(message_handle)).status).toBe('SENT')
      expect((await world.post(`/sim/phones/${a}/read`, undefined)).body).toEqual({ read: 1 })
      expect((await world.record(message_handle)).status).toBe('DELIVERED')
      await world.setLine(LINE, { config: {} })
    })
  })

  describe('consent', () => {
    it('a message to a group with somebody who opted out is sent to nobody, and says so', async () => {
      const [a, b] = fresh(2) as [string, string]
      const group_id = await made([a, b])
      await world.text(b, 'STOP')
      await world.advance(1000)
      const answer = await send({ group_id })
      expect(answer.status).toBe(202)
      expect(answer.body).toMatchObject({ status: 'ERROR', error_code: 4002, opted_out: true })
      expect(answer.body.error_message).toMatch(/^Someone in the group has opted out/)
      await world.advance(1000)
      expect(await world.inbox(a)).toHaveLength(1)
      await world.text(b, 'START')
      await world.advance(1000)
      expect((await send({ group_id })).body.status).toBe('QUEUED')
    })

    it('STOP counts in a group too; a yes there renews nothing', async () => {
      const [a, b] = fresh(2) as [string, string]
      const group_id = await made([a, b])
      await world.text(a, 'Stop', { to: undefined, group_id })
      await world.advance(1000)
      expect(await world.send({ number: a })).toMatchObject({ status: 'ERROR', opted_out: true })
      await world.text(a, 'yes', { to: undefined, group_id })
      await world.advance(1000)
      expect(await world.send({ number: a })).toMatchObject({ status: 'ERROR', opted_out: true })
      expect((await send({ group_id })).body.status).toBe('ERROR')
      await world.text(a, 'yes')
      await world.advance(1000)
      expect((await send({ group_id })).body.status).toBe('QUEUED')
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

  describe('from the other side', () => {
    it('a phone writes into a group: the line gets it, and the other phones', async () => {
      const [a, b, c] = fresh(3) as [string, string, string]
      const group_id = await made([a, b, c])
      const { id } = await world.text(b, 'Hi folks', { to: undefined, group_id })
      await world.advance(1000)
      const [record] = (await world.get(`/api/v2/messages?group_id=${group_id}&is_outbound=false`)).body.data
      expect(record).toMatchObject({
        content: 'Hi folks',
        status: 'RECEIVED',
        message_type: 'group',
        group_id,
        group_display_name: '',
        participants: [a, b, c, LINE],
        from_number: b,
        number: b,
        to_number: LINE,
        sendblue_number: LINE,
        is_outbound: false,
      })
      for (const phone of [a, c])
        expect((await world.inbox(phone)).at(-1)).toMatchObject({
          id,
          content: 'Hi folks',
          from: b,
          line: LINE,
        })
      expect(await world.inbox(b)).toHaveLength(1)
      expect(await world.app.ctx.db.all('select * from parked_receipts')).toEqual([])

      const replied = await world.text(c, 'And hi', { to: undefined, group_id, reply_to: id })
      await world.advance(1000)
      expect(replied.service).toBe('iMessage')
      const [reply] = (await world.get(`/api/v2/messages?group_id=${group_id}&is_outbound=false`)).body.data
      expect(reply).toMatchObject({ content: 'And hi', reply_to: { message_handle: record.message_handle } })
      expect((await send({ group_id, reply_to: { message_handle: reply.message_handle } })).status).toBe(202)
      expect(await group(group_id)).toMatchObject({ latest_comm_at: expect.any(String) })
    })

    it('a phone starts a group with a line: it is known when it is made, and its people are one group', async () => {
      const [a, b] = fresh(2) as [string, string]
      const started = await world.post('/sim/groups', { by: a, line: LINE, members: [b], name: 'Surprise' })
      expect(started.status).toBe(201)
      expect(started.body).toMatchObject({ group_id: null, name: 'Surprise', members: [a, b, LINE] })
      await world.advance(1000)
      const { group_id } = await chat(started.body.id)
      expect(await group(group_id)).toMatchObject({
        group_name: 'Surprise',
        worker_group_id: started.body.id,
        participant_numbers: [a, b],
        latest_message_id: null,
        latest_comm_at: null,
      })
      await world.text(b, 'First', { to: undefined, group_id: started.body.id })
      await world.advance(1000)
      const [record] = (await world.get(`/api/v2/messages?group_id=${group_id}`)).body.data
      expect(record).toMatchObject({ from_number: b, group_display_name: 'Surprise' })
      expect(await group(group_id)).toMatchObject({
        latest_message_id: record.message_handle,
        latest_comm_at: record.date_created,
      })
      // Writing back by numbers lands in the same chat.
      expect((await send({ numbers: [b, a] })).body).toMatchObject({
        group_id,
        group_display_name: 'Surprise',
      })
      await world.advance(1000)
      expect((await world.inbox(a)).at(-1).group.id).toBe(started.body.id)
    })

    it('a chat of the same people that the carrier keeps apart is a group of its own', async () => {
      const [a, b] = fresh(2) as [string, string]
      const first = await made([a, b])
      const { id } = (await world.post('/sim/groups', { by: a, line: LINE, members: [b] })).body
      await world.text(a, 'In the second', { to: undefined, group_id: id })
      await world.advance(1000)
      const second = (await chat(id)).group_id
      expect(second).not.toBe(first)
      expect((await send({ numbers: [a, b] })).body.group_id).toBe(first)
      await world.advance(1000)
      expect((await send({ group_id: second })).body.group_id).toBe(second)
      await world.advance(1000)
      expect((await world.inbox(b)).map((one) => one.group.id)).toEqual([
        (await chat(first)).id,
        id,
        (await chat(first)).id,
        id,
      ])
    })

    it('phones rename, change the photo, add and leave, and it shows on our side', async () => {
      const [a, b, c, d] = fresh(4) as [string, string, string, string]
      const id = await made([a, b, c])
      const patch = (body: Json) => world.call('PATCH', `/sim/groups/${id}`, { body })
      expect((await patch({ by: a, name: 'Trip', photo_url: 'https://example.com/p.png' })).status).toBe(200)
      await world.settle()
      expect(await group(id)).toMatchObject({
        group_name: 'Trip',
        group_photo: { photo_guid: expect.any(String), url: 'https://example.com/p.png' },
      })
      await world.post(`/sim/groups/${id}/members`, { by: b, number: d })
      await world.settle()
      expect((await group(id)).participant_numbers).toEqual([a, b, c, d])
      expect((await world.post(`/sim/groups/${id}/leave`, { by: a })).status).toBe(200)
      await world.settle()
      expect((await group(id)).participant_numbers).toEqual([b, c, d])
      await patch({ by: b, name: null, photo_url: null })
      await world.settle()
      expect(await group(id)).toMatchObject({ group_name: '', group_photo: null })
      expect((await eventsOf(id)).map(([type]) => type)).toEqual([
        'group.created',
        ...Array(4).fill('group.updated'),
      ])
      // Who left gets nothing, and can say nothing.
      const before = (await world.inbox(a)).length
      await send({ group_id: id })
      await world.advance(1000)
      expect((await world.inbox(a)).length).toBe(before)
      expect((await world.inbox(d)).length).toBe(1)
      for (const answer of [
        await world.post(`/sim/phones/${a}/messages`, { group_id: id, content: 'x' }),
        await patch({ by: a, name: 'x' }),
        await world.post(`/sim/groups/${id}/leave`, { by: a }),
      ])
        expect(answer.body.error.message).toContain('is not in this group')
      await world.post(`/sim/groups/${id}/leave`, { by: b })
      const small = await world.post(`/sim/groups/${id}/leave`, { by: c })
      expect(small.body.error.message).toMatch(/fewer than 4/)
    })

    it('refuses what phones cannot do', async () => {
      const [a, b] = fresh(2) as [string, string]
      const id = await made([a, b])
      const cases: [string, Json, number][] = [
        ['/sim/groups', { by: BOB, line: LINE, members: [a] }, 400],
        ['/sim/groups', { by: a, line: LINE, members: [] }, 400],
        ['/sim/groups', { by: a, line: LINE, members: [LINE, b] }, 400],
        ['/sim/groups', { by: a, line: '+12025550177', members: [b] }, 400],
        ['/sim/groups', { by: a, line: LINE, members: fresh(26) }, 400],
        ['/sim/groups', { by: a, line: LINE, members: [b], name: '  ' }, 400],
        ['/sim/groups/none/leave', { by: a }, 404],
        [`/sim/groups/${id}/members`, { by: a, number: BOB }, 400],
        [`/sim/groups/${id}/members`, { by: a, number: LINE }, 400],
        [`/sim/phones/${a}/messages`, { content: 'x' }, 400],
        [`/sim/phones/${a}/messages`, { content: 'x', group_id: 'none' }, 404],
      ]
      for (const [path, body, status] of cases)
        expect([path, body, (await world.post(path, body)).status]).toEqual([path, body, status])
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

  describe('name and photo', () => {
    const name = (id: string, body: Json) => world.post(`/api/v2/groups/${id}/name`, body)
    const photo = (id: string, body: Json) => world.post(`/api/v2/groups/${id}/photo`, body)

    it('the name is what phones show', async () => {
      const [a, b] = fresh(2) as [string, string]
      const id = await made([a, b])
      await world.advance(1000)
      const renamed = await name(id, { group_name: 'Project Falcon 🦅' })
      expect(renamed.body).toEqual({
        status: 'OK',
        data: { group_id: id, group_name: 'Project Falcon 🦅', from_number: LINE },
      })
      expect((await chat(id)).name).toBe('Project Falcon 🦅')
      const { created_at, updated_at } = await group(id)
      expect(Date.parse(updated_at)).toBeGreaterThan(Date.parse(created_at))
      const { body } = await send({ group_id: id })
      expect(body.group_display_name).toBe('Project Falcon 🦅')
      await world.advance(1000)
      expect((await world.inbox(a)).at(-1).group.name).toBe('Project Falcon 🦅')
      for (const cleared of ['', null]) {
        await name(id, { group_name: 'again', from_number: LINE })
        const answer = await name(id, { group_name: cleared, from_number: null })
        expect(answer.body.data).toEqual({ group_id: id, group_name: '', from_number: LINE })
        expect((await chat(id)).name).toBeNull()
      }
    })

    it('the photo is what phones show: a copy of ours, whatever becomes of where it was', async () => {
      const id = await made(fresh(2))
      for (const [image, extension] of [
        [PNG, 'png'],
        [GIF, 'gif'],
      ] as const) {
        const server = await serve((_request, response) => response.end(image))
        const set = await photo(id, { photo_url: `${server.url}/team.bin` })
        await server.close()
        const { url } = set.body.data.group_photo
        expect(set.body).toEqual({
          status: 'OK',
          data: { group_id: id, group_photo: { photo_guid: expect.any(String), url }, from_number: LINE },
        })
        expect(url).toMatch(new RegExp(`/media/\\w+\\.${extension}$`))
        expect(Buffer.from(await (await fetch(url)).arrayBuffer())).toEqual(image)
        expect((await chat(id)).photo_url).toBe(url)
        expect((await group(id)).group_photo).toEqual(set.body.data.group_photo)
      }
      expect((await photo(id, { photo_url: null })).body.data.group_photo).toBeNull()
      expect((await chat(id)).photo_url).toBeNull()
      expect((await group(id)).group_photo).toBeNull()
    })

    it('the photo may come as a file', async () => {
      const id = await made(fresh(2))
      const upload = async (parts: [string, string | Blob][], key?: string) => {
        const form = new FormData()
        for (const [name, value] of parts) form.append(name, value)
        const response = await fetch(`${world.app.url()}/api/v2/groups/${id}/photo`, {
          method: 'POST',
          headers: { ...credentials('live'), ...(key ? { 'idempotency-key': key } : {}) },
          body: form,
        })
        return { status: response.status, body: (await response.json()) as Json }
      }
      const file = (bytes: Buffer) => new Blob([new Uint8Array(bytes)], { type: 'image/png' })
      const set = await upload(
        [
          ['from_number', LINE],
          ['file', file(PNG)],
        ],
        'photo-1',
      )
      expect(set).toMatchObject({ status: 200, body: { data: { group_id: id, from_number: LINE } } })
      const { url } = set.body.data.group_photo
      expect(Buffer.from(await (await fetch(url)).arrayBuffer())).toEqual(PNG)
      expect((await chat(id)).photo_url).toBe(url)
      expect(
        (
          await upload(
            [
              ['from_number', LINE],
              ['file', file(PNG)],
            ],
            'photo-1',
          )
        ).body,
      ).toEqual(set.body)
      expect(
        (
          await upload(
            [
              ['from_number', LINE],
              ['file', file(GIF)],
            ],
            'photo-1',
          )
        ).status,
      ).toBe(422)
      for (const [parts, message] of [
        [[['from_number', LINE]], /missing required parameter: file/],
        [[['file', file(Buffer.from('<html>'))]], /^file: is not an image of these types/],
        [[['file', file(Buffer.concat([PNG, Buffer.alloc(5_000_000)]))]], /^file: is larger than 5 MB/],
        [[['photo', file(PNG)]], /^file: give one file/],
        [
          [
            ['file', file(PNG)],
            ['file', file(PNG)],
          ],
          /^file: give one file/,
        ],
        [
          [
            ['photo_url', 'https://a.example/b.png'],
            ['file', file(PNG)],
          ],
          /^photo_url: give either/,
        ],
        [
          [
            ['from_number', '+12025550159'],
            ['file', file(PNG)],
          ],
          /^from_number: /,
        ],
        [
          [
            ['from_number', 'x'],
            ['file', file(PNG)],
          ],
          /^from_number: /,
        ],
      ] as [[string, string | Blob][], RegExp][]) {
        const refused = await upload(parts)
        expect([refused.status, refused.body.message]).toEqual([400, expect.stringMatching(message)])
      }
      expect((await chat(id)).photo_url).toBe(url)
    })

    it('a photo that is none, is too large or is somewhere else is refused, and the old one stays', async () => {
      const id = await made(fresh(2))
      const wide = Buffer.from(PNG)
      wide.writeUInt32BE(5001, 16)
      wide.writeUInt32BE(5000, 20)
      const files: Record<string, Buffer> = {
        '/page.png': Buffer.from('<html></html>'),
        '/large.png': Buffer.concat([PNG, Buffer.alloc(5_000_000)]),
        '/wide.png': wide,
        '/good.png': PNG,
      }
      const server = await serve((request, response) => {
        if (request.url === '/moved.png') return response.writeHead(302, { location: '/good.png' }).end()
        const file = files[request.url!]
        return file ? response.end(file) : response.writeHead(404).end()
      })
      await photo(id, { photo_url: `${server.url}/good.png` })
      const before = await group(id)
      for (const [path, text] of [
        ['/page.png', /^photo_url: is not an image of these types: JPEG, PNG, GIF/],
        ['/large.png', /^photo_url: is larger than 5 MB/],
        ['/wide.png', /^photo_url: is 5001 x 5000 pixels/],
        ['/none.png', /^photo_url: answered 404/],
        ['/moved.png', /^photo_url: redirects/],
      ] as const) {
        const answer = await photo(id, { photo_url: server.url + path })
        expect([path, answer.status]).toEqual([path, 400])
        expect(answer.body.message).toMatch(text)
      }
      expect(await group(id)).toEqual(before)
      await server.close()
    })

    it('refuses what is not one', async () => {
      const id = await made(fresh(2))
      const cases: [Promise<{ status: number; body: Json }>, RegExp][] = [
        [name(id, {}), /missing required parameter: group_name/],
        [name(id, { group_name: '   ' }), /^group_name: .*only spaces/],
        [name(id, { group_name: '\n\t' }), /^group_name: .*only spaces/],
        [name(id, { group_name: 7 }), /^group_name: /],
        [name(id, { group_name: 'x'.repeat(251) }), /^group_name: /],
        [name(id, { group_name: 'a\0b' }), /NUL/],
        [name(id, { group_name: 'x', from_number: SHARED_LINE }), /^from_number: /],
        [name(id, { group_name: 'x', from_number: 'x' }), /^from_number: /],
        [photo(id, {}), /missing required parameter: photo_url/],
        [photo(id, { photo_url: 'http://example.com/a.png' }), /^photo_url: must be an https URL/],
        [photo(id, { photo_url: 'https://192.168.1.1/a.png' }), /^photo_url: /],
        [photo(id, { photo_url: 'data:image/png;base64,AAAA' }), /^photo_url: /],
        [photo(id, { photo_url: 5 }), /^photo_url: /],
      ]
      for (const [call, text] of cases) {
        const answer = await call
        expect(answer.status).toBe(400)
        expect(answer.body.message).toMatch(text)
      }
      expect((await name('none', { group_name: 'x' })).body).toMatchObject({ error: 'group_not_found' })
      expect((await photo('none', { photo_url: null })).status).toBe(404)
      expect((await world.get('/api/v2/groups/none')).status).toBe(404)
      expect((await world.get(`/api/v2/groups/${'x'.repeat(400)}`)).status).toBe(404)
    })

    it('a line that lost its groups cannot', async () => {
      const id = await made(fresh(2))
      await world.setLine(LINE, { config: { mac: false } })
      expect((await photo(id, { photo_url: null })).body).toMatchObject({ error: 'unsupported_line' })
      expect((await name(id, { group_name: 'x' })).body).toMatchObject({ error: 'unsupported_line' })
      await world.setLine(LINE, { config: {} })
    })
  })

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
