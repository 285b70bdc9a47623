import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Columns, Sql } from '../../src/storage/engine/db.js'
import { openPostgres } from '../../src/storage/engine/postgres.js'
import { createWorld, ENGINES, type Json, LINE, type World } from '../support/world.js'

/** Rows that are written together end in their own columns. */
describe.each(ENGINES)('rows written together on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  afterAll(() => world.close())

  it('statements of as many columns, but others, are told apart', async () => {
    const { db } = world.app.ctx
    const shared = { delivery_id: 'bigint', n: 'bigint', at: 'bigint', ms: 'bigint', request_headers: 'text' }
    const rows = (from: number, text: string) =>
      Array.from({ length: 20 }, (_, i) => [from + i, 1, 2, 3, '{}', text])
    await db.insertMany('webhook_attempts', { ...shared, reason: 'text' } as Columns, rows(1000, 'a reason'))
    await db.insertMany('webhook_attempts', { ...shared, answer: 'text' } as Columns, rows(2000, 'an answer'))
    const kept = await db.all(
      'select distinct reason, answer from webhook_attempts where delivery_id >= 1000 order by answer',
    )
    expect(kept).toHaveLength(2)
    expect(kept).toContainEqual({ reason: 'a reason', answer: null })
    expect(kept).toContainEqual({ reason: null, answer: 'an answer' })
  })

  it('any rows with any columns are read back as they were written, and as they were changed', async () => {
    const { db } = world.app.ctx
    const texts = ['reason', 'answer', 'answer_headers'] as const
    const numbers = ['http_status', 'ms', 'at'] as const
    const value = fc.constantFrom('', 'a', "it's", '"quoted" \\ and {braces}, commas', 'ünïcode 🎈', 'NULL')
    const number = fc.constantFrom(0, 1, -7, 200, 2 ** 40)
    let id = 1_000_000
    const batch = fc
      .record({
        texts: fc.subarray([...texts]),
        size: fc.integer({ min: 1, max: 40 }),
        // Rows of a batch are mostly alike, or all different.
        palette: fc.array(fc.record({ text: value, number }), { minLength: 1, maxLength: 4 }),
        dice: fc.infiniteStream(fc.nat()),
      })
      .map(({ texts, size, palette, dice }) => {
        const pick = () => palette[dice.next().value! % palette.length]!
        const columns = ['delivery_id', 'n', 'request_headers', ...numbers, ...texts]
        const rows = Array.from({ length: size }, () => [
          id++,
          1,
          '{}',
          ...numbers.map(() => pick().number),
          ...texts.map(() => pick().text),
        ])
        return { columns, rows }
      })
    const typeOf = (name: string) =>
      ['reason', 'answer', 'answer_headers', 'request_headers'].includes(name) ? 'text' : 'bigint'
    const typed = (names: readonly string[]): Columns =>
      Object.fromEntries(names.map((name) => [name, typeOf(name)]))
    await fc.assert(
      fc.asyncProperty(batch, async ({ columns, rows }) => {
        const read = async () =>
          (
            await db.all<Json>(
              `select ${columns} from webhook_attempts where delivery_id between $1 and $2 order by delivery_id`,
              [rows[0]![0]!, rows.at(-1)![0]!],
            )
          ).map((row) => columns.map((name) => row[name]))
        await db.insertMany('webhook_attempts', typed(columns), rows)
        expect(await read()).toEqual(rows)
        const changed = rows.map(([own, n, headers, ...rest]) => [own!, n!, headers!, ...rest.toReversed()])
        const names = columns.slice(3)
        // Only of their own kind: the numbers stand before the texts.
        const sorted = changed.map((row) => [
          ...row.slice(0, 3),
          ...row.slice(3).filter((one) => typeof one === 'number'),
          ...row.slice(3).filter((one) => typeof one === 'string'),
        ])
        const done = await db.updateMany(
          'webhook_attempts',
          { delivery_id: 'bigint' },
          typed(names),
          sorted.map((row) => [row[0]!, ...row.slice(3)]),
        )
        expect(done).toEqual(rows.map(() => true))
        expect(await read()).toEqual(sorted)
      }),
      { numRuns: 60 },
    )
  })

  it('messages that use different fields, many at once, keep them', async () => {
    const [account] = (await world.get('/admin/accounts', 'admin')).body.data
    const draft = { account_id: account.id, email: 'ada@example.com', subject: 'ada' }
    const seat = (await world.post('/admin/seats', draft, 'admin')).body
    const sendMany = (fields: Json) =>
      Promise.all(
        Array.from({ length: 40 }, async (_, n) => {
          const body = { number: `+1202555${2000 + n}`, from_number: LINE, content: `text ${n}`, ...fields }
          return (await world.post('/api/send-message', body)).body
        }),
      )
    const later = new Date(world.app.ctx.clock.now() + 3_600_000).toISOString()
    const [seated, timed, called] = [
      await sendMany({ seat_id: seat.id }),
      await sendMany({ send_at: later }),
      await sendMany({ status_callback: 'https://example.com/hook' }),
    ]
    const rowOf = async ({ message_handle }: Json) =>
      world.app.ctx.db.one<Json>('select * from messages where handle = $1', [message_handle])
    for (const [n, sent] of seated.entries())
      expect(await rowOf(sent)).toMatchObject({
        content: `text ${n}`,
        sender_email: 'ada@example.com',
        status_callback: null,
        due_at: null,
      })
    for (const [n, sent] of timed.entries())
      expect(await rowOf(sent)).toMatchObject({
        content: `text ${n}`,
        contact: `+1202555${2000 + n}`,
        due_at: Date.parse(later),
        seat_id: null,
        sender_email: null,
        status_callback: null,
      })
    for (const [n, sent] of called.entries())
      expect(await rowOf(sent)).toMatchObject({
        content: `text ${n}`,
        status_callback: 'https://example.com/hook',
        seat_id: null,
        due_at: null,
        extra: null,
      })
  })

  it.runIf(engine === 'postgres')(
    'what many do under a lock is done by one at a time, and is done',
    async () => {
      const { db } = world.app.ctx
      const other = await openPostgres(world.config.databaseUrl!)
      let inside = 0
      let most = 0
      const work = async (sql: Sql) => {
        most = Math.max(most, ++inside)
        for (let i = 0; i < 5; i++) await sql.one('select 1')
        inside--
      }
      try {
        await Promise.all(
          Array.from({ length: 30 }, (_, i) => {
            const one = i % 2 ? db : other
            return one.lock('test', () => one.tx(work))
          }),
        )
      } finally {
        await other.close()
      }
      expect(most).toBe(1)
    },
  )
})
