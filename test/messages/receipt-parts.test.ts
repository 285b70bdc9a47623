import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTurns } from '../../src/base/turns.js'
import type { Line } from '../../src/core/lines/line.js'
import { createDailyLimit, dayOf } from '../../src/core/lines/pacing.js'
import type { Receipt, SendResult } from '../../src/core/messages/outcome.js'
import { type Claim, claim } from '../../src/services/messages/claim.js'
import type { DispatchLine } from '../../src/services/messages/dispatch-line.js'
import { createNews } from '../../src/services/messages/news.js'
import { recordRead, recordReceipts, rematchParked } from '../../src/services/messages/receipts.js'
import { recordResults } from '../../src/services/messages/results.js'
import { findSentOn } from '../../src/storage/lines/days.js'
import { findAttempt } from '../../src/storage/messages/attempts.js'
import { findMessagesById } from '../../src/storage/messages/messages.js'
import { listQueue } from '../../src/storage/messages/queue.js'
import { findSends, listOpenSends } from '../../src/storage/messages/sends.js'
import { createWorld, ENGINES, LINE, type World } from '../support/world.js'

/** Carriers that take a message in parts, spell ids in two ways, or use them again. The test is the line's driver. */
describe.each(ENGINES)('ids of parts, and other spellings, on %s', (engine) => {
  let world: World
  let on: DispatchLine
  let n = 0
  beforeAll(async () => {
    world = await createWorld(engine, { line: { config: { state: 'OFFLINE' }, pace: 0 } })
    const { line, lease } = world.app.ctx.lines
      .all()
      .find((one) => one.line.number === LINE && one.line.network === 'live') as unknown as {
      line: Line
      lease: DispatchLine['lease']
    }
    on = { line, lease, services: ['SMS'], daily: null, groupMms: false, unsent: new Map() }
  })
  afterAll(() => world.close())

  interface Sent {
    claimed: Claim
    handle: string
    to: string
  }

  /** A message on the wire. */
  async function onWire(to = `+1202557${1000 + n}`, line = on): Promise<Sent> {
    const { ctx } = world.app
    n++
    const { message_handle: handle } = await world.send({ number: to, content: `parts ${n}` })
    const rows = await listQueue(ctx.db, on.line.id, 0, 100_000)
    const found = await findMessagesById(
      ctx.db,
      rows.map((row) => row.id),
    )
    const message = [...found.values()].find((one) => one.handle === handle)!
    const [claimed] = await claim(ctx, line, [message], new Map())
    return { claimed: claimed!, handle, to }
  }

  const answer = (sent: Sent, ids: string[]) => {
    const result: SendResult = { outcome: 'accepted', providerId: ids[0]!, status: 'SENT', partIds: ids }
    return recordResults(world.app.ctx, on, [{ claimed: sent.claimed, result }])
  }
  const report = (id: string, status: Receipt['status'] = 'DELIVERED', fields: Partial<Receipt> = {}) =>
    recordReceipts(world.app.ctx, on, [{ providerId: id, status, at: world.app.ctx.clock.now(), ...fields }])
  const statusOf = async (sent: Sent) => (await world.record(sent.handle)).status as string
  const fresh = (count: number) => Array.from({ length: count }, (_, i) => `${engine}-${n}-${i}`)

  it('a message in three parts is delivered when all three are, in every order', async () => {
    const orders = [
      [0, 1, 2],
      [0, 2, 1],
      [1, 0, 2],
      [1, 2, 0],
      [2, 0, 1],
      [2, 1, 0],
    ]
    for (const order of orders) {
      const sent = await onWire()
      const ids = fresh(3)
      await answer(sent, ids)
      for (const [step, part] of order.entries()) {
        expect(await statusOf(sent)).toBe('SENT')
        await report(ids[part]!)
        if (step === 0) await report(ids[part]!)
      }
      expect(await statusOf(sent)).toBe('DELIVERED')
    }
  })

  it('every id of a part names the message, and the first is its own', async () => {
    const { ctx } = world.app
    const sent = await onWire()
    const ids = fresh(3)
    await answer(sent, ids)
    expect((await findAttempt(ctx.db, sent.claimed.message.id, 1))?.providerId).toBe(ids[0])
    const named = await findSends(ctx.db, on.line.id, [...ids, 'nobody'])
    expect([...named].map(([id, { ref }]) => [id, ref])).toEqual(
      ids.map((id) => [id, sent.claimed.outbound.ref]),
    )
    const [open] = await listOpenSends(ctx.db, on.line.id, sent.claimed.outbound.ref, false)
    expect(open).toMatchObject({ providerId: ids[0], partIds: ids })
    const one = await onWire()
    await answer(one, fresh(1))
    const [plain] = await listOpenSends(ctx.db, on.line.id, one.claimed.outbound.ref, false)
    expect(plain).not.toHaveProperty('partIds')
  })

  it('a person who reads one part reads the message, and only that part has surely arrived', async () => {
    const { ctx } = world.app
    const sent = await onWire()
    const ids = fresh(2)
    await answer(sent, ids)
    await ctx.db.run("update messages set service = 'iMessage' where handle = $1", [sent.handle])
    const statuses: string[] = []
    for (const providerId of [ids[1]!, ids[1]!, ids[0]!]) {
      await recordRead(ctx, on, { providerId, at: ctx.clock.now() })
      statuses.push(await statusOf(sent))
    }
    expect(statuses).toEqual(['SENT', 'SENT', 'DELIVERED'])
    const reads = (await world.events()).filter(
      (event) => event.type === 'message.read' && event.subject === sent.handle,
    )
    expect(reads).toHaveLength(1)
  })

  it('one lost part fails the message, and says which', async () => {
    const sent = await onWire()
    const ids = fresh(3)
    await answer(sent, ids)
    await report(ids[0]!)
    await report(ids[1]!, 'ERROR', { code: 'UNDELIV', detail: 'err 069' })
    await report(ids[2]!)
    const record = await world.record(sent.handle)
    expect(record.status).toBe('ERROR')
    expect(record.error_detail).toBe('Part 2 of 3: UNDELIV: err 069')
  })

  it('receipts of parts that overtake the answer wait for it', async () => {
    for (const early of [1, 2, 3]) {
      const sent = await onWire()
      const ids = fresh(3)
      for (const id of ids.slice(0, early)) await report(id)
      expect(await statusOf(sent)).toBe('QUEUED')
      await answer(sent, ids)
      expect(await statusOf(sent)).toBe(early === 3 ? 'DELIVERED' : 'SENT')
      for (const id of ids.slice(early)) await report(id)
      expect(await statusOf(sent)).toBe('DELIVERED')
    }
  })

  it('a receipt parked by another process in that very moment is found later', async () => {
    const { ctx } = world.app
    const sent = await onWire()
    const ids = fresh(2)
    await answer(sent, ids)
    await report(ids[0]!)
    await ctx.db.run(
      'insert into parked_receipts (line_id, provider_id, receipt, status, report, received_at) values ($1, $2, $2, $3, $4, $5)',
      [
        on.line.id,
        ids[1]!,
        'DELIVERED',
        JSON.stringify({ providerId: ids[1], status: 'DELIVERED', at: ctx.clock.now() }),
        ctx.clock.now(),
      ],
    )
    await rematchParked(ctx, on)
    expect(await statusOf(sent)).toBe('DELIVERED')
  })

  it.each([
    ['hexadecimal in the answer, decimal in the receipt', '1A2B', '6699', ['1a2b', '1A2B']],
    ['padded in the receipt', '4711', '0000004711', ['4711']],
  ])('%s', async (_, inAnswer, inReceipt, otherIds) => {
    const sent = await onWire()
    await answer(sent, [inAnswer])
    await report(inReceipt, 'DELIVERED', { otherIds, to: sent.to.slice(1) })
    expect(await statusOf(sent)).toBe('DELIVERED')
    const early = await onWire()
    await report(`9${inReceipt}`, 'DELIVERED', { otherIds: [`9${inAnswer}`], to: early.to })
    await answer(early, [`9${inAnswer}`])
    expect(await statusOf(early)).toBe('DELIVERED')
  })

  it('another spelling of an id means nothing for a message to somebody else', async () => {
    const [sixteen, other] = [await onWire(), await onWire()]
    await answer(sixteen, ['10'])
    // 16 in decimal is 10 in hexadecimal: the receipt of a message whose answer is still on its way.
    await report('16', 'DELIVERED', { otherIds: ['10'], to: other.to })
    expect(await statusOf(sixteen)).toBe('SENT')
    await answer(other, ['16'])
    expect(await statusOf(other)).toBe('DELIVERED')
    expect(await statusOf(sixteen)).toBe('SENT')
  })

  it("ids that are each other's other spelling: early receipts each find their own message", async () => {
    const { ctx } = world.app
    // Read as decimal and written in hexadecimal, each is the one before it.
    const sent = [await onWire(), await onWire(), await onWire()]
    const ids = ['c8', '200', '512']
    for (const [i, one] of sent.entries())
      await report(ids[i]!, 'DELIVERED', { otherIds: ids.filter((id) => id !== ids[i]), to: one.to })
    for (const [i, one] of sent.entries()) await answer(one, [ids[i]!])
    for (const one of sent) expect(await statusOf(one)).toBe('DELIVERED')
    expect(await ctx.db.all('select * from parked_receipts where line_id = $1', [on.line.id])).toEqual([])
  })

  it('the number tells a message from the one whose id is the other spelling', async () => {
    const [first, second] = [await onWire(), await onWire()]
    await answer(first, ['30'])
    await answer(second, ['48'])
    // The carrier answers in hexadecimal and reports in decimal.
    await report('48', 'DELIVERED', { otherIds: ['30'], to: first.to })
    expect([await statusOf(first), await statusOf(second)]).toEqual(['DELIVERED', 'SENT'])
    await report('72', 'DELIVERED', { otherIds: ['48'], to: second.to })
    expect(await statusOf(second)).toBe('DELIVERED')
  })

  it('also when the answers and the receipt come together', async () => {
    const [first, second] = [await onWire(), await onWire()]
    const news = createNews(world.app.ctx, on, createTurns())
    const accepted = (sent: Sent, providerId: string) =>
      news.ended({ claimed: sent.claimed, result: { outcome: 'accepted', providerId, status: 'SENT' } })
    await Promise.all([
      accepted(first, '50'),
      accepted(second, '80'),
      news.receipt({ providerId: '80', otherIds: ['50'], to: first.to, status: 'DELIVERED', at: 0 }),
    ])
    expect([await statusOf(first), await statusOf(second)]).toEqual(['DELIVERED', 'SENT'])
  })

  it('a receipt that cannot be written fails alone, and what came with it is written once', async () => {
    const { ctx } = world.app
    const now = ctx.clock.now()
    const limited = { ...on, daily: createDailyLimit(1000, now, new Map()) }
    const [sent, stuck] = [await onWire(), await onWire(undefined, limited)]
    const [id] = fresh(1)
    await answer(sent, [id!])
    const sentToday = async () => [...(await findSentOn(ctx.db, on.line.id, dayOf(now))).values()]
    const [before] = await sentToday()
    const news = createNews(ctx, limited, createTurns())
    const outcomes = await Promise.allSettled([
      news.ended({ claimed: stuck.claimed, result: { outcome: 'never-left', code: 'x', detail: 'x' } }),
      // No engine can hold this.
      news.receipt({ providerId: `${id}-x`, status: 'SENT', at: now, code: 1n as unknown as string }),
      news.receipt({ providerId: id!, status: 'DELIVERED', at: now }),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(await statusOf(sent)).toBe('DELIVERED')
    expect(await sentToday()).toEqual([before! - 1])
  })

  it('a carrier that writes something else for the number is believed by the very id', async () => {
    const sent = await onWire()
    await answer(sent, fresh(1))
    await report(fresh(1)[0]!, 'DELIVERED', { to: LINE })
    expect(await statusOf(sent)).toBe('DELIVERED')
  })

  it('a receipt that has found its message is not found again under another spelling', async () => {
    const first = await onWire()
    await report('700', 'DELIVERED', { otherIds: ['2bc'], to: first.to })
    await answer(first, ['700'])
    const second = await onWire(first.to)
    await answer(second, ['2bc'])
    expect(await statusOf(first)).toBe('DELIVERED')
    expect(await statusOf(second)).toBe('SENT')
  })

  it('a carrier that counts from one again: a receipt is about the later message', async () => {
    const [first, second] = [await onWire(), await onWire()]
    await answer(first, ['1'])
    await answer(second, ['1'])
    await report('1')
    expect([await statusOf(first), await statusOf(second)]).toEqual(['SENT', 'DELIVERED'])
  })

  it('a carrier that sent it by another service says so', async () => {
    const sent = await onWire()
    const both = { ...on, services: ['iMessage', 'SMS'] as const }
    await recordResults(world.app.ctx, both, [
      {
        claimed: sent.claimed,
        result: { outcome: 'accepted', providerId: fresh(1)[0]!, status: 'SENT', service: 'SMS' },
      },
    ])
    expect(await world.record(sent.handle)).toMatchObject({ service: 'SMS', was_downgraded: true })
  })
})
