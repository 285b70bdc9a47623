import { connect, createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Db } from '../../src/storage/engine/db.js'
import { openPostgres } from '../../src/storage/engine/postgres.js'
import { createDatabase } from '../support/database.js'
import { turns } from '../support/turns.js'
import { ENGINES } from '../support/world.js'

const AGAIN_MS = 50

/** Real time, whatever the timers of the code under test are. */
async function until(isSo: () => unknown) {
  while (!(await isSo())) await turns()
}

/** Where the database should be. What happens to a connection is the test's choice. */
async function startDoor(target?: string) {
  const open = new Set<Socket>()
  const door = {
    /** How many came. */
    came: 0,
    open,
    lets: 'nobody' as 'nobody' | 'in' | 'wait',
    url: '',
    async close() {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  const keep = (socket: Socket) => {
    open.add(socket)
    return socket.on('close', () => open.delete(socket)).on('error', () => {})
  }
  const server = createServer((client) => {
    door.came++
    keep(client)
    if (door.lets === 'nobody') client.destroy()
    if (door.lets !== 'in') return void client.resume()
    const { hostname, port } = new URL(target!)
    const upstream = keep(connect(Number(port), hostname))
    client.pipe(upstream).pipe(client)
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(target ?? 'postgres://trunkline:trunkline@127.0.0.1/none')
  url.port = String((server.address() as { port: number }).port)
  door.url = url.href
  return door
}

describe.runIf(ENGINES.includes('postgres'))('listening for what other processes tell', () => {
  const toClose: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const close of toClose.splice(0).reverse()) await close()
  })

  async function door(target?: string) {
    const made = await startDoor(target)
    toClose.push(made.close)
    return made
  }
  async function open(url: string): Promise<Db> {
    const db = await openPostgres(url, { listenRetryMs: AGAIN_MS })
    let closed: Promise<void> | undefined
    const close = db.close
    db.close = () => (closed ??= close())
    toClose.push(db.close)
    return db
  }

  it('a server that turns everybody away is asked once each time, and not at all after the end', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const at = await door()
      const db = await open(at.url)
      db.onNotify(() => {})
      for (let round = 1; round <= 10; round++) {
        await until(() => at.came === round && at.open.size === 0)
        let waited = 0
        for (; at.came === round; waited++) {
          await vi.advanceTimersByTimeAsync(1)
          await turns()
        }
        expect(waited).toBeGreaterThanOrEqual(AGAIN_MS)
      }
      await db.close()
      const { came } = at
      await vi.advanceTimersByTimeAsync(10 * AGAIN_MS)
      await turns(20)
      expect(at.came).toBe(came)
    } finally {
      vi.useRealTimers()
    }
  })

  it('a connection that is only being made is open no more after the end', async () => {
    const at = await door()
    at.lets = 'wait'
    const db = await open(at.url)
    db.onNotify(() => {})
    await until(() => at.open.size === 1)
    await db.close()
    await until(() => at.open.size === 0)
    expect(at.came).toBe(1)
  })

  it('one that was lost is replaced by one, however often that was tried, and each word comes once', async () => {
    const { url, release } = await createDatabase()
    toClose.push(release)
    const direct = await open(url)
    const at = await door(url)
    at.lets = 'in'
    const db = await open(at.url)
    const heard: string[] = []
    db.onNotify((payload) => heard.push(payload))
    const listeners = async () =>
      (
        await direct.all<{ pid: number }>(
          `select pid from pg_stat_activity where datname = current_database()
           and application_name = 'trunkline-listen' and query like 'listen%' and state = 'idle'`,
        )
      ).map(({ pid }) => pid)
    await until(async () => (await listeners()).length > 0)
    const [first] = await listeners()
    await direct.notify('before')
    await until(() => heard.length > 0)

    at.lets = 'nobody'
    const { came } = at
    await direct.one('select pg_terminate_backend($1)', [first!])
    await until(() => at.came >= came + 3)
    at.lets = 'in'
    await until(async () => {
      const found = await listeners()
      return found.length > 0 && !found.includes(first!)
    })
    await direct.notify('after')
    await until(() => heard.includes('after'))
    await direct.notify('last')
    await until(() => heard.includes('last'))
    expect(heard).toEqual(['before', 'after', 'last'])
    expect(await listeners()).toHaveLength(1)
    await db.close()
    await until(async () => (await listeners()).length === 0)
  })
})
