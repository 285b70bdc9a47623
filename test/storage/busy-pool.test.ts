import { createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { CONNECT_MS } from '../../src/storage/engine/postgres/pool.js'
import { openPostgres, type PostgresOptions } from '../../src/storage/engine/postgres.js'
import { createDatabase } from '../support/database.js'
import { ENGINES } from '../support/world.js'

const toClose: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of toClose.splice(0).reverse()) await close()
})

async function open(url: string, options: PostgresOptions) {
  const db = await openPostgres(url, options)
  toClose.push(db.close)
  return db
}

async function openBusy(options: PostgresOptions) {
  const { url, release } = await createDatabase()
  toClose.push(release)
  return open(url, { poolSize: 1, ...options })
}

describe.runIf(ENGINES.includes('postgres'))('work that finds every connection in use', () => {
  it('waits for longer than a connection may take to open, and gets its turn in order', async () => {
    const db = await openBusy({})
    const order: string[] = []
    const work = async (name: string, text: string) => {
      await db.all(text)
      order.push(name)
    }
    const seconds = CONNECT_MS / 1000 + 0.5
    await Promise.all([
      work('long', `select pg_sleep(${seconds})`),
      work('first', 'select 1'),
      work('second', 'select 1'),
    ])
    expect(order).toEqual(['long', 'first', 'second'])
    expect(db.faults()).toMatchObject({ lost_session: 0, repeated_transaction: 0 })
  })

  it('is told so in the end, and not that the database is gone', async () => {
    const db = await openBusy({ waitMs: 50 })
    const long = db.all('select pg_sleep(1)')
    await expect(db.all('select 1')).rejects.toMatchObject({
      code: 'unavailable',
      message: 'Every connection to the database (1) was in use for 0.05 s. Try again.',
      options: { retryAfterMs: 1000 },
    })
    await long
    expect(await db.all('select 1 as n')).toEqual([{ n: 1 }])
  })

  it('fails with the work before it if no connection can be made', async () => {
    const came: Socket[] = []
    const hole = createServer((socket) => void came.push(socket))
    await new Promise<void>((resolve) => hole.listen(0, '127.0.0.1', resolve))
    toClose.push(() => {
      for (const socket of came) socket.destroy()
      return new Promise((resolve) => hole.close(resolve))
    })
    const { port } = hole.address() as { port: number }
    const db = await open(`postgres://trunkline@127.0.0.1:${port}/none`, { poolSize: 1 })
    const answers = await Promise.allSettled(Array.from({ length: 20 }, () => db.all('select 1')))
    for (const answer of answers)
      expect(answer).toMatchObject({
        reason: {
          message: 'The database cannot be reached at the moment. Try again.',
          cause: { message: `127.0.0.1:${port} did not answer within 3 s` },
        },
      })
    expect(came).toHaveLength(1)
  })
})
