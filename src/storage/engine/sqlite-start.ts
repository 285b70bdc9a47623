import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Worker } from 'node:worker_threads'
import { makePrivateFile } from '../../base/private-files.js'
import { countLostCommits, markFileOf } from './sqlite-mark.js'
import type { OpenSqlite } from './sqlite-statements.js'

/** The database cannot be used. The text says why and what to do. */
export class StorageRefused extends Error {}

/** Checked before the start: about a tenth of a second. A larger database is checked while the server runs. */
const MAX_CHECKED_FIRST = 32 * 1024 * 1024

/**
 * Refuses a database that cannot be written, is damaged or has lost commits. Returns whether its content is still to
 * be checked in the background.
 */
export function checkSqlite(open: OpenSqlite, directory: string, file: string): boolean {
  const isSmall = statSync(file).size <= MAX_CHECKED_FIRST
  const connection = open(file)
  try {
    connection.exec('pragma busy_timeout = 5000; pragma journal_mode = wal; begin immediate; rollback')
    if (isSmall) {
      const [health] = Object.values(connection.prepare('pragma quick_check(1)').get() as object)
      if (health !== 'ok') throw new StorageRefused(damaged(file, String(health)))
    }
    const mark = markFileOf(directory)
    const lost = countLostCommits(connection, mark)
    if (lost > 0) throw new StorageRefused(behind(directory, lost))
    // Here, because an error of the writer's thread would end the process without words.
    makePrivateFile(mark)
    return !isSmall
  } finally {
    connection.close()
  }
}

/** Checks the content table by table in a thread, so that neither requests nor checkpoints wait for all of it. */
export function checkInBackground(file: string, onDamage: (text: string) => void): () => Promise<unknown> {
  const script = new URL('../../../dist/threads/sqlite-check-thread.cjs', import.meta.url)
  const worker = new Worker(script, { workerData: file, execArgv: [] })
  worker.unref()
  worker.once('message', (fault: string) => onDamage(damaged(file, fault)))
  worker.once('error', (error) => onDamage(damaged(file, error.message)))
  return () => worker.terminate()
}

export function isDamage(text: string): boolean {
  return /malformed|not a database|corrupt/i.test(text)
}

export function damaged(file: string, detail: string): string {
  return `The database ${file} is damaged (${detail.replace(/\s+/g, ' ')}). Stop the server and restore a backup: trunkline doctor checks the database again.`
}

function behind(directory: string, lost: number): string {
  return `The database in ${directory} has lost its last ${lost} ${lost === 1 ? 'commit' : 'commits'}, and with them messages may be missing. Was trunkline.db-wal cut or removed, or trunkline.db replaced by an older copy? Put the missing file back, or restore a backup. To go on without the lost commits, delete ${markFileOf(directory)} and start again.`
}

/** What stands in the way of opening the database, in words. */
export function inWords(error: unknown, data: string): unknown {
  const directory = resolve(data)
  const { code = '', message = String(error) } = error as { code?: string; message?: string }
  if (error instanceof StorageRefused) return error
  if (/EACCES|EPERM|EROFS/.test(code) || /readonly database|unable to open database/i.test(message))
    return refused(
      `The data folder ${directory} cannot be written by this user. Change its owner (chown -R "$(id -u)" ${directory}), or set TRUNKLINE_DATA to another folder.`,
    )
  if (code === 'EISDIR') {
    const { path = directory } = error as { path?: string }
    return refused(
      `${path} is a folder, but a file of the database belongs there. Move the folder away, then start again.`,
    )
  }
  if (code === 'ENOENT')
    return refused(
      `The data folder ${directory} cannot be created there. Set TRUNKLINE_DATA to another folder.`,
    )
  if (code === 'ENOTDIR' || code === 'EEXIST')
    return refused(`${directory} is not a folder. Set TRUNKLINE_DATA to a folder.`)
  if (code === 'ENOSPC' || /disk is full/i.test(message))
    return refused(`The disk of the data folder ${directory} is full. Free some space, then start again.`)
  if (isDamage(message)) return refused(damaged(join(directory, 'trunkline.db'), message))
  return error

  function refused(text: string): StorageRefused {
    return new StorageRefused(text, { cause: error })
  }
}
