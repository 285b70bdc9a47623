import { randomBytes } from 'node:crypto'
import { readFileSync, rmSync, statSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { Db, Sql } from '../db.js'
import { beginIncarnation, REASONS } from '../incarnations.js'
import { findValue } from '../query.js'

/**
 * A file beside a SQLite database by which a start notices that the database is not the one that was last used here:
 * copied, restored from a backup, or older than it was. The file names its own inode, which no copy has.
 */
interface Mark {
  incarnation: string
  inode: string
  /** Sum of the accounts' event numbers, which only grows. */
  events: number
}

export const MARK_FILE = 'incarnation.json'

const NAME = "select n || ' ' || id from incarnations order by n desc limit 1"
const EVENTS = 'select coalesce(sum(last_seq), 0) from event_counters'

/** Why this database needs another incarnation; undefined: it is the one that was last used here. */
async function noticeChange(sql: Sql, folder: string): Promise<string | undefined> {
  const current = await findValue<string>(sql, NAME)
  if (current === undefined) return REASONS.first
  const mark = readMark(folder)
  if (!mark) return REASONS.restored
  // Unreadable, as after a power loss: nothing is known.
  if (mark === 'damaged') return undefined
  if (mark.inode !== inodeOf(join(folder, MARK_FILE))) return REASONS.copied
  if (mark.incarnation !== current) return REASONS.restored
  return (await findValue<number>(sql, EVENTS))! < mark.events ? REASONS.behind : undefined
}

export interface MarkKeeper {
  stop(): Promise<void>
}

/** How far the mark may lie behind the database. */
const EVERY_MS = 1000

/** Begins another incarnation if the database is not the one that was last used here, and keeps the mark from then on. */
export async function keepMark(db: Db, folder: string, now: number): Promise<MarkKeeper> {
  const reason = await noticeChange(db, folder)
  const id = randomBytes(4).toString('hex')
  if (reason) await db.tx((sql) => beginIncarnation(sql, { id, reason, now, wall: Date.now() }))
  await writeMark(db, folder)
  let seen = db.activity().begun
  let writing: Promise<void> | undefined
  const write = () => {
    const { begun } = db.activity()
    if (begun === seen || writing) return
    seen = begun
    // A full disk, or a folder that was taken away: the mark stays behind, which is never wrong.
    writing = writeMark(db, folder)
      .catch(() => {})
      .finally(() => {
        writing = undefined
      })
  }
  const timer = setInterval(write, EVERY_MS).unref()
  return {
    async stop() {
      clearInterval(timer)
      await writing
      write()
      await writing
    },
  }
}

async function writeMark(sql: Sql, folder: string): Promise<void> {
  const [incarnation, events] = [await findValue<string>(sql, NAME), await findValue<number>(sql, EVENTS)]
  const file = join(folder, MARK_FILE)
  const handle = await open(`${file}.new`, 'w', 0o600)
  try {
    const { ino } = await handle.stat({ bigint: true })
    await handle.writeFile(JSON.stringify({ incarnation, inode: String(ino), events }))
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(`${file}.new`, file)
}

/** The next start takes the database for a restored one. */
export function removeMark(folder: string): void {
  rmSync(join(folder, MARK_FILE), { force: true })
}

function readMark(folder: string): Mark | 'damaged' | undefined {
  let text: string
  try {
    text = readFileSync(join(folder, MARK_FILE), 'utf8')
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return undefined
    throw error
  }
  try {
    return JSON.parse(text) as Mark
  } catch {
    return 'damaged'
  }
}

function inodeOf(file: string): string {
  return String(statSync(file, { bigint: true }).ino)
}
