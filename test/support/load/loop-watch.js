// Loaded into a server by `--import`: appends the length of each block of its event loop, in milliseconds of work, to the
// file LOOP_WATCH names.
import { appendFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import { markWork, workedSince } from './thread-time.js'

/** Shorter turns of the loop are not worth a line. */
const MIN_MS = 15

if (isMainThread && process.env.LOOP_WATCH) {
  let mark = markWork()
  setInterval(() => {
    const ms = workedSince(mark)
    if (ms > MIN_MS) appendFileSync(process.env.LOOP_WATCH, `${ms.toFixed(1)}\n`)
    mark = markWork()
  }, 2).unref()
}
