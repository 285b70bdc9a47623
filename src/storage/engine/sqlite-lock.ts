import { join } from 'node:path'
import { makePrivateDatabase } from '../../base/private-files.js'
import type { OpenSqlite } from './sqlite-statements.js'

export class DirectoryInUse extends Error {}

/**
 * Allows one process for each data directory. The operating system releases the lock when the process ends for any
 * reason.
 */
export function lockDirectory(open: OpenSqlite, directory: string): () => void {
  const file = join(directory, 'lock.db')
  makePrivateDatabase(file)
  const lock = open(file)
  try {
    lock.exec('pragma busy_timeout = 0; pragma journal_mode = delete; begin exclusive')
  } catch (cause) {
    lock.close()
    if (!/locked|busy/i.test(String(cause))) throw cause
    throw new DirectoryInUse(
      `The data directory ${directory} is in use by another Trunkline. Stop it, or set TRUNKLINE_DATA to another directory.`,
      { cause },
    )
  }
  return () => {
    lock.exec('rollback')
    lock.close()
  }
}
