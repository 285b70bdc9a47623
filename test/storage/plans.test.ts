import pg from 'pg'
import { expect, it } from 'vitest'
import { createDatabase } from '../support/database.js'
import { ADA, createWorld } from '../support/world.js'

const SENDS = 60
/** They grow with messages. */
const TABLES = ['messages', 'attempts', 'events', 'message_counts', 'phone_messages', 'webhook_deliveries']

// A new database has counted no rows yet, so PostgreSQL takes every table for a small one.
it('sends and their webhooks read no table as a whole in a new PostgreSQL database', async () => {
  const database = await createDatabase()
  const world = await createWorld('postgres', { env: { DATABASE_URL: database.url } })
  const ask = async (text: string, params: unknown[] = []) => {
    const client = new pg.Client(database.url)
    await client.connect()
    const { rows } = await client.query(text, params)
    await client.end()
    return rows
  }
  // The database may have served another test.
  await ask('select pg_stat_reset()')
  try {
    const send = () => world.send({ number: ADA, status_callback: 'http://127.0.0.1:9/' })
    for (let i = 0; i < SENDS; i += 10) await Promise.all(Array.from({ length: 10 }, send))
    await world.advance(10_000)
    expect(await world.inbox(ADA)).toHaveLength(SENDS)
    let read: unknown[] = []
    // The sessions hand in what they counted when they end. Housekeeping may look at all rows once or twice; reading
    // them for each send is a thousand rows and more.
    await world.restart(undefined, async () => {
      read = await ask(
        'select relname, seq_tup_read from pg_stat_user_tables where relname = any ($1) and seq_tup_read >= $2',
        [TABLES, 5 * SENDS],
      )
    })
    expect(read).toEqual([])
  } finally {
    await world.close()
    await database.release()
  }
})
