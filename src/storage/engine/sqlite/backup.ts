import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { makePrivateFolder } from '../../../base/private-files.js'
import { lockDirectory } from '../sqlite-lock.js'
import { markFileOf } from '../sqlite-mark.js'
import { loadSqlite, type OpenSqlite } from '../sqlite-statements.js'

/**
 * Backups of a SQLite installation in one file: the database as SQLite copies it, with two more tables for the media
 * files and the seal key. The copy is a snapshot, whatever a running server writes.
 */
export interface BackupContents {
  messages: number
  media: number
  /** Media whose file was removed during the backup. */
  missing: number
  bytes: number
  hasSealKey: boolean
}

/** Tells how far the work is. */
type Say = (words: string) => void

/** What the backup holds beside the database. */
export interface AddedFiles {
  /** Folder of the media files; null: they are elsewhere. */
  media: string | null
  sealKey: string | null
}

export class BackupFault extends Error {}

const DATABASE = 'trunkline.db'
const CHUNK = 1024 * 1024
const SAY_EVERY = 100

export async function backupSqlite(
  folder: string,
  file: string,
  add: AddedFiles,
  say: Say,
): Promise<BackupContents> {
  const source = join(folder, DATABASE)
  if (!existsSync(source)) throw new BackupFault(`There is no database in ${folder}. Check TRUNKLINE_DATA.`)
  if (existsSync(file))
    throw new BackupFault(`${file} exists already, and no file is overwritten. Choose another name.`)
  const open = loadSqlite()
  const part = `${file}.part`
  rmSync(part, { force: true })
  try {
    say(`Copying the database, ${megabytes(statSync(source).size)} …`)
    writeFileSync(part, '', { mode: 0o600 })
    const live = open(source)
    try {
      live.exec(`pragma busy_timeout = 10000; vacuum into '${part.replaceAll("'", "''")}'`)
    } finally {
      live.close()
    }
    const contents = addFiles(open, part, add, say)
    say('Checking the copy …')
    checkCopy(open, part)
    syncFile(part)
    renameSync(part, file)
    return { ...contents, bytes: statSync(file).size }
  } catch (error) {
    rmSync(part, { force: true })
    throw error
  }
}

function addFiles(open: OpenSqlite, file: string, { media, sealKey }: AddedFiles, say: Say) {
  const db = open(file)
  try {
    db.exec(`create table backup_media (name text not null, n bigint not null, bytes blob not null, primary key (name, n));
      create table backup_facts (made_at bigint not null, seal_key text)`)
    db.prepare('insert into backup_facts (made_at, seal_key) values (?, ?)').run(Date.now(), sealKey)
    const names =
      media === null
        ? []
        : (db.prepare('select name from media order by name').all() as { name: string }[]).map(
            ({ name }) => name,
          )
    const insert = db.prepare('insert into backup_media (name, n, bytes) values (?, ?, ?)')
    let missing = 0
    db.exec('begin')
    for (const [i, name] of names.entries()) {
      const path = join(media!, name)
      if (existsSync(path)) for (const [n, bytes] of chunksOf(path)) insert.run(name, n, bytes)
      else missing++
      if ((i + 1) % SAY_EVERY === 0 || i + 1 === names.length) say(`Media ${i + 1} of ${names.length}`)
    }
    db.exec('commit')
    const { messages } = db.prepare('select count(*) as messages from messages').get() as { messages: number }
    return { messages, media: names.length - missing, missing, hasSealKey: sealKey !== null }
  } finally {
    db.close()
  }
}

function* chunksOf(path: string): Iterable<[number, Buffer]> {
  const handle = openSync(path, 'r')
  try {
    for (let n = 0; ; n++) {
      const bytes = Buffer.alloc(CHUNK)
      const length = readSync(handle, bytes)
      // An empty file has one empty chunk.
      if (length === 0 && n > 0) return
      yield [n, bytes.subarray(0, length)]
      if (length < CHUNK) return
    }
  } finally {
    closeSync(handle)
  }
}

