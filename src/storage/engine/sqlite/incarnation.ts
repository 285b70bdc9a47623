import { randomBytes } from 'node:crypto'
import type { Db } from '../db.js'
import { beginIncarnation, REASONS } from '../incarnations.js'
import { findValue } from '../query.js'
import { markFileOf, readIdentity, writeIdentity } from '../sqlite-mark.js'

const NAME = "select n || '.' || id from incarnations order by n desc limit 1"

/** Begins another incarnation if the database is not the one that was last used in this folder. */
export async function noticeIncarnation(db: Db, folder: string, now: number): Promise<void> {
  const file = markFileOf(folder)
  const reason = whyAnother(await findValue<string>(db, NAME), file)
  if (!reason) return
  const id = randomBytes(4).toString('hex')
  await db.tx((sql) => beginIncarnation(sql, { id, reason, now, wall: Date.now() }))
  // Last: a process that is killed before it begins another incarnation again.
  writeIdentity(file, (await findValue<string>(db, NAME))!)
}

function whyAnother(current: string | undefined, file: string): string | undefined {
  if (current === undefined) return REASONS.first
  const mark = readIdentity(file)
  if (mark?.isCopy) return REASONS.copied
  // Nothing is known if the file was removed or damaged: then messages are held rather than sent twice.
  return mark?.incarnation === current ? undefined : REASONS.restored
}
