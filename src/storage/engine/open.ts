import { AppError } from '../../core/errors.js'
import type { Db } from './db.js'
import { migrate } from './migrate.js'
import { openSqlite } from './sqlite.js'
import { DirectoryInUse } from './sqlite-lock.js'
import { inWords } from './sqlite-start.js'

interface StorageSettings {
  /** URL of PostgreSQL; null uses SQLite in the data folder. */
  databaseUrl: string | null
  /** URL of the database itself, if `databaseUrl` leads to a pooler. */
  databaseDirectUrl?: string | null
  data: string
  failpoint: string | null
}

/**
 * Opens the database and brings its schema up to date. With `beside`, it may be a SQLite database that a running
 * server has open; the schema is then left to the server.
 */
export async function openStorage(
  { databaseUrl, databaseDirectUrl, data, failpoint }: StorageSettings,
  options: { now: number; guardTx?: boolean; durable?: boolean; beside?: boolean },
): Promise<Db> {
  const { now, beside, ...rest } = options
  let isShared = false
  const db = databaseUrl
    ? await (await import('./postgres.js')).openPostgres(databaseUrl, {
        directUrl: databaseDirectUrl,
        guardTx: rest.guardTx,
        failpoint,
      })
    : await openSqlite(data, { ...rest, failpoint }).catch((error) => {
        if (!beside || !(error instanceof DirectoryInUse)) throw inWords(error, data)
        isShared = true
        return openSqlite(data, { ...rest, failpoint, shares: true })
      })
  try {
    await migrate(db, now, isShared)
    await db.noticeIncarnation(now)
    return db
  } catch (error) {
    await db.close()
    throw databaseUrl ? withReason(error) : inWords(error, data)
  }
}

/** The database cannot be used now, and may be later: it starts, fails over, or its network does. */
export class DatabaseAway extends Error {}

/** Whoever starts the server needs the database's own words, which a client does not get. */
export function withReason(error: unknown): unknown {
  const isAway = error instanceof AppError && error.code === 'unavailable'
  const cause = isAway ? (error.cause as (Error & { code?: string }) | undefined) : undefined
  if (!cause) return error
  const reason = cause.message || cause.code
  return new DatabaseAway(
    `The database cannot be used: ${reason}. Check DATABASE_URL with: trunkline doctor`,
    { cause },
  )
}
