import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CommitUnknown, type Writes } from '../../src/storage/engine/db.js'
import { ADA, BOB, createWorld, ENGINES, type World } from '../support/world.js'

/** The database dies in the moment an attempt is committed, before the first byte leaves. */
describe.each(ENGINES)('an attempt whose commit nobody answers for, on %s', (engine) => {
  let world: World
  let claims = 0
  /** The fate of the next attempts that are written. */
  let fate: 'written' | 'lost' | undefined
  beforeEach(async () => {
    world = await createWorld(engine, { line: { config: { latency_ms: 0 } } })
    claims = 0
    fate = undefined
    const { db } = world.app.ctx
    const write = db.write.bind(db)
    db.write = async (fn) => {
      let isClaim = false
      const seen = (sql: Writes): Writes => ({
        ...sql,
        insertMany: (table, ...rest) => {
          isClaim ||= table === 'attempts'
          return sql.insertMany(table, ...rest)
        },
      })
      // Whether it is one shows only when it says what to write.
      if (fate === 'lost') {
        const told = {
          insertMany: async () => {},
          updateMany: async () => [],
          run: async () => 0,
          announce() {},
        }
        await Promise.resolve(fn(seen(told as unknown as Writes))).catch(() => {})
        if (!isClaim) return write(fn)
      } else await write((sql) => fn(seen(sql)))
      if (!isClaim) return
      claims++
      if (!fate) return
      fate = undefined
      throw new CommitUnknown(new Error('the connection was cut'))
    }
  })
  afterEach(() => world.close())
  const shown = async (phone: string) => (await world.inbox(phone)).map((one) => one.content)

  it.each(['written', 'lost'] as const)(
    'and that is %s: it goes out once, and nothing waits for it',
    async (what) => {
      fate = what
      const { message_handle } = await world.send({ content: 'through' })
      await world.settle()
      expect([fate, await shown(ADA)]).toEqual([undefined, []])
      await world.send({ number: BOB, content: 'another' })
      await world.advance(5000)
      expect([await shown(ADA), await shown(BOB)]).toEqual([['through'], ['another']])
      expect(await world.record(message_handle)).toMatchObject({ status: 'DELIVERED' })
      expect(claims).toBeLessThan(8)
      const rows = await world.app.ctx.db.all('select state from attempts')
      expect(rows).toEqual([{ state: 'accepted' }, { state: 'accepted' }])
    },
  )

  it('and that a former driver of the same epoch wrote: it is a question, and the others go out', async () => {
    const { db } = world.app.ctx
    fate = 'lost'
    const { message_handle } = await world.send({ content: 'in doubt' })
    await world.settle()
    const message = await db.one<{ id: number; line_id: string }>(
      'select id, line_id from messages where handle = $1',
      [message_handle],
    )
    const lease = await db.one<{ epoch: number }>('select epoch from line_leases where line_id = $1', [
      message!.line_id,
    ])
    await db.run(
      `insert into attempts (ref, message_id, n, line_id, epoch, service, state, wire_at, lookups)
       values ('foreign', $1, 1, $2, $3, 'iMessage', 'on_wire', $4, 0)`,
      [message!.id, message!.line_id, lease!.epoch, world.app.ctx.clock.now()],
    )
    await world.send({ number: BOB, content: 'another' })
    await world.advance(1000)
    expect(await shown(BOB)).toEqual(['another'])
    expect(await world.record(message_handle)).toMatchObject({ status: 'PENDING' })
    // The carrier has nothing of that name, surely so after a while: then it is sent.
    await world.advance(60_000)
    expect(await shown(ADA)).toEqual(['in doubt'])
    expect(claims).toBeLessThan(10)
  })
})
