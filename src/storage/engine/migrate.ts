import { readdirSync, readFileSync } from 'node:fs'
import { VERSION } from '../../base/version.js'
import type { Db } from './db.js'
import { findValue } from './query.js'

const FOLDER = new URL('../migrations/', import.meta.url)
const NOTHING = { sql: 'select 1', params: [] }

/** A database that this program must not use. */
export class SchemaRefused extends Error {}

/**
 * Brings the schema up to date, under a lock, so that nodes that start together do it once. A SQLite database that a
 * running server shares must be up to date already. `before` names a migration to stop at, which is how the test of a
 * migration gets data to migrate.
 *
 * Nodes are upgraded one after the other, so a migration only adds, and the program before it still works. What no
 * program uses any more goes in a later release, by a migration whose first line is `-- minimum: <migration>`: programs
 * that do not know that migration refuse the database from then on.
 */
export async function migrate(db: Db, now: number, isShared = false, before = '9999'): Promise<void> {
  await db.lock('migrate', async () => {
    await db.script(
      'create table if not exists migrations (name text primary key, applied_at bigint not null)',
      NOTHING,
    )
    const applied = new Set(
      (await db.all<{ name: string }>('select name from migrations')).map((row) => row.name),
    )
    const files = readdirSync(FOLDER)
      .filter((file) => /^\d{4}_.*\.sql$/.test(file))
      .sort()
    const newest = files.at(-1)!
    const minimum = await findMinimum(db)
    if (minimum > newest)
      throw new SchemaRefused(
        `This database needs a Trunkline that knows the migration ${minimum}; this program (${VERSION}) ends with ${newest}. Update it.`,
      )
    for (const file of files) {
      if (applied.has(file) || file >= before) continue
      if (isShared)
        throw new Error('A server of another version is running on this data. Stop it, then try again.')
      const text = forEngine(readFileSync(new URL(file, FOLDER), 'utf8'), db.engine)
      await db.script(text + raiseMinimum(text), {
        sql: 'insert into migrations (name, applied_at) values ($1, $2)',
        params: [file, now],
      })
    }
  })
}

/** The migration that a program must know; empty before the first one that takes something away. */
async function findMinimum(db: Db): Promise<string> {
  await db.script('create table if not exists schema_minimum (name text primary key)', NOTHING)
  return (await findValue<string>(db, 'select max(name) from schema_minimum')) ?? ''
}

function raiseMinimum(migration: string): string {
  const name = minimumOf(migration)
  return name === undefined
    ? ''
    : `\ninsert into schema_minimum (name) values ('${name}') on conflict do nothing;`
}

/** The migration that programs must know once this one has run. */
export function minimumOf(migration: string): string | undefined {
  return /^-- minimum: (\d{4}_\w+\.sql)$/m.exec(migration)?.[1]
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
