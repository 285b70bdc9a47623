import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { SHARED } from '../../src/core/verify/verified-contact.js'
import { askVerifiedContact, lockRegistrations } from '../../src/storage/verify/verified-contacts.js'
import { ADA, createWorld, ENGINES, type World } from '../support/world.js'

/** SQLite has one writer, so its transactions never wait for each other's rows. */
describe.runIf(ENGINES.includes('postgres'))('locks on postgres', () => {
  let world: World
  let other: pg.Client
  beforeAll(async () => {
    world = await createWorld('postgres')
    other = new pg.Client({ connectionString: world.config.databaseUrl! })
    await other.connect()
  })
  afterAll(async () => {
    await other.end()
    await world.close()
  })

  /** Resolves when a statement of the server waits for a lock. */
  const whenBlocked = () =>
    vi.waitFor(async () => {
      const { rows } = await other.query(
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      )
      expect(rows).toHaveLength(1)
    }, 60_000)

  it('a result that waits for its message does not hold the event numbers of the account', async () => {
    const { message_handle } = await world.send({ number: ADA })
    await other.query('begin')
    await other.query('select 1 from messages where handle = $1 for update', [message_handle])
    const sent = world.advance(1000)
    await whenBlocked()
    await other.query("set local lock_timeout = '1s'")
    const { rowCount } = await other.query('update event_counters set last_seq = last_seq')
    expect(rowCount).toBeGreaterThan(0)
    await other.query('rollback')
    await sent
    expect((await world.status(message_handle)).status).toBe('DELIVERED')
  })

  it('texts to two shared lines lock the registrations of their senders in one order', async () => {
    const { db } = world.app.ctx
    const [row] = await db.all<{ line: string; account: string }>(
      'select line_id as line, account_id as account from line_members',
    )
    const { line, account } = row!
    const [first, last] = ['+13035570001', '+13035570002'] as const
    // Inserted in the other order, as PostgreSQL would find and lock them.
    for (const number of [last, first]) await askVerifiedContact(db, account, number, SHARED, 1, false)
    await other.query('begin')
    const take = 'select 1 from verified_contacts where number = $1 for update'
    await other.query(take, [first])
    const locked = db.tx((sql) => lockRegistrations(sql, line, [last, first]))
    await whenBlocked()
    await other.query("set local lock_timeout = '1s'")
    expect((await other.query(take, [last])).rowCount).toBe(1)
    await other.query('rollback')
    await locked
  })

  it('a transaction that PostgreSQL ends because of a deadlock runs again', async () => {
    const { db } = world.app.ctx
    await db.run('create table pairs (id int primary key, n int not null)')
    await db.run('insert into pairs values (1, 0), (2, 0)')
    const add = (id: number) => `update pairs set n = n + 1 where id = ${id}`
    // PostgreSQL ends the transaction that notices first: this one, because the other notices much later.
    await other.query("set deadlock_timeout = '60s'")
    await other.query('begin')
    await other.query(add(2))
    let runs = 0
    const done = db.tx(async (sql) => {
      runs++
      await sql.run(add(1))
      await sql.run(add(2))
    })
    await whenBlocked()
    const theirs = other.query(add(1))
    await vi.waitFor(() => expect(runs).toBe(2), { timeout: 60_000 })
    await theirs
    await other.query('commit')
    await done
    expect(await db.all('select n from pairs order by id')).toEqual([{ n: 2 }, { n: 2 }])
  })
})
