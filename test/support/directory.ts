import { mkdtempSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeAfterUs } from './watchdog.js'

const MEMORY = '/dev/shm'
const ROOM_BYTES = 6_000_000_000

/**
 * A folder for the databases of a test: in memory where there is plenty, since a run makes and removes many
 * thousands of files. Nothing here pulls the plug; what must survive that is shown in other ways.
 */
export function makeDirectory(prefix: string): string {
  const directory = mkdtempSync(
    join(process.env.TRUNKLINE_TEST_FOLDER ?? (hasRoom() ? MEMORY : tmpdir()), prefix),
  )
  removeAfterUs(directory)
  return directory
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize > ROOM_BYTES
  } catch {
    return false
  }
}
