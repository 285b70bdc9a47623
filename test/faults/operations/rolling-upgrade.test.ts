import { cpSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import {
  type SpawnedServer,
  spawnServer,
  temporaryDirectory,
  temporaryStorage,
} from '../../support/server.js'
import { ADA, credentials, LINE } from '../../support/world.js'

const PHONES = [ADA, '+12025550211', '+12025550212']
const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** What the next release may add beside running nodes: a column in a table that every send reads and writes. */
const EXPAND = `alter table messages add column next_release_note text;
create table next_release (id text primary key);`
/** What the release after it takes away. */
const CONTRACT = `-- minimum: 9001_next_release.sql
drop table next_release;`

/** This program as a later release, with these migrations beside its own. */
function laterRelease(migrations: Record<string, string>): string {
  const folder = temporaryDirectory()
  cpSync(join(ROOT, 'dist'), join(folder, 'dist'), { recursive: true })
  for (const file of ['package.json', 'openapi.json']) cpSync(join(ROOT, file), join(folder, file))
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  for (const [name, text] of Object.entries(migrations))
    writeFileSync(join(folder, 'dist/storage/migrations', name), text)
  return join(folder, 'dist/main.js')
}

const next = () => laterRelease({ '9001_next_release.sql': EXPAND })
const afterNext = () => laterRelease({ '9001_next_release.sql': EXPAND, '9002_after_next.sql': CONTRACT })

/** Sends to one server after the other, like a balancer, until it is stopped. */
function load(servers: SpawnedServer[]) {
  const statuses: number[] = []
  const accepted: string[] = []
  let isOver = false
  const client = async (index: number) => {
    for (let n = 0; !isOver; n++) {
      const server = servers[(index + n) % servers.length]!
      const content = `${index} ${n}`
      try {
        const reply = await fetch(`${server.url}/api/send-message`, {
          method: 'POST',
          headers: { ...credentials('live'), 'content-type': 'application/json' },
          body: JSON.stringify({ from_number: LINE, number: PHONES[index], content }),
        })
        statuses.push(reply.status)
        if (reply.status === 202) accepted.push(content)
        const list = await fetch(`${server.url}/api/v2/messages?limit=2`, { headers: credentials('live') })
        if (list.status !== 429) statuses.push(list.status)
      } catch {
        // A stopped server refuses connections; a balancer asks the next one.
      }
      // An inbox shows 1000 messages.
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  const clients = PHONES.map((_, index) => client(index))
  return {
    statuses,
    accepted,
    async end() {
      isOver = true
      await Promise.all(clients)
    },
  }
}

async function listArrived(server: SpawnedServer): Promise<string[]> {
  const inboxes = PHONES.map(async (phone) => {
    const url = `${server.url}/sim/phones/${encodeURIComponent(phone)}/inbox?limit=1000`
    const reply = await fetch(url, { headers: credentials('live') })
    return ((await reply.json()) as { data: { direction: string; content: string }[] }).data
  })
  return (await Promise.all(inboxes)).flat().flatMap((one) => (one.direction === 'in' ? [one.content] : []))
}

describe('a rolling upgrade of three processes on PostgreSQL', () => {
  it('goes on under load, allows the way back, and ends where the minimum says', async () => {
    const env = {
      ...(await temporaryStorage('postgres')),
      TRUNKLINE_LEASE_MS: '2000',
      TRUNKLINE_LAME_DUCK_MS: '200',
      LOG_LEVEL: 'silent',
    }
    const start = (main?: string) => spawnServer({ env, main, timeoutMs: 60_000 })
    const servers = await Promise.all([start(), start(), start()])
    const traffic = load(servers)
    const main = next()
    for (let i = 0; i < servers.length; i++) {
      const before = traffic.statuses.length
      const upgraded = await start(main)
      const old = servers[i]!
      servers[i] = upgraded
      expect(await old.kill('SIGTERM'), `stop ${i}`).toMatchObject({ code: 0 })
      while (traffic.statuses.length < before + 20) await new Promise((resolve) => setTimeout(resolve, 20))
    }
    // The way back: the older program starts beside the newer ones.
    const back = await start()
    await back.kill('SIGTERM')
    await traffic.end()
    expect(traffic.statuses.filter((status) => status >= 400 && status !== 429 && status !== 503)).toEqual([])
    expect(traffic.statuses.filter((status) => status === 202).length).toBeGreaterThan(20)
    // Every accepted message reaches its phone, and no message twice.
    const arrived = () => listArrived(servers[0]!)
    await expect
      .poll(arrived, { timeout: 120_000, interval: 200 })
      .toEqual(expect.arrayContaining(traffic.accepted))
    const texts = await arrived()
    expect(texts).toHaveLength(new Set(texts).size)
    await Promise.all(servers.map((server) => server.kill('SIGTERM')))

    // The contracting release ends it, in words.
    await (await start(afterNext())).kill('SIGTERM')
    await expect(start()).rejects.toThrow(
      /This database needs a Trunkline that knows the migration 9001_next_release\.sql; this program .* Update it\./,
    )
    await (await start(main)).kill('SIGTERM')
  }, 240_000)
})
