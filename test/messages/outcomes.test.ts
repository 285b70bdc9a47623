import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { START_TEXT, STOP_TEXT } from '../../src/core/contacts/opt-out.js'
import { ADA, BOB, createWorld, ENGINES, LINE, type World } from '../support/world.js'

const SETTLE = 5000

/** Every kind of carrier trouble: never a second copy without evidence, never a message in limbo. */
describe.each(ENGINES)('outcomes on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  afterAll(() => world.close())

  const start = async (config: Record<string, unknown>, settings: Record<string, unknown> = {}) => {
    await world.reset()
    await world.setLine(LINE, { config, settle_ms: SETTLE, ...settings })
  }
  const copies = async (content: string, phone = ADA) =>
    (await world.inbox(phone)).filter((message) => message.content === content).length
  const attempts = (handle: string) =>
    world.app.ctx.db.all<{ n: number; state: string; service: string }>(
      'select a.n, a.state, a.service from attempts a join messages m on m.id = a.message_id where m.handle = $1 order by n',
      [handle],
    )

  it('tries again when nothing left, and delivers once', async () => {
    await start({ fault: 'unreachable', fault_times: 2 })
    const { message_handle } = await world.send()
    await world.settle()
    expect(await world.record(message_handle)).toMatchObject({ status: 'QUEUED' })
    await world.advance(10_000)
    expect(await world.record(message_handle)).toMatchObject({ status: 'DELIVERED' })
    expect((await attempts(message_handle)).map((attempt) => attempt.state)).toEqual([
      'never_left',
      'never_left',
      'accepted',
    ])
    expect(await copies('Hello')).toBe(1)
  })

  it('gives up on a line that never takes it, and says why', async () => {
    await start({ fault: 'unreachable' })
    const { message_handle } = await world.send()
    await world.advance(10 * 60_000)
    expect(await world.record(message_handle)).toMatchObject({
      status: 'ERROR',
      error_code: 10001,
      error_reason: 'line_unreachable',
      error_detail: 'sim.unreachable: The line is unplugged',
    })
    expect(await attempts(message_handle)).toHaveLength(8)
    expect(await copies('Hello')).toBe(0)
  })

  it("ends with the carrier's own words when it refuses", async () => {
    await start({ fault: 'refuse', fault_times: 1 })
    const refused = await world.send({ content: 'first' })
    const next = await world.send({ content: 'second' })
    await world.advance(1000)
    expect(await world.record(refused.message_handle)).toMatchObject({
      status: 'ERROR',
      error_reason: 'refused',
    })
    expect(await world.record(next.message_handle)).toMatchObject({ status: 'DELIVERED' })
  })

  it('does not believe "no such message" before the settle time, and sends again after it', async () => {
    await start({ fault: 'drop', fault_times: 1 })
    const { message_handle } = await world.send()
    await world.advance(SETTLE - 500)
    expect(await world.record(message_handle)).toMatchObject({ status: 'PENDING' })
    expect(await world.status(message_handle)).toMatchObject({ status: 'QUEUED' })
    expect(await copies('Hello')).toBe(0)
    await world.advance(2000)
    expect(await world.record(message_handle)).toMatchObject({ status: 'DELIVERED' })
    expect((await attempts(message_handle)).map((attempt) => attempt.state)).toEqual([
      'never_left',
      'accepted',
    ])
    expect(await copies('Hello')).toBe(1)
  })

  it.each(['accept-then-drop', 'accept-then-silence'])(
    'finds out by look-up that the carrier has it: %s',
    async (fault) => {
      await start({ fault, fault_times: 1 })
      const { message_handle } = await world.send()
      await world.advance(40_000)
      expect(await world.record(message_handle)).toMatchObject({ status: 'DELIVERED' })
      expect(await attempts(message_handle)).toMatchObject([{ n: 1, state: 'accepted' }])
      expect(await copies('Hello')).toBe(1)
    },
  )

  it('waits for a look-up that lags behind, instead of sending twice', async () => {
    await start({ fault: 'accept-then-drop', fault_times: 1, lookup_lag_ms: SETTLE - 1000 })
    const { message_handle } = await world.send()
    await world.advance(2000)
    expect(await world.record(message_handle)).toMatchObject({ status: 'PENDING' })
    await world.advance(10_000)
    expect(await world.record(message_handle)).toMatchObject({ status: 'DELIVERED' })
    expect(await copies('Hello')).toBe(1)
  })

  it('takes silence for an unknown outcome, not for a failure', async () => {
    await start({ fault: 'silence', fault_times: 1 })
    const { message_handle } = await world.send()
    await world.advance(29_000)
    expect(await world.record(message_handle)).toMatchObject({ status: 'QUEUED' })
    await world.advance(2000)
    expect((await attempts(message_handle))[0]).toMatchObject({ state: 'unknown' })
    await world.advance(SETTLE)
    expect((await attempts(message_handle))[0]).toMatchObject({ state: 'never_left' })
    expect(await world.record(message_handle)).toMatchObject({ status: 'DELIVERED' })
    expect(await copies('Hello')).toBe(1)
  })

  it('holds what nobody can resolve: an error that says so, and never a second copy', async () => {
    await start({ fault: 'accept-then-drop', fault_times: 1, lookup: false })
    const { message_handle } = await world.send()
    await world.advance(60_000)
    expect(await world.record(message_handle)).toMatchObject({
      status: 'ERROR',
      error_code: 10002,
      error_reason: 'outcome_unknown',
    })
    expect(await copies('Hello')).toBe(1)
    const statuses = (await world.events()).map((event) => event.data.status)
    expect(statuses).toEqual(['QUEUED', 'PENDING', 'ERROR'])
  })

  it('risks a second copy only on a line that says so', async () => {
    await start({ fault: 'accept-then-drop', fault_times: 1, lookup: false }, { on_unknown: 'resend' })
    const { message_handle } = await world.send()
    await world.advance(60_000)
    expect(await world.record(message_handle)).toMatchObject({ status: 'DELIVERED' })
    expect((await attempts(message_handle)).map((attempt) => attempt.state)).toEqual(['given_up', 'accepted'])
    expect(await copies('Hello')).toBe(2)
  })

  it('lets a later receipt beat our own "unknown"', async () => {
    await start({ fault: 'accept-then-drop', fault_times: 1, lookup: false })
    const { message_handle } = await world.send()
    await world.advance(60_000)
    const [row] = await world.app.ctx.db.all<{ ref: string; line_id: string }>(
      'select a.ref, a.line_id from attempts a join messages m on m.id = a.message_id where m.handle = $1',
      [message_handle],
    )
    const { recordReceipts } = await import('../../src/services/messages/receipts.js')
    const usable = (await world.app.ctx.directory.line(row!.line_id))!
    await recordReceipts(world.app.ctx, { line: usable.line, services: usable.capabilities.services }, [
      { ref: row!.ref, providerId: 'late', status: 'DELIVERED', at: world.app.ctx.clock.now() },
    ])
    expect(await world.record(message_handle)).toMatchObject({
      status: 'DELIVERED',
      error_code: null,
      error_reason: null,
    })
  })

  it('asks the carrier at once when a caller asks for the status', async () => {
    await start({ fault: 'accept-then-drop', fault_times: 1 })
    const { message_handle } = await world.send()
    await world.settle()
    expect(await world.record(message_handle)).toMatchObject({ status: 'PENDING' })
    expect(await world.status(message_handle)).toMatchObject({ status: 'SENT' })
    expect(await copies('Hello')).toBe(0) // still travelling: the answer came from the carrier's books
  })

  it('lets a message in doubt stop its own conversation only, and only for the settle time', async () => {
    await start({ fault: 'drop', fault_times: 1 })
    const doubtful = await world.send({ content: 'one' })
    await world.settle()
    const behind = await world.send({ content: 'two' })
    const other = await world.send({ content: 'three', number: BOB })
    await world.advance(1000)
    expect(await world.record(other.message_handle)).toMatchObject({ status: 'SENT' })
    expect(await world.record(behind.message_handle)).toMatchObject({ status: 'QUEUED' })
    await world.advance(SETTLE)
    expect((await world.inbox(ADA)).map((message) => message.content)).toEqual(['one', 'two'])
    expect(await world.record(doubtful.message_handle)).toMatchObject({ status: 'DELIVERED' })
  })

  it('keeps a line within its pace', async () => {
    await start({ latency_ms: 0 }, { pace: 10 })
    for (let i = 0; i < 35; i++) await world.send({ content: `${i}`, number: `+1202555${1000 + i}` })
    await world.advance(5000)
    const wire = (
      await world.app.ctx.db.all<{ wire_at: number }>('select wire_at from attempts order by wire_at')
    ).map((row) => row.wire_at)
    expect(wire).toHaveLength(35)
    for (const [i, at] of wire.entries()) if (i >= 10) expect(at - wire[i - 10]!).toBeGreaterThanOrEqual(1000)
    expect(wire.at(-1)! - wire[0]!).toBeLessThan(3500)
  })

  it('applies a receipt that overtook the answer to the send', async () => {
    await start({ latency_ms: 0 })
    const { message_handle } = await world.send()
    await world.advance(1)
    expect(await world.record(message_handle)).toMatchObject({ status: 'DELIVERED' })
    expect((await world.events()).map((event) => event.data.status)).toEqual(['QUEUED', 'SENT', 'DELIVERED'])
    expect(await world.app.ctx.db.all('select * from parked_receipts')).toEqual([])
  })

  it('finds a receipt that was parked in the very moment its send got its id', async () => {
    await start({ receipts: false })
    const { message_handle } = await world.send()
    await world.advance(1000)
    expect(await world.record(message_handle)).toMatchObject({ status: 'SENT' })
    const { db, lines, clock } = world.app.ctx
    const attempt = (await db.one('select * from attempts where provider_id is not null'))!
    const report = { providerId: attempt.provider_id, status: 'DELIVERED', at: clock.now() }
    await db.run(
      `insert into parked_receipts (line_id, provider_id, receipt, status, report, received_at) values ($1, $2, $2, 'DELIVERED', $3, 0)`,
      [attempt.line_id!, attempt.provider_id!, JSON.stringify(report)],
    )
    ;(lines.get(attempt.line_id as string) as unknown as { sweep(): void }).sweep()
    await world.settle()
    expect(await world.record(message_handle)).toMatchObject({ status: 'DELIVERED' })
    expect((await world.events()).map((event) => event.data.status)).toEqual(['QUEUED', 'SENT', 'DELIVERED'])
    expect(await db.all('select * from parked_receipts')).toEqual([])
  })
})

