import type { Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/database.js'
import { startTcpProxy, type TcpProxy } from '../../support/database-faults/tcp-proxy.js'
import { spawnServer } from '../../support/server.js'
import { ENGINES } from '../../support/world.js'

describe.runIf(ENGINES.includes('postgres'))('a server that starts while its database', () => {
  const cleanup: (() => Promise<unknown> | unknown)[] = []
  afterEach(async () => {
    for (const end of cleanup.splice(0).reverse()) await end()
  })

  /** Starts a server, and resets connections by what it sends on them; resolves with what it has printed. */
  async function startThrough(onBytes: NonNullable<TcpProxy['onBytes']>): Promise<string> {
    const database = await createDatabase()
    cleanup.push(() => database.release())
    const proxy = Object.assign(await startTcpProxy(database.url), { onBytes })
    cleanup.push(() => proxy.close())
    const server = await spawnServer({ env: { DATABASE_URL: proxy.url } })
    cleanup.push(() => server.kill())
    return server.output
  }

  /** Resets the first connections, each after so many bytes. */
  function cutFirst(connections: number, bytesEach: number): NonNullable<TcpProxy['onBytes']> {
    const first = new Map<Socket, number>()
    return (from, bytes) => {
      if (!first.has(from) && first.size === connections) return
      const sent = (first.get(from) ?? 0) + bytes.length
      first.set(from, sent)
      if (sent > bytesEach) from.resetAndDestroy()
    }
  }

  it('is away says so, tries again and gets ready', async () => {
    expect(await startThrough(cutFirst(2, 0))).toMatch(
      /^The database cannot be used: .*Trying again for 30 seconds\.$/m,
    )
  })

  it('is lost in the middle of it tries again and gets ready', async () => {
    expect(await startThrough(cutFirst(3, 600))).toContain('Trying again')
  })

  it('is lost after it listens tries again and gets ready', async () => {
    let left = 4
    const printed = await startThrough((from, bytes) => {
      // The last thing that a start asks for, to know what to print.
      if (bytes.includes('from keys where id = $1 and revoked_at is null') && left-- > 0)
        from.resetAndDestroy()
    })
    expect(printed).toContain('Trying again')
  })
})
