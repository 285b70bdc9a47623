import type { Db } from './db.js'
import { migrate } from './migrate.js'
import { openSqlite } from './sqlite.js'
import { DirectoryInUse } from './sqlite-lock.js'
import { inWords } from './sqlite-start.js'

interface StorageSettings {
  /** URL of PostgreSQL; null uses SQLite in the data folder. */
  databaseUrl: string | null
  data: string
  failpoint: string | null
}

/**
 * Opens the database and brings its schema up to date. With `beside`, it may be a SQLite database that a running
 * server has open; the schema is then left to the server.
 */
export async function openStorage(
  { databaseUrl, data, failpoint }: StorageSettings,
  options: { now: number; guardTx?: boolean; durable?: boolean; beside?: boolean },
): Promise<Db> {
  const { now, beside, ...rest } = options
  let isShared = false
  const db = databaseUrl
    ? await (await import('./postgres.js')).openPostgres(databaseUrl, { guardTx: rest.guardTx, failpoint })
    : await openSqlite(data, { ...rest, failpoint }).catch((error) => {
        if (!beside || !(error instanceof DirectoryInUse)) throw inWords(error, data)
        isShared = true
        return openSqlite(data, { ...rest, failpoint, shares: true })
      })
  try {
    await migrate(db, now, isShared)
    return db
  } catch (error) {
    await db.close()
    throw databaseUrl ? error : inWords(error, data)
  }
}
