import { connect, createServer, type Server } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/database.js'
import { spawnServer } from '../../support/server.js'
import { ENGINES } from '../../support/world.js'

/** Leads to a database, except for the connections that `cuts` names, which end after so many bytes of the client. */
async function startGate(
  target: string,
  cuts: (connection: number) => number,
): Promise<Server & { url: string }> {
  const { port, hostname } = new URL(target)
  let connections = 0
  const gate = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    let left = cuts(connections++)
    client.on('data', (bytes) => {
      left -= bytes.length
      if (left < 0) client.resetAndDestroy()
      else upstream.write(bytes)
    })
    upstream.pipe(client)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('error', () => {})
      from.on('close', () => to.destroy())
    }
  })
  await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve))
  const url = new URL(target)
  url.port = String((gate.address() as { port: number }).port)
  return Object.assign(gate, { url: url.href })
}

describe.runIf(ENGINES.includes('postgres'))('a server that starts while its database', () => {
  const cleanup: (() => Promise<unknown> | unknown)[] = []
  afterEach(async () => {
    for (const end of cleanup.splice(0).reverse()) await end()
  })

  /** Starts a server whose first connections end early; resolves with what it has printed. */
  async function startThrough(cuts: (connection: number) => number): Promise<string> {
    const database = await createDatabase()
    cleanup.push(() => database.release())
    const gate = await startGate(database.url, cuts)
    cleanup.push(() => gate.close())
    const server = await spawnServer({ env: { DATABASE_URL: gate.url } })
    cleanup.push(() => server.kill())
    return server.output
  }

  it('is away says so, tries again and gets ready', async () => {
    expect(await startThrough((connection) => (connection < 2 ? 0 : Infinity))).toMatch(
      /^The database cannot be used: .*Trying again for 30 seconds\.$/m,
    )
  })

  it('is lost in the middle of it tries again and gets ready', async () => {
    expect(await startThrough((connection) => (connection < 3 ? 600 : Infinity))).toContain('Trying again')
  })
})
