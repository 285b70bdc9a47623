import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTurns } from '../../src/base/turns.js'
import type { Line } from '../../src/core/lines/line.js'
import type { Message } from '../../src/core/messages/message.js'
import type { Receipt, SendResult } from '../../src/core/messages/outcome.js'
import { claim } from '../../src/services/messages/claim.js'
import type { DispatchLine } from '../../src/services/messages/dispatch-line.js'
import { createNews } from '../../src/services/messages/news.js'
import { findMessagesById } from '../../src/storage/messages/messages.js'
import { listQueue } from '../../src/storage/messages/queue.js'
import { createWorld, ENGINES, LINE, type World } from '../support/world.js'

const TOGETHER = ['nothing', 'receipts', 'all'] as const
type Together = (typeof TOGETHER)[number]

/**
 * A carrier's news in every order and number, before and after its answer to the send: the message ends the same
 * and the log says the same. What an order cannot tell is left out and never told wrong: a failure that overtakes
 * "sent" does not claim that it was.
 */
describe.each(ENGINES)('receipts on %s', (engine) => {
  let world: World
  let on: DispatchLine
  let n = 0
  beforeAll(async () => {
    // The test itself is the line's driver.
    world = await createWorld(engine, { line: { config: { state: 'OFFLINE' }, pace: 0 } })
    const { line, lease } = world.app.ctx.lines
      .all()
      .find((one) => one.line.number === LINE && one.line.network === 'live') as unknown as {
      line: Line
      lease: DispatchLine['lease']
    }
    on = {
      line,
      lease,
      services: ['iMessage', 'RCS', 'SMS'],
      daily: null,
      groupMms: false,
      unsent: new Map(),
    }
  })
  afterAll(() => world.close())

  type Step =
    | { kind: 'answer'; result: 'ACCEPTED' | 'SENT' | 'unknown' }
    | { kind: 'receipt'; status: Receipt['status'] }
  const answer = (result: 'ACCEPTED' | 'SENT' | 'unknown'): Step => ({ kind: 'answer', result })
  const receipt = (status: Receipt['status']): Step => ({ kind: 'receipt', status })

  /** Plays the steps on a new message; answers how it ended and what the log says of it. */
  async function play(steps: readonly Step[], together: Together = 'nothing', byRef = false) {
    const { ctx } = world.app
    const { message_handle: handle } = await world.send({
      number: `+1202556${String(1000 + (n % 9000))}`,
      content: `receipt ${n++}`,
    })
    const rows = await listQueue(ctx.db, on.line.id, 0, 100_000)
    const message = [
      ...(
        await findMessagesById(
          ctx.db,
          rows.map((row) => row.id),
        )
      ).values(),
    ].find((one: Message) => one.handle === handle)!
    const [claimed] = await claim(ctx, on, [message], new Map())
    const providerId = `P-${engine}-${n}`
    const report = (status: Receipt['status']): Receipt => ({
      ...(byRef ? { ref: claimed!.attempt.ref } : { providerId }),
      status,
      at: ctx.clock.now(),
    })
    const news = createNews(ctx, on, createTurns())
    const tell = (step: Step) => {
      if (step.kind === 'receipt') return news.receipt(report(step.status))
      const result: SendResult =
        step.result === 'unknown'
          ? { outcome: 'unknown', code: 'x', detail: 'x' }
          : { outcome: 'accepted', providerId, status: step.result }
      return news.ended({ claimed: claimed!, result })
    }
    // Receipts that come together are judged together.
    if (together === 'all') await Promise.all(steps.map(tell))
    else
      for (let i = 0; i < steps.length; i++) {
        const batch = [tell(steps[i]!)]
        if (together === 'receipts' && steps[i]!.kind === 'receipt')
          while (steps[i + 1]?.kind === 'receipt') batch.push(tell(steps[++i]!))
        await Promise.all(batch)
      }
    const log = (
      await ctx.db.all<{ data: string; at: number }>(
        'select data, at from events where subject = $1 order by seq',
        [handle],
      )
    ).map(({ data, at }) => ({ status: JSON.parse(data).status as string, at }))
    const moments = log.map(({ at }) => at)
    expect(moments).toEqual([...new Set(moments)].sort((a, b) => a - b))
    return { final: (await world.record(handle)).status as string, emitted: log.map(({ status }) => status) }
  }

  /** All orders of the steps, with some of the receipts said again anywhere. */
  const orders = (steps: readonly Step[]) =>
    fc
      .tuple(
        fc.array(fc.nat(steps.length - 1), { maxLength: 3 }),
        fc.infiniteStream(fc.nat()),
        fc.constantFrom(...TOGETHER),
      )
      .map(([again, dice, together]) => {
        const all = [...steps, ...again.map((i) => steps[i]!).filter((step) => step.kind === 'receipt')]
        for (let i = all.length - 1; i > 0; i--) {
          const j = dice.next().value! % (i + 1)
          ;[all[i], all[j]] = [all[j]!, all[i]!]
        }
        return { steps: all, together }
      })

  it.each([
    [
      'accepts first',
      [answer('ACCEPTED'), receipt('ACCEPTED'), receipt('SENT'), receipt('DELIVERED')],
      ['QUEUED', 'ACCEPTED', 'SENT', 'DELIVERED'],
    ],
    [
      'answers when it is sent',
      [answer('SENT'), receipt('SENT'), receipt('DELIVERED')],
      ['QUEUED', 'SENT', 'DELIVERED'],
    ],
    [
      'answers when it is sent and reports acceptance all the same',
      [answer('SENT'), receipt('ACCEPTED'), receipt('SENT'), receipt('DELIVERED')],
      ['QUEUED', 'SENT', 'DELIVERED'],
    ],
    [
      'has no word from the device',
      [answer('ACCEPTED'), receipt('SENT'), receipt('SUCCESS')],
      ['QUEUED', 'ACCEPTED', 'SENT', 'SUCCESS'],
    ],
    [
      'fails after acceptance',
      [answer('ACCEPTED'), receipt('ACCEPTED'), receipt('ERROR')],
      ['QUEUED', 'ACCEPTED', 'ERROR'],
    ],
    [
      'fails after it was sent',
      [answer('SENT'), receipt('SENT'), receipt('ERROR')],
      ['QUEUED', 'SENT', 'ERROR'],
    ],
    ['is declined', [answer('SENT'), receipt('DECLINED')], ['QUEUED', 'SENT', 'DECLINED']],
  ])('a carrier that %s: every order is as good as the right one', async (_, steps, emitted) => {
    expect(await play(steps)).toEqual({ final: emitted.at(-1), emitted })
    await fc.assert(
      fc.asyncProperty(orders(steps), async (run) => {
        expect(await play(run.steps, run.together)).toEqual({ final: emitted.at(-1), emitted })
      }),
      { numRuns: 15 },
    )
  })

  it('every order of an answer, one acceptance and two each of sent and delivered', async () => {
    const steps = [
      answer('ACCEPTED'),
      receipt('ACCEPTED'),
      ...[receipt('SENT'), receipt('DELIVERED')].flatMap((step) => [step, step]),
    ]
    const all = permutations(steps)
    expect(all).toHaveLength(180)
    const emitted = ['QUEUED', 'ACCEPTED', 'SENT', 'DELIVERED']
    for (const order of all)
      expect(await play(order), JSON.stringify(order)).toEqual({ final: 'DELIVERED', emitted })
  })

  it('a carrier that never answered the send and reports by our ref', async () => {
    const reports = [receipt('ACCEPTED'), receipt('SENT'), receipt('DELIVERED')]
    const emitted = ['QUEUED', 'PENDING', 'ACCEPTED', 'SENT', 'DELIVERED']
    await fc.assert(
      fc.asyncProperty(orders(reports), async (run) => {
        const played = await play([answer('unknown'), ...run.steps], run.together, true)
        expect(played).toEqual({ final: 'DELIVERED', emitted })
      }),
      { numRuns: 15 },
    )
  })

  it('a failure that overtakes "sent" ends the same and claims nothing that nobody said', async () => {
    const steps = [answer('ACCEPTED'), receipt('SENT'), receipt('ERROR')]
    await fc.assert(
      fc.asyncProperty(orders(steps), async (run) => {
        const { final, emitted } = await play(run.steps, run.together)
        expect(final).toBe('ERROR')
        expect([
          ['QUEUED', 'ACCEPTED', 'SENT', 'ERROR'],
          ['QUEUED', 'ACCEPTED', 'ERROR'],
        ]).toContainEqual(emitted)
      }),
      { numRuns: 15 },
    )
  })
})

/** All different orders; what is equal is told apart by nobody. */
function permutations<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]]
  return [...new Set(items)].flatMap((first) => {
    const rest = [...items]
    rest.splice(rest.indexOf(first), 1)
    return permutations(rest).map((order) => [first, ...order])
  })
}
