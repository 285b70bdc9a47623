import type { Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/database.js'
import { startTcpProxy } from '../../support/database-faults/tcp-proxy.js'
import { spawnServer } from '../../support/server.js'
import { ENGINES } from '../../support/world.js'

describe.runIf(ENGINES.includes('postgres'))('a server that starts while its database', () => {
  const cleanup: (() => Promise<unknown> | unknown)[] = []
  afterEach(async () => {
    for (const end of cleanup.splice(0).reverse()) await end()
  })

  /** Starts a server whose first connections end after so many bytes; resolves with what it has printed. */
  async function startThrough(connections: number, bytesEach: number): Promise<string> {
    const database = await createDatabase()
    cleanup.push(() => database.release())
    const proxy = await startTcpProxy(database.url)
    cleanup.push(() => proxy.close())
    const first = new Map<Socket, number>()
    proxy.onBytes = (from, bytes) => {
      if (!first.has(from) && first.size === connections) return
      const sent = (first.get(from) ?? 0) + bytes.length
      first.set(from, sent)
      if (sent > bytesEach) from.resetAndDestroy()
    }
    const server = await spawnServer({ env: { DATABASE_URL: proxy.url } })
    cleanup.push(() => server.kill())
    return server.output
  }

  it('is away says so, tries again and gets ready', async () => {
    expect(await startThrough(2, 0)).toMatch(
      /^The database cannot be used: .*Trying again for 30 seconds\.$/m,
    )
  })

  it('is lost in the middle of it tries again and gets ready', async () => {
    expect(await startThrough(3, 600)).toContain('Trying again')
  })
})
