import { chmodSync } from 'node:fs'
import { makeDirectory } from '../directory.js'
import { startPostgres } from '../postgres.js'

/** PostgreSQL as in every run; the outer run has built the program. */
export default async function setup(): Promise<() => Promise<void>> {
  const directory = makeDirectory('trunkline-pg-')
  chmodSync(directory, 0o755)
  return (await startPostgres(directory)).stop
}
