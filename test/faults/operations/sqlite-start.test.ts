import { execFile } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, inject, it } from 'vitest'
import { openStorage } from '../../../src/storage/engine/open.js'
import { eventually, temporaryDirectory } from '../../support/server.js'

const MAIN = fileURLToPath(new URL('../../../dist/main.js', import.meta.url))
const open = (data: string) => openStorage({ data, databaseUrl: null, failpoint: null }, { now: 0 })

/** The files of a server that was killed after a few commits. */
async function killed(): Promise<string> {
  const [running, data] = [join(temporaryDirectory(), 'data'), join(temporaryDirectory(), 'data')]
  cpSync(inject('sqliteTemplate'), running, { recursive: true })
  const db = await open(running)
  await db.script('create table notes (text text not null)', { sql: 'select 1', params: [] })
  for (let i = 0; i < 50; i++) await db.run('insert into notes values ($1)', ['x'.repeat(2000)])
  cpSync(running, data, { recursive: true })
  await db.close()
  return data
}

/** Brings every commit from the write-ahead log into the database file. */
async function checkpoint(data: string): Promise<void> {
  const db = await open(data)
  expect(await db.scrub()).toBe(true)
  await db.close()
}

describe('the start of SQLite', () => {
  it('keeps every commit of a killed process', async () => {
    const db = await open(await killed())
    expect(await db.one('select count(*) as n from notes')).toEqual({ n: 50 })
    await db.close()
  })

  it('refuses a database whose write-ahead log was cut or removed, and says how to go on', async () => {
    const cut = await killed()
    const wal = join(cut, 'trunkline.db-wal')
    truncateSync(wal, Math.floor(statSync(wal).size / 2))
    await expect(open(cut)).rejects.toThrow(/has lost its last \d+ commits.*delete .*trunkline\.mark/)
    const removed = await killed()
    rmSync(join(removed, 'trunkline.db-wal'))
    await expect(open(removed)).rejects.toThrow(/has lost its last \d+ commits/)
    rmSync(join(removed, 'trunkline.mark'))
    await (await open(removed)).close()
  })

  it('refuses damaged pages, also those that no start reads', async () => {
    const data = await killed()
    await checkpoint(data)
    const file = join(data, 'trunkline.db')
    const handle = openSync(file, 'r+')
    // The notes are the last pages of the file.
    const end = statSync(file).size
    for (let at = end - 5 * 4096; at < end; at += 4096)
      writeSync(handle, Buffer.alloc(4096, 0xa5), 0, 4096, at)
    await expect(open(data)).rejects.toThrow(/trunkline\.db is damaged \(.*restore a backup/)
    writeSync(handle, Buffer.alloc(4096, 0xa5), 0, 4096, 0)
    await expect(open(data)).rejects.toThrow(/trunkline\.db is damaged/)
  })

  it('checks a large database in a thread after the start', async () => {
    const data = await killed()
    const before = await open(data)
    for (let i = 0; i < 17; i++) await before.run('insert into notes values ($1)', ['x'.repeat(2_000_000)])
    await before.close()
    await checkpoint(data)
    const file = join(data, 'trunkline.db')
    writeSync(openSync(file, 'r+'), Buffer.alloc(4096, 0xa5), 0, 4096, statSync(file).size - 4096)
    const db = await open(data)
    await eventually(
      async () => db.trouble(),
      (trouble) => /trunkline\.db is damaged \(notes: /.test(trouble ?? ''),
    )
    await db.close()
  })

  it('finds damage that appears later, and stays not ready', async () => {
    const data = await killed()
    await checkpoint(data)
    const db = await open(data)
    const handle = openSync(join(data, 'trunkline.db'), 'r+')
    for (let page = 1; page < readFileSync(join(data, 'trunkline.db')).length / 4096; page++)
      writeSync(handle, Buffer.alloc(4096, 0xa5), 0, 4096, page * 4096)
    await expect(db.all('select * from notes')).rejects.toMatchObject({ code: 'unavailable' })
    expect(db.trouble()).toMatch(/is damaged/)
    await db.close()
  })

  it.each(['trunkline.mark', 'trunkline.db', 'lock.db'])(
    'refuses in words when %s is a folder',
    async (name) => {
      const data = temporaryDirectory()
      mkdirSync(join(data, name))
      await expect(open(data)).rejects.toThrow(new RegExp(`${name} is a folder, .* Move the folder away`))
    },
  )

  it.each([
    ['the folder', (data: string) => chmodSync(data, 0o555)],
    [
      'its mark',
      (data: string) => {
        chmodSync(data, 0o777)
        writeFileSync(join(data, 'trunkline.mark'), '', { mode: 0o444 })
      },
    ],
  ])(
    'says in words, without a stack trace, that %s cannot be written',
    async (_, protect) => {
      const data = temporaryDirectory()
      protect(data)
      // The superuser may write everywhere.
      const uid = process.getuid?.() === 0 ? 65_534 : undefined
      const { code, stderr } = await new Promise<{ code: unknown; stderr: string }>((resolve) =>
        execFile(
          process.execPath,
          [MAIN, 'serve'],
          { env: { PATH: process.env.PATH, PORT: '0', TRUNKLINE_DATA: data }, uid, timeout: 20_000 },
          (error, _stdout, stderr) => resolve({ code: error?.code, stderr }),
        ),
      )
      expect(code).toBe(1)
      expect(stderr).toMatch(/The data folder \S+ cannot be written by this user\. Change its owner/)
      expect(stderr).not.toMatch(/^\s+at /m)
    },
    30_000,
  )
})
