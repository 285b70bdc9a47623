import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config.js'
import type { Db } from '../../src/storage/engine/db.js'
import { openPostgres } from '../../src/storage/engine/postgres.js'
import { openSqlite } from '../../src/storage/engine/sqlite.js'
import { PNG, pattern } from '../support/files.js'
import { spawnServer, temporaryStorage } from '../support/server.js'
import { ADA, credentials, ENGINES, type Engine, type Json, LINE } from '../support/world.js'
import { post } from './ledger.js'

async function upload(
  url: string,
  bytes: Buffer,
  headers: Record<string, string> = {},
): Promise<Json | undefined> {
  const form = new FormData()
  form.append('file', new Blob([bytes as Buffer<ArrayBuffer>]), 'film.mp4')
  try {
    const reply = await fetch(`${url}/api/upload-file`, {
      method: 'POST',
      headers: { ...credentials('live'), ...headers },
      body: form,
    })
    return reply.status === 201 ? await reply.json() : undefined
  } catch {
    return undefined
  }
}

const bytesAt = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer())

/** Looks into the storage of a stopped server. */
async function within<T>(
  engine: Engine,
  storage: Record<string, string>,
  look: (db: Db) => Promise<T>,
): Promise<T> {
  const config = loadConfig(storage)
  const db = engine === 'postgres' ? await openPostgres(config.databaseUrl!) : await openSqlite(config.data)
  try {
    return await look(db)
  } finally {
    await db.close()
  }
}

/** Names that have bytes, and names that have a row. */
const inventory = (engine: Engine, storage: Record<string, string>) =>
  within(engine, storage, async (db) => {
    const names = (rows: { name: string }[]) => rows.map((row) => row.name).sort()
    const rows = names(await db.all('select name from media'))
    const blobs =
      engine === 'postgres'
        ? [
            ...names(await db.all('select distinct name from media_chunks')),
            ...names(await db.all('select name from media_drafts')),
          ]
        : readdirSync(join(storage.TRUNKLINE_DATA!, 'media'))
    return { rows, blobs: [...new Set(blobs)].sort() }
  })

describe.concurrent.each(ENGINES)('media and kill -9 on %s', (engine) => {
  it('leaves no half files and loses none that was promised', async () => {
    const storage = await temporaryStorage(engine)
    const env = { ...storage, LOG_LEVEL: 'silent', TRUNKLINE_LEASE_MS: '700' }
    const bytes = pattern(1_500_000)
    const promised: string[] = []
    for (const point of ['media.writing@20', 'media.before_keep', 'storage.before_commit@40']) {
      const server = await spawnServer({ env: { ...env, TRUNKLINE_FAILPOINT: point } })
      const headers = { 'idempotency-key': point }
      for (let i = 0; i < 30; i++) {
        const answer = await upload(server.url, bytes, { 'idempotency-key': `${point} ${i}` })
        if (!answer) break
        promised.push(new URL(answer.media_url).pathname)
      }
      expect(await server.exited, point).toMatchObject({ signal: 'SIGKILL' })
      const next = await spawnServer({ env })
      const again = await upload(next.url, bytes, headers)
      promised.push(new URL(again.media_url).pathname)
      expect((await upload(next.url, bytes, headers)).media_url).toBe(again.media_url)
      await next.kill('SIGTERM')
    }
    if (engine === 'postgres') {
      // Another process might still be writing what is younger than an hour.
      await within(engine, storage, (db) =>
        db.run('update media_drafts set started_at = started_at - 4000000'),
      )
    }
    const last = await spawnServer({ env })
    for (const path of promised) expect((await bytesAt(`${last.url}${path}`)).equals(bytes)).toBe(true)
    await last.kill('SIGTERM')
    const { rows, blobs } = await inventory(engine, storage)
    expect(blobs).toEqual(rows)
    expect(rows.length).toBeGreaterThanOrEqual(promised.length)
  })

  it('files whose row is gone go, too', async () => {
    const storage = await temporaryStorage(engine)
    const env = { ...storage, LOG_LEVEL: 'silent', TRUNKLINE_LEASE_MS: '700', TRUNKLINE_MEDIA_DAYS: '1' }
    const server = await spawnServer({ env })
    expect(await upload(server.url, PNG)).toMatchObject({ status: 'OK' })
    await server.kill('SIGTERM')
    await within(engine, storage, (db) => db.run('update media set created_at = created_at - 100000000'))
    await expect(
      spawnServer({ env: { ...env, TRUNKLINE_FAILPOINT: 'media.before_unlink' } }),
    ).rejects.toThrow()
    await (await spawnServer({ env })).kill('SIGTERM')
    expect(await inventory(engine, storage)).toEqual({ rows: [], blobs: [] })
  })
})

it.runIf(ENGINES.includes('postgres'))(
  'every process on one PostgreSQL serves what another one stored',
  async () => {
    const storage = await temporaryStorage('postgres')
    const env = { ...storage, LOG_LEVEL: 'silent', TRUNKLINE_LEASE_MS: '1000' }
    // Each with a folder of its own: they share the database and nothing else.
    const [a, b] = await Promise.all(
      [1, 2].map(async () =>
        spawnServer({ env: { ...env, ...(await temporaryStorage('sqlite')), ...storage } }),
      ),
    )
    const bytes = pattern(2_500_000)
    const { media_url } = await upload(a!.url, bytes)
    const path = new URL(media_url).pathname
    expect((await bytesAt(`${b!.url}${path}`)).equals(bytes)).toBe(true)
    const part = await fetch(`${b!.url}${path}`, { headers: { range: 'bytes=262100-262199' } })
    expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(262_100, 262_200))).toBe(true)

    // One upload, sent to both at once, is one file.
    const headers = { 'idempotency-key': 'both' }
    const answers = await Promise.all([a!, b!, a!, b!].map(({ url }) => upload(url, bytes, headers)))
    expect(new Set(answers.map((one) => one?.mediaObjectId)).size).toBe(1)

    // A phone's file arrives at the process that drives the line, and both processes serve it.
    for (const { url } of [a!, b!]) {
      const media = { name: 'a.png', base64: PNG.toString('base64') }
      const sent = await post(url, `/sim/phones/${encodeURIComponent(ADA)}/messages`, {
        to: LINE,
        content: url,
        media,
      })
      expect(sent.status).toBe(201)
    }
    const list = async () =>
      (await (
        await fetch(`${a!.url}/api/v2/messages?is_outbound=false`, { headers: credentials('live') })
      ).json()) as Json
    await expect.poll(async () => (await list()).data.length, { interval: 250 }).toBe(2)
    for (const message of (await list()).data) {
      for (const { url } of [a!, b!])
        expect(await bytesAt(`${url}${new URL(message.media_url).pathname}`)).toEqual(PNG)
    }
    for (const server of [a!, b!]) expect(await server.kill('SIGTERM')).toMatchObject({ code: 0 })
  },
  240_000,
)
