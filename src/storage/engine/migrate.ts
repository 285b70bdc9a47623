import { readdirSync, readFileSync } from 'node:fs'
import type { Db } from './db.js'

const FOLDER = new URL('../migrations/', import.meta.url)

/**
 * Brings the schema up to date, under a lock, so that nodes that start together do it once. A SQLite database that a
 * running server shares must be up to date already. `before` names a migration to stop at, which is how the test of a
 * migration gets data to migrate.
 */
export async function migrate(db: Db, now: number, isShared = false, before = '9999'): Promise<void> {
  await db.lock('migrate', async () => {
    await db.script(
      'create table if not exists migrations (name text primary key, applied_at bigint not null)',
      { sql: 'select 1', params: [] },
    )
    const applied = new Set(
      (await db.all<{ name: string }>('select name from migrations')).map((row) => row.name),
    )
    const files = readdirSync(FOLDER)
      .filter((file) => /^\d{4}_.*\.sql$/.test(file))
      .sort()
    for (const file of files) {
      if (applied.has(file) || file >= before) continue
      if (isShared)
        throw new Error('A server of another version is running on this data. Stop it, then try again.')
      const text = forEngine(readFileSync(new URL(file, FOLDER), 'utf8'), db.engine)
      await db.script(text, {
        sql: 'insert into migrations (name, applied_at) values ($1, $2)',
        params: [file, now],
      })
    }
    const unknown = [...applied].filter((name) => !files.includes(name))
    if (unknown.length > 0) {
      throw new Error(
        `This database was written by a newer Trunkline (${unknown.join(', ')}). Update before starting.`,
      )
    }
  })
}

/** Keeps the lines for this engine: `-- only: sqlite` or `-- only: postgres` at the end limits a line to one. */
function forEngine(text: string, engine: string): string {
  return text
    .split('\n')
    .filter((line) => {
      const only = /-- only: (\w+)\s*$/.exec(line)
      return !only || only[1] === engine
    })
    .join('\n')
}
