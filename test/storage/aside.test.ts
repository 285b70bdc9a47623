import { renameSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSqlite } from '../../src/storage/engine/sqlite.js'
import { makeDirectory } from '../support/directory.js'
import { ADA, createWorld, ENGINES, type World } from '../support/world.js'

const LONG =
  'with recursive c(n) as (select 1 union all select n + 1 from c where n < 50000) select count(*) as n from c'

describe.each(ENGINES)('reads aside on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  afterAll(() => world.close())

  it('a list shows a message as soon as its send is answered', async () => {
    for (let i = 0; i < 20; i++) {
      const { message_handle } = await world.send({ number: ADA, content: `text ${i}` })
      const { body } = await world.get('/api/v2/messages?limit=1')
      expect(body.data[0].message_handle).toBe(message_handle)
    }
  })

  it('a statement that fails is refused alone', async () => {
    const sql = world.app.ctx.db.aside('a')
    await expect(sql.all('select absent from nowhere')).rejects.toThrow(/nowhere/)
    expect(await sql.one('select 1 as n where 1 = $1', [2])).toBeUndefined()
    expect(await sql.one<{ n: number }>('select 1 as n')).toEqual({ n: 1 })
  })

  it('settle waits for all of them', async () => {
    const { db } = world.app.ctx
    let answered = 0
    for (let i = 0; i < 8; i++)
      void db
        .aside(`owner ${i}`)
        .one(LONG)
        .then(() => answered++)
    await world.app.settle()
    expect(answered).toBe(8)
  })
})

describe('the reader thread of SQLite', () => {
  it('answers what was asked before the database is closed', async () => {
    const db = await openSqlite(makeDirectory('aside-'))
    const answers = Array.from({ length: 4 }, () => db.aside('a').one(LONG))
    await db.close()
    expect(await Promise.all(answers)).toEqual(Array(4).fill({ n: 50_000 }))
  })

  it('a thread that fails refuses its statements and is replaced', async () => {
    const directory = makeDirectory('aside-')
    const db = await openSqlite(directory)
    renameSync(directory, `${directory}-away`)
    const two = [db.aside('a').one('select 1 as n'), db.aside('b').one('select 1 as n')]
    for (const { status } of await Promise.allSettled(two)) expect(status).toBe('rejected')
    renameSync(`${directory}-away`, directory)
    expect(await db.aside('a').one('select 1 as n')).toEqual({ n: 1 })
    await db.close()
  })
})
