import { afterEach, describe, expect, it } from 'vitest'
import { ADA, BOB, createWorld, ENGINES, type Json, LINE, SHARED_LINE, type World } from '../support/world.js'

describe.each(ENGINES)('what administration changes on %s', (engine) => {
  let world: World
  afterEach(() => world.close())

  const lineOf = async (number: string, where = 'live') =>
    (await world.get('/admin/lines', 'admin')).body.data.find(
      (line: Json) => line.number === number && line.world === where,
    )

  /** Texts that the network brought to a phone, whoever may still see them. */
  const onPhone = async (phone: string) => {
    const sql =
      'select content from phone_messages where phone = $1 and from_phone = 0 and arrived_at is not null order by id'
    return (await world.app.ctx.db.all(sql, [phone])).map((row) => row.content)
  }

  it('ends what waits on a removed account, with events, and shuts its keys and lines', async () => {
    world = await createWorld(engine)
    const account = await world.addAccount('gone@example.com', '+12025550120')
    await world.setLine('+12025550120', { pace: 1 })
    const body = { from_number: '+12025550120' }
    const sent: Json[] = []
    for (const content of ['one', 'two', 'three'])
      sent.push(await world.send({ ...body, content }, account.live))
    await world.advance(500)
    const removed = await world.call('DELETE', `/admin/accounts/${account.id}`, { as: 'admin' })
    expect(removed.status).toBe(204)
    await world.settle()
    expect((await world.get('/api/v2/messages', account.live)).status).toBe(401)
    expect((await world.get('/api/v2/messages', account.test)).status).toBe(401)
    expect(await lineOf('+12025550120')).toBeUndefined()
    const keys = (await world.get('/admin/keys', 'admin')).body.data
    for (const { id } of [account.live, account.test]) {
      const { revoked_at: at } = keys.find((key: Json) => key.id === id)
      expect(Date.parse(at)).toBe(world.app.ctx.clock.now())
    }
    await world.advance(10_000)
    const records = await Promise.all(sent.map(({ message_handle }) => world.record(message_handle, 'admin')))
    expect(records[0].status).toBe('DELIVERED')
    for (const record of records.slice(1)) {
      expect(record).toMatchObject({ status: 'ERROR', error_code: 10001, error_reason: 'line_removed' })
    }
    expect(await onPhone(ADA)).toEqual(['one'])
    const events = await world.app.ctx.db.all(
      'select subject, data from events where account_id = $1 order by seq',
      [account.id],
    )
    for (const { message_handle } of sent.slice(1)) {
      const last = events.filter((event) => event.subject === message_handle).at(-1)
      expect(JSON.parse(last!.data as string)).toMatchObject({
        status: 'ERROR',
        error: { reason: 'line_removed' },
      })
    }
  })

  it('ends what waits on a removed line and leaves the account its other lines', async () => {
    world = await createWorld(engine, { line: { config: { fault: 'unreachable' } } })
    const waiting = await world.send()
    await world.settle()
    await world.call('DELETE', `/admin/lines/${(await lineOf(LINE)).id}`, { as: 'admin' })
    await world.settle()
    expect(await world.record(waiting.message_handle)).toMatchObject({
      status: 'ERROR',
      error_reason: 'line_removed',
    })
    expect((await world.events()).at(-1)).toMatchObject({
      type: 'message.updated',
      data: { status: 'ERROR' },
    })
    expect(await world.send({ from_number: SHARED_LINE })).toMatchObject({ status: 'QUEUED' })
    expect(await world.send({}, 'test'), 'the test world keeps its line').toMatchObject({ status: 'QUEUED' })
  })

  it('changes the pace of a line for what already waits', async () => {
    world = await createWorld(engine, { line: { pace: 1, config: { latency_ms: 0 } } })
    for (let i = 0; i < 6; i++) await world.send({ number: `+1202555013${i}` })
    const onPhones = async () => {
      const inboxes = await Promise.all([0, 1, 2, 3, 4, 5].map((i) => world.inbox(`+1202555013${i}`)))
      return inboxes.flat().length
    }
    await world.settle()
    expect(await onPhones()).toBe(1)
    await world.advance(1000)
    expect(await onPhones()).toBe(2)
    await world.setLine(LINE, { pace: 0 })
    await world.advance(0)
    expect(await onPhones()).toBe(6)
  })

  it('changes what the carrier does from the next message on', async () => {
    world = await createWorld(engine)
    await world.setLine(LINE, { config: { services: ['SMS'] } })
    const text = await world.send()
    expect(text.service).toBe('SMS')
    expect(
      (
        await world.post('/api/send-message', {
          from_number: LINE,
          number: ADA,
          content: 'x',
          send_style: 'invisible',
        })
      ).status,
    ).toBe(400)
    await world.setLine(LINE, { config: { fault: 'refuse' } })
    const refused = await world.send()
    await world.setLine(LINE, { config: {} })
    const blue = await world.send()
    await world.advance(1000)
    expect(await world.record(text.message_handle)).toMatchObject({ status: 'SENT', service: 'SMS' })
    expect(await world.record(refused.message_handle)).toMatchObject({
      status: 'ERROR',
      error_reason: 'refused',
    })
    expect(await world.record(blue.message_handle)).toMatchObject({
      status: 'DELIVERED',
      service: 'iMessage',
    })
  })

  it('brings an answer on a shared line to the account that last wrote to that person', async () => {
    world = await createWorld(engine)
    const other = await world.addAccount('other@example.com', '+12025550121')
    const shared = await lineOf(SHARED_LINE)
    const body = { from_number: SHARED_LINE }
    expect((await world.send(body, other.live)).status, 'not a member yet').toBe('ERROR')
    const share = await world.post(`/admin/lines/${shared.id}/members`, { account_id: other.id }, 'admin')
    expect(share.status).toBe(201)
    expect(share.body.members).toContain(other.id)
    const dedicated = await lineOf(LINE)
    expect(
      (await world.post(`/admin/lines/${dedicated.id}/members`, { account_id: other.id }, 'admin')).status,
    ).toBe(400)

    const received = async (as: Parameters<World['get']>[1]) =>
      (await world.get('/api/v2/messages?is_outbound=false&order_direction=asc', as)).body.data.map(
        (m: Json) => m.content,
      )
    await world.send(body)
    await world.advance(1000)
    await world.text(ADA, 'to the first', { to: SHARED_LINE })
    await world.advance(1000)
    await world.send(body, other.live)
    await world.advance(1000)
    await world.text(ADA, 'to the other', { to: SHARED_LINE })
    await world.text(BOB, 'from a stranger', { to: SHARED_LINE })
    await world.advance(1000)
    expect(await received('live')).toEqual(['to the first'])
    expect(await received(other.live)).toEqual(['to the other'])
    await world.send(body)
    await world.advance(1000)
    await world.text(ADA, 'back to the first', { to: SHARED_LINE })
    await world.advance(1000)
    expect(await received('live')).toEqual(['to the first', 'back to the first'])
    expect(await received(other.live)).toEqual(['to the other'])
  })

  it('ends what a removed account has waiting on a shared line', async () => {
    world = await createWorld(engine)
    const other = await world.addAccount('other@example.com', '+12025550121')
    const shared = await lineOf(SHARED_LINE)
    await world.post(`/admin/lines/${shared.id}/members`, { account_id: other.id }, 'admin')
    await world.setLine(SHARED_LINE, { pace: 1 })
    const sent: Json[] = []
    for (const content of ['one', 'two'])
      sent.push(await world.send({ from_number: SHARED_LINE, content }, other.live))
    await world.advance(500)
    const { test_account_id: testId } = (await world.get(`/admin/accounts/${other.id}`, 'admin')).body
    expect(await lineOf(SHARED_LINE, testId)).toMatchObject({ members: [testId] })
    await world.call('DELETE', `/admin/accounts/${other.id}`, { as: 'admin' })
    await world.advance(10_000)
    expect(await world.record(sent[1].message_handle, 'admin')).toMatchObject({
      status: 'ERROR',
      error_reason: 'line_removed',
    })
    expect(await onPhone(ADA)).toEqual(['one'])
    expect(await lineOf(SHARED_LINE), 'others go on using it').toMatchObject({ id: shared.id })
    expect(await lineOf(SHARED_LINE, testId), 'nobody can reach this one any more').toBeUndefined()
  })

  it('gives every account a test world with the same numbers and nothing else in common', async () => {
    world = await createWorld(engine)
    const account = await world.addAccount('twin@example.com', '+12025550122')
    const { test_account_id: testId } = (await world.get(`/admin/accounts/${account.id}`, 'admin')).body
    const [live, test] = [await lineOf('+12025550122'), await lineOf('+12025550122', testId)]
    expect(test).toMatchObject({
      number: live.number,
      driver: 'simulator',
      account_id: testId,
      capabilities: live.capabilities,
    })
    expect(test.id).not.toBe(live.id)

    const body = { from_number: '+12025550122', content: 'in the test world' }
    const sent = await world.send(body, account.test)
    await world.advance(1000)
    expect((await world.status(sent.message_handle, account.test)).status).toBe('DELIVERED')
    expect(await world.inbox(ADA, account.test)).toMatchObject([{ content: 'in the test world' }])
    expect(await world.inbox(ADA, account.live)).toEqual([])
    expect((await world.get(`/api/status?handle=${sent.message_handle}`, account.live)).status).toBe(404)
    expect((await world.get('/api/v2/messages', account.live)).body.pagination.total).toBe(0)

    await world.text(ADA, 'stop', { to: '+12025550122' }, account.test)
    await world.advance(1000)
    expect(await world.send(body, account.test)).toMatchObject({
      status: 'ERROR',
      error_code: 4002,
      opted_out: true,
    })
    expect(await world.send(body, account.live)).toMatchObject({ status: 'QUEUED', opted_out: false })

    await world.setPhone(ADA, { power: false }, account.test)
    const phone = (as: Parameters<World['get']>[1]) => world.get(`/sim/phones/${encodeURIComponent(ADA)}`, as)
    expect((await phone(account.test)).body.power).toBe(false)
    expect((await phone(account.live)).body.power).toBe(true)
    expect((await phone('test')).body.power, "another account's test world").toBe(true)

    const key = { 'idempotency-key': 'same' }
    const [inLive, inTest] = [
      await world.send({ ...body, number: BOB }, account.live, key),
      await world.send({ ...body, number: BOB }, account.test, key),
    ]
    expect(inLive.message_handle).not.toBe(inTest.message_handle)
  })
})
