import { execFileSync } from 'node:child_process'
import { chmodSync, rmSync } from 'node:fs'
import type { TestProject } from 'vitest/node'
import { makeDirectory } from './directory.js'
import { startPostgres } from './postgres.js'
import { createDatabaseNamed, rememberFresh, TEMPLATE } from './template.js'

declare module 'vitest' {
  export interface ProvidedContext {
    /** URL of the maintenance database of the test's own PostgreSQL. */
    postgresUrl: string
    /** Folder of an empty SQLite database with the schema in it. */
    sqliteTemplate: string
  }
}

/** Builds what threads and spawned servers run, and starts a real PostgreSQL for the whole run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  execFileSync('npm', ['run', 'build', '--silent'], { stdio: ['ignore', 'ignore', 'inherit'] })
  const directory = makeDirectory('trunkline-pg-')
  const template = makeDirectory('trunkline-template-')
  chmodSync(directory, 0o755) // as root, the server runs as another user
  const postgres = await startPostgres(directory)
  await makeTemplates(postgres.url, template)
  project.provide('postgresUrl', postgres.url)
  project.provide('sqliteTemplate', template)
  return async () => {
    await postgres.stop()
    rmSync(directory, { recursive: true, force: true })
    rmSync(template, { recursive: true, force: true })
  }
}

/** Databases with the schema in them: copying one takes a fraction of what making the schema takes. */
async function makeTemplates(adminUrl: string, directory: string): Promise<void> {
  const { openStorage } = await import('../../src/storage/engine/open.js')
  const databaseUrl = await createDatabaseNamed(adminUrl, TEMPLATE, 'template1')
  for (const url of [databaseUrl, null]) {
    const settings = { databaseUrl: url, data: directory, failpoint: null }
    const db = await openStorage(settings, { now: Date.now() })
    await db.close()
  }
  await rememberFresh(databaseUrl)
}
