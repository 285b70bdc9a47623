import { randomBytes } from 'node:crypto'
import { inject } from 'vitest'
import { createDatabaseNamed, onServer, TEMPLATE } from './template.js'

/** A fresh database on the run's PostgreSQL server, with the schema in it. */
export async function createDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const adminUrl = inject('postgresUrl')
  const name = `t_${randomBytes(8).toString('hex')}`
  const url = await createDatabaseNamed(adminUrl, name, TEMPLATE)
  return { url, drop: () => onServer(adminUrl, `drop database if exists ${name} with (force)`) }
}