function checkCopy(open: OpenSqlite, file: string): void {
  const db = open(file)
  try {
    const health = Object.values(db.prepare('pragma quick_check(1)').get() as object)[0]
    if (health !== 'ok') throw new BackupFault(`${file} is damaged: ${health}`)
    if (db.prepare("select 1 from sqlite_master where name = 'backup_facts'").get() === undefined)
      throw new BackupFault(`${file} is not a backup of Trunkline. Make one with: trunkline backup`)
  } catch (error) {
    if (error instanceof BackupFault) throw error
    throw new BackupFault(`${file} is not a backup of Trunkline (${(error as Error).message})`)
  } finally {
    db.close()
  }
}

export interface RestoreOptions {
  /** Set an existing database aside. */
  replace: boolean
  keyFile: string
}

/**
 * Puts a backup into a data folder that no server uses. The mark goes, so that the next start takes the database for
 * a restored one: it begins another incarnation and holds what waited.
 */
export async function restoreSqlite(
  folder: string,
  file: string,
  { replace, keyFile }: RestoreOptions,
  say: Say,
): Promise<{ madeAt: number; media: number; setAside: string | null; hasSealKey: boolean }> {
  if (!existsSync(file)) throw new BackupFault(`There is no file ${file}`)
  const open = loadSqlite()
  makePrivateFolder(folder)
  const unlock = lockDirectory(open, folder)
  const target = join(folder, DATABASE)
  const part = `${target}.restoring`
  try {
    if (existsSync(target) && !replace)
      throw new BackupFault(`${target} exists already. Set it aside with --replace.`)
    say('Checking the backup …')
    checkCopy(open, file)
    say(`Copying the database, ${megabytes(statSync(file).size)} …`)
    copyFileSync(file, part)
    chmodSync(part, 0o600)
    const facts = takeFiles(open, part, folder, keyFile, say)
    syncFile(part)
    rmSync(markFileOf(folder), { force: true })
    const setAside = existsSync(target) ? setDatabaseAside(target) : null
    renameSync(part, target)
    syncFile(folder)
    return { ...facts, setAside }
  } finally {
    rmSync(part, { force: true })
    unlock()
  }
}

function takeFiles(open: OpenSqlite, part: string, folder: string, keyFile: string, say: Say) {
  const media = join(folder, 'media')
  const db = open(part)
  try {
    const { made_at: madeAt, seal_key: sealKey } = db
      .prepare('select made_at, seal_key from backup_facts')
      .get() as { made_at: number; seal_key: string | null }
    const rows = db.prepare('select name, n from backup_media order by name, n').all() as {
      name: string
      n: number
    }[]
    const bytesOf = db.prepare('select bytes from backup_media where name = ? and n = ?')
    if (rows.length > 0) makePrivateFolder(media)
    for (const [i, { name, n }] of rows.entries()) {
      if (!/^[\w.-]+$/.test(name)) throw new BackupFault(`The backup has a file with the name "${name}"`)
      const handle = openSync(join(media, name), n === 0 ? 'w' : 'a', 0o600)
      try {
        writeSync(handle, (bytesOf.get(name, n) as { bytes: Uint8Array }).bytes)
        if (rows[i + 1]?.name !== name) fsyncSync(handle)
      } finally {
        closeSync(handle)
      }
      if ((i + 1) % SAY_EVERY === 0 || i + 1 === rows.length) say(`Media, part ${i + 1} of ${rows.length}`)
    }
    const key = join(folder, keyFile)
    if (sealKey !== null && !existsSync(key)) writeFileSync(key, sealKey, { mode: 0o600, flush: true })
    db.exec('drop table backup_media; drop table backup_facts; vacuum')
    const names = new Set(rows.map(({ name }) => name))
    return { madeAt, media: names.size, hasSealKey: sealKey !== null }
  } finally {
    db.close()
  }
}

function setDatabaseAside(target: string): string {
  const aside = `${target}.replaced-${new Date().toISOString().replace(/[:.]/g, '-')}`
  renameSync(target, aside)
  for (const suffix of ['-wal', '-shm'])
    if (existsSync(target + suffix)) renameSync(target + suffix, aside + suffix)
  return aside
}

function syncFile(path: string): void {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024 / 1024).toLocaleString('en')} MB`
}
