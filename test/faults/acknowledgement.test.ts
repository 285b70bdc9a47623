import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { type SpawnedServer, spawnServer, temporaryStorage } from '../support/server.js'
import { ADA, credentials, ENGINES, type Engine, LINE } from '../support/world.js'

const headers = { ...credentials('live'), 'content-type': 'application/json' }

/** Keeps the storage from committing anything until it is let go. */
async function holdStorage(
  engine: Engine,
  storage: Record<string, string>,
): Promise<{ release(): Promise<void>; isWaitedFor(): Promise<boolean> }> {
  if (engine === 'sqlite') {
    const db = new DatabaseSync(join(storage.TRUNKLINE_DATA!, 'trunkline.db'))
    db.exec('begin immediate')
    return {
      async release() {
        db.exec('rollback')
        db.close()
      },
      // Nobody can look into another process's wait for a file lock: the send has arrived when later requests have.
      isWaitedFor: async () => true,
    }
  }
  const client = new pg.Client({ connectionString: storage.DATABASE_URL! })
  await client.connect()
  await client.query('begin')
  await client.query('select * from event_counters for update')
  return {
    async release() {
      await client.query('rollback')
      await client.end()
    },
    async isWaitedFor() {
      const waiting =
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
      return (await client.query(waiting)).rows.length > 0
    },
  }
}

function send(server: SpawnedServer) {
  let answer: Response | undefined
  const done = fetch(`${server.url}/api/send-message`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ from_number: LINE, number: ADA, content: 'Are you there?' }),
  }).then(
    (response) => {
      answer = response
      return response
    },
    () => undefined,
  )
  return { done, answered: () => answer !== undefined }
}

/** As many answers to other questions as it takes for an answer to the send to have come, if it could. */
async function otherTraffic(server: SpawnedServer) {
  for (let i = 0; i < 50; i++) {
    expect((await fetch(`${server.url}/livez`)).status).toBe(200)
    expect((await fetch(`${server.url}/api/v2/messages?limit=1`, { headers })).status).toBe(200)
  }
}

async function total(server: SpawnedServer): Promise<number> {
  const response = await fetch(`${server.url}/api/v2/messages`, { headers })
  return ((await response.json()) as { pagination: { total: number } }).pagination.total
}

describe.each(ENGINES)('a process on %s whose storage cannot commit', (engine) => {
  it('gives no answer to a send, and a kill then leaves neither answer nor message', async () => {
    const storage = await temporaryStorage(engine)
    const server = await spawnServer({ engine, env: storage })
    const hold = await holdStorage(engine, storage)
    const sent = send(server)
    await expect.poll(hold.isWaitedFor).toBe(true)
    await otherTraffic(server)
    expect(sent.answered()).toBe(false)
    await server.kill('SIGKILL')
    expect(await sent.done).toBeUndefined()
    await hold.release()
    const next = await spawnServer({ engine, env: storage })
    expect(await total(next)).toBe(0)
    await next.kill()
  })

  it('answers as soon as the storage has committed', async () => {
    const storage = await temporaryStorage(engine)
    const server = await spawnServer({ engine, env: storage })
    const hold = await holdStorage(engine, storage)
    const sent = send(server)
    await expect.poll(hold.isWaitedFor).toBe(true)
    expect(sent.answered()).toBe(false)
    await hold.release()
    expect((await sent.done)?.status).toBe(202)
    await server.kill('SIGKILL')
    const next = await spawnServer({ engine, env: storage })
    expect(await total(next)).toBe(1)
    await next.kill()
  })
})
