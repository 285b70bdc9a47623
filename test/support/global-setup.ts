import { execFileSync } from 'node:child_process'
import { chmodSync, rmSync } from 'node:fs'
import type { TestProject } from 'vitest/node'
import { makeDirectory } from './directory.js'
import { startPostgres } from './postgres.js'
import { createDatabaseNamed, TEMPLATE } from './template.js'

declare module 'vitest' {
  export interface ProvidedContext {
    /** URL of the maintenance database of the test's own PostgreSQL. */
    postgresUrl: string
  }
}

/** Builds what threads and spawned servers run, and starts a real PostgreSQL for the whole run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  execFileSync('npm', ['run', 'build', '--silent'], { stdio: ['ignore', 'ignore', 'inherit'] })
  const directory = makeDirectory('trunkline-pg-')
  chmodSync(directory, 0o755) // as root, the server runs as another user
  const postgres = await startPostgres(directory)
  await makeTemplate(postgres.url)
  project.provide('postgresUrl', postgres.url)
  return async () => {
    await postgres.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

/** A database with the schema in it: copying it takes a fraction of what making the schema takes. */
async function makeTemplate(url: string): Promise<void> {
  const database = await createDatabaseNamed(url, TEMPLATE, 'template1')
  const { openPostgres } = await import('../../src/storage/engine/postgres.js')
  const { migrate } = await import('../../src/storage/engine/migrate.js')
  const db = await openPostgres(database)
  await migrate(db, Date.now())
  await db.close()
}
