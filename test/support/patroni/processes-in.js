import { readdirSync, readlinkSync } from 'node:fs'

/** Process ids of everything that works in the folder or below it. Linux only; elsewhere it finds nothing. */
export function processesIn(directory) {
  return list('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => `${workingFolder(pid)}/`.startsWith(`${directory}/`))
    .map(Number)
}

function list(directory) {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

function workingFolder(pid) {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    // The process has just ended, or belongs to another user.
    return ''
  }
}