describe.each(ENGINES)('inbound on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  beforeEach(() => world.reset())
  afterAll(() => world.close())

  it('stores a reply once, shows it in the list and in the log', async () => {
    const sent = await world.text(ADA, 'Hi there')
    await world.settle()
    const list = (
      await world.get(`/api/v2/messages?is_outbound=false&sendblue_number=${encodeURIComponent(LINE)}`)
    ).body
    expect(list.pagination.total).toBe(1)
    expect(list.data[0]).toMatchObject({
      status: 'RECEIVED',
      is_outbound: false,
      content: 'Hi there',
      from_number: ADA,
      number: ADA,
      to_number: LINE,
      sendblue_number: LINE,
      service: 'iMessage',
      was_downgraded: null,
    })
    expect(list.data[0].message_handle).toBe(list.data[0].message_handle.toUpperCase())
    // The carrier believes it was not heard and repeats itself.
    await world.app.ctx.db.run(
      'update phone_messages set due_at = 1, arrived_at = null where provider_id = $1',
      [sent.id],
    )
    await world.restart()
    expect((await world.get('/api/v2/messages?is_outbound=false')).body.pagination.total).toBe(1)
    expect((await world.events()).map((event) => event.type)).toEqual(['contact.created', 'message.received'])
  })

  it('links replies both ways', async () => {
    const question = await world.send({ content: 'Question?' })
    await world.advance(1000)
    const [onPhone] = await world.inbox(ADA)
    await world.text(ADA, 'Answer', { reply_to: onPhone.id })
    await world.settle()
    const [answer] = (await world.get('/api/v2/messages?is_outbound=false')).body.data
    expect(answer.reply_to).toEqual({ message_handle: question.message_handle })
    const thanks = await world.send({
      content: 'Thanks',
      reply_to: { message_handle: answer.message_handle, part_index: 0 },
    })
    expect(thanks.reply_to).toEqual({ message_handle: answer.message_handle, part_index: 0 })
    await world.advance(1000)
    expect((await world.inbox(ADA))[1]).toMatchObject({ content: 'Thanks', reply_to: expect.any(String) })
  })

  it('opts out on STOP, blocks with 4002, and START lifts it', async () => {
    await world.text(ADA, 'Stop.')
    await world.settle()
    const blocked = await world.post('/api/send-message', { from_number: LINE, number: ADA, content: 'spam' })
    expect(blocked.status).toBe(202)
    expect(blocked.body).toMatchObject({
      status: 'ERROR',
      error_code: 4002,
      error_reason: 'opted_out',
      opted_out: true,
    })
    expect(await world.send({ number: BOB })).toMatchObject({ status: 'QUEUED', opted_out: false })
    await world.text(ADA, 'START')
    await world.settle()
    expect(await world.send()).toMatchObject({ status: 'QUEUED', opted_out: false })
    await world.advance(1000)
    expect((await world.inbox(ADA)).map((message) => message.content)).toEqual([
      STOP_TEXT,
      START_TEXT,
      'Hello',
    ])
  })

  it('reports reading as an event, never as a status', async () => {
    const { message_handle } = await world.send()
    await world.advance(1000)
    await world.post(`/sim/phones/${encodeURIComponent(ADA)}/read`, {})
    await world.settle()
    expect((await world.events()).at(-1)).toMatchObject({ type: 'message.read', subject: message_handle })
    expect(await world.record(message_handle)).toMatchObject({ status: 'DELIVERED' })
    await world.setPhone(ADA, { read_receipts: false })
    await world.send({ content: 'again' })
    await world.advance(1000)
    await world.post(`/sim/phones/${encodeURIComponent(ADA)}/read`, {})
    expect((await world.events()).filter((event) => event.type === 'message.read')).toHaveLength(1)
  })
})
