import { chmodSync, closeSync, existsSync, fchmodSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Creates the folder for its owner alone, whatever the umask. An existing folder keeps its mode. One after the other,
 * because mkdir with `recursive` never ends in a place that refuses folders with ENOENT, as /proc does.
 */
export function makePrivateFolder(folder: string): void {
  const missing: string[] = []
  for (let path = resolve(folder); !isFolder(path) && path !== dirname(path); path = dirname(path))
    missing.unshift(path)
  for (const path of missing) makeFolder(path)
  if (missing.length > 0) chmodSync(folder, 0o700)
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Another process was faster.
    if (!isFolder(path)) throw error
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/** Creates the file for its owner alone, whatever the umask, or takes the rights of other users to it away. */
export function makePrivateFile(file: string): void {
  const handle = openSync(file, 'a', 0o600)
  try {
    fchmodSync(handle, 0o600)
  } finally {
    closeSync(handle)
  }
}

/** Prepares the file of a SQLite database. SQLite gives new files beside it the mode of the database. */
export function makePrivateDatabase(file: string): void {
  makePrivateFile(file)
  // An older version may have left these open to others when it was killed.
  for (const beside of [`${file}-wal`, `${file}-shm`, `${file}-journal`])
    if (existsSync(beside)) makePrivateFile(beside)
}

/** Whether users other than the owner have any right to a path that exists. */
export function isOpenToOthers(path: string): boolean {
  const entry = statSync(path, { throwIfNoEntry: false })
  return entry !== undefined && process.platform !== 'win32' && (entry.mode & 0o077) !== 0
}
