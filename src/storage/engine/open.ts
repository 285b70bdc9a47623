import type { Db } from './db.js'
import { migrate } from './migrate.js'
import { openSqlite } from './sqlite.js'

interface StorageSettings {
  /** URL of PostgreSQL; null uses SQLite in the data folder. */
  databaseUrl: string | null
  data: string
  failpoint: string | null
}

/** Opens the database and brings its schema up to date. */
export async function openStorage(
  { databaseUrl, data, failpoint }: StorageSettings,
  options: { now: number; guardTx?: boolean; durable?: boolean },
): Promise<Db> {
  const { now, ...rest } = options
  const db = databaseUrl
    ? await (await import('./postgres.js')).openPostgres(databaseUrl, { guardTx: rest.guardTx, failpoint })
    : await openSqlite(data, { ...rest, failpoint })
  try {
    await migrate(db, now)
    return db
  } catch (error) {
    await db.close()
    throw error
  }
}
