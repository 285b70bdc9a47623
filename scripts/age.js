// Compares the ages of files, to decide whether a build is needed.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Exists while a build runs, with the time of its start: what changes meanwhile may not be in it. */
export const BUILDING = 'dist/.building'
/** What BUILDING becomes when the build has ended. */
export const BUILT = 'dist/.built'

/** When the newest file below a folder changed, or the list of files in one of its folders. */
export function newest(folder) {
  return Math.max(
    modified(folder),
    ...readdirSync(folder, { withFileTypes: true }).map((entry) => {
      const path = join(folder, entry.name)
      return entry.isDirectory() ? newest(path) : modified(path)
    }),
  )
}

export function modified(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
