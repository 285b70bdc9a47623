import { randomBytes } from 'node:crypto'
import { inject } from 'vitest'
import { createDatabaseNamed, onServer, refresh, TEMPLATE } from './template.js'

export interface Database {
  url: string
  /** Ends all connections to it and empties it for the next test of this worker. */
  release(): Promise<void>
}

const released: Database[] = []

/** A fresh database on the run's PostgreSQL server, with the schema in it. */
export async function createDatabase(): Promise<Database> {
  const used = released.pop()
  if (used) return used
  const adminUrl = inject('postgresUrl')
  const name = `t_${randomBytes(8).toString('hex')}`
  const database: Database = {
    url: await createDatabaseNamed(adminUrl, name, TEMPLATE),
    async release() {
      if (await refresh(database.url).catch(() => false)) released.push(database)
      else await onServer(adminUrl, `drop database if exists ${name} with (force)`)
    },
  }
  return database
}
