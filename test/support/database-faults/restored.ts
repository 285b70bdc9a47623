import { rmSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { inject } from 'vitest'
import { createDatabaseNamed, onServer, TEMPLATE } from '../template.js'
import type { World } from '../world.js'

/** Makes the next start take the database for a restored one, as an operator can. */
export async function forgetIdentity({ engine, config }: World): Promise<void> {
  if (engine === 'sqlite') rmSync(join(config.data, 'trunkline.mark'))
  else await onServer(config.databaseUrl!, "update incarnations set identity = ''")
}

/**
 * What pg_dump and pg_restore do: reads every table in one snapshot while the server runs. Returns how to put the rows
 * into a new database, which then gets the name of the old one.
 */
export async function takeDump(url: string): Promise<() => Promise<void>> {
  const admin = inject('postgresUrl')
  const name = new URL(url).pathname.slice(1)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('begin isolation level repeatable read')
  const { rows: tables } = await client.query<{ name: string }>(
    "select tablename as name from pg_tables where schemaname = 'public'",
  )
  const dump = new Map<string, string>()
  for (const { name } of tables) {
    const { rows } = await client.query(`select coalesce(json_agg(t), '[]')::text as rows from "${name}" t`)
    dump.set(name, rows[0].rows)
  }
  await client.end()
  return async () => {
    const fresh = await createDatabaseNamed(admin, `${name}_restored`, TEMPLATE)
    const restored = new pg.Client({ connectionString: fresh })
    await restored.connect()
    await restored.query("set session_replication_role = 'replica'")
    for (const [table, rows] of dump) {
      await restored.query(`delete from "${table}"`)
      await restored.query(
        `insert into "${table}" overriding system value select * from json_populate_recordset(null::"${table}", $1::json)`,
        [rows],
      )
    }
    await restored.query(
      `do $$ declare one record; begin
         for one in select table_name as t, column_name as c from information_schema.columns
           where table_schema = 'public' and is_identity = 'YES' loop
           execute format('select setval(pg_get_serial_sequence(%L, %L), coalesce(max(%I), 1)) from %I', one.t, one.c, one.c, one.t);
         end loop;
       end $$`,
    )
    // A backup is older than the leases of the processes that ran when it was made.
    await restored.query('update nodes set seen_at = 0')
    await restored.end()
    await onServer(admin, `drop database ${name} with (force)`)
    await onServer(admin, `alter database ${name}_restored rename to ${name}`)
  }
}
