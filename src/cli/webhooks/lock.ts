import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { makePrivateDatabase, makePrivateFolder } from '../../base/private-files.js'
import { loadSqlite } from '../../storage/engine/sqlite-statements.js'
import { ApiError } from '../client.js'

/**
 * Locks a file for this process and returns the function that releases it. The lock is the operating system's, so it
 * ends with its process in every case. The file with the process id only serves the error message.
 */
export async function takeAlone(file: string): Promise<() => void> {
  const open = await loadSqlite()
  const pidFile = `${file}.pid`
  try {
    makePrivateFolder(dirname(file))
    makePrivateDatabase(`${file}.lock`)
  } catch (error) {
    throw new ApiError(`${file}.lock cannot be created: ${(error as Error).message}`)
  }
  const lock = open(`${file}.lock`)
  try {
    lock.exec('pragma busy_timeout = 0; pragma journal_mode = delete; begin exclusive')
  } catch (cause) {
    lock.close()
    if (!/locked|busy/i.test((cause as Error).message))
      throw new ApiError(`The file ${file}.lock cannot be used: ${(cause as Error).message}`)
    const pid = readIfThere(pidFile)
    throw new ApiError(
      `Another process${pid ? ` (${pid})` : ''} uses ${file}. Stop it, or use another file: two processes would post every event twice.`,
    )
  }
  writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 })
  return () => {
    rmSync(pidFile, { force: true })
    lock.exec('rollback')
    lock.close()
  }
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return ''
  }
}
