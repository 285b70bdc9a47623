import type { App } from '../../src/app.js'

/** Every row of every table as text. */
export async function dumpOf({ ctx }: Pick<App, 'ctx'>): Promise<string> {
  const { db } = ctx
  const tables =
    db.engine === 'sqlite'
      ? await db.all<{ name: string }>("select name from sqlite_master where type = 'table'")
      : await db.all<{ name: string }>("select tablename as name from pg_tables where schemaname = 'public'")
  const rows = await Promise.all(tables.map(({ name }) => db.all(`select * from ${name}`)))
  return JSON.stringify(rows)
}
