import type { App } from '../../src/app.js'

/** Every row of every table as text, by table. */
export async function tablesOf({ ctx }: Pick<App, 'ctx'>): Promise<Map<string, string[]>> {
  const { db } = ctx
  const tables =
    db.engine === 'sqlite'
      ? await db.all<{ name: string }>("select name from sqlite_master where type = 'table'")
      : await db.all<{ name: string }>("select tablename as name from pg_tables where schemaname = 'public'")
  const rows = await Promise.all(
    tables.map(async ({ name }) => {
      const found = await db.all(`select * from ${name}`)
      return [name, found.map((row) => JSON.stringify(row)).sort()] as const
    }),
  )
  return new Map(rows)
}

/** Every row of every table as one text. */
export async function dumpOf(app: Pick<App, 'ctx'>): Promise<string> {
  return JSON.stringify([...(await tablesOf(app)).values()])
}
