import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BOB, createWorld, DAN, ENGINES, EVE, type Json, LINE, type World } from '../support/world.js'
import { fresh, groupsIn } from './support.js'

describe.each(ENGINES)('groups on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  afterAll(() => world.close())

  const { send, group, chat, eventsOf, made } = groupsIn(() => world)

  describe('delivery', () => {
    it('goes out as group MMS when a member has no iMessage, and the others answer by MMS', async () => {
      const [a] = fresh(1) as [string]
      const { message_handle, group_id, service } = (await send({ numbers: [a, BOB] })).body
      expect(service).toBe('iMessage')
      await world.advance(1000)
      expect(await world.record(message_handle)).toMatchObject({
        status: 'SENT',
        service: 'SMS',
        was_downgraded: true,
        error_code: null,
      })
      for (const phone of [a, BOB])
        expect((await world.inbox(phone)).at(-1)).toMatchObject({ message_handle, service: 'SMS' })
      for (const [phone, other] of [
        [BOB, a],
        [a, BOB],
      ] as const) {
        await world.text(phone, `from ${phone}`, { to: undefined, group_id })
        await world.advance(1000)
        const inbound = (await world.arrived(LINE, phone)).at(-1)
        expect(inbound).toMatchObject({ group_id, service: 'SMS', content: `from ${phone}` })
        expect((await world.inbox(other)).at(-1)).toMatchObject({ content: `from ${phone}`, service: 'SMS' })
      }
    })

    it('names the member without iMessage in error_message where the line cannot send group MMS', async () => {
      await world.setLine(LINE, { config: { services: ['iMessage'] } })
      const [a] = fresh(1) as [string]
      const { message_handle, group_id } = (await send({ numbers: [a, BOB] })).body
      await world.advance(1000)
      expect(await world.record(message_handle)).toMatchObject({
        status: 'ERROR',
        error_code: 10001,
        error_reason: 'not_imessage',
        error_message: `The message does not reach everyone in the group: ${BOB} has no iMessage`,
        error_detail: `sim.group_no_service: ${BOB} has no iMessage`,
      })
      expect(await world.inbox(a)).toEqual([])
      expect((await world.get(`/sim/groups/${group_id}`)).status).toBe(404)
      await world.setLine(LINE, { config: {} })
    })

    it('a group by MMS keeps its name, photo and members', async () => {
      const [a, b, c] = fresh(3) as [string, string, string]
      const group_id = await made([a, b, BOB])
      const line = { from_number: LINE }
      for (const [path, body] of [
        [`/api/v2/groups/${group_id}/name`, { group_name: 'Trip', ...line }],
        [`/api/v2/groups/${group_id}/photo`, { photo_url: null, ...line }],
        ['/api/modify-group', { group_id, modify_type: 'add_recipient', number: c, ...line }],
        ['/api/modify-group', { group_id, modify_type: 'remove_recipient', number: a, ...line }],
      ] as const) {
        const { status, body: answer } = await world.post(path, body)
        expect([status, JSON.stringify(answer)]).toEqual([
          422,
          expect.stringContaining(`${BOB} has no iMessage`),
        ])
      }
      expect(await group(group_id)).toMatchObject({
        group_name: '',
        group_photo: null,
        participant_numbers: [a, b, BOB],
      })
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
      // The message that waited for this phone comes at once; the other phone's is still on its way.
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
})
