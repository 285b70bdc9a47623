// Loaded into a server by `--import`: appends the length of each block of its event loop to the file LOOP_WATCH names.
// Counted is the processor time of the thread, in milliseconds, so other threads and processes add nothing.
import { appendFileSync, readFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

/** Shorter turns of the loop are not worth a line. */
const MIN_MS = 15

function threadMs() {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]) / 1e6
  } catch {
    // Systems without /proc tell only the time of the whole process.
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  }
}

if (isMainThread && process.env.LOOP_WATCH) {
  let used = threadMs()
  setInterval(() => {
    const now = threadMs()
    if (now - used > MIN_MS) appendFileSync(process.env.LOOP_WATCH, `${(now - used).toFixed(1)}\n`)
    used = threadMs()
  }, 2).unref()
}
