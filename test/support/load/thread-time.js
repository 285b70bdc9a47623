import { readFileSync } from 'node:fs'

/** A moment in the life of this thread, to count its work from. */
export function markWork() {
  return { own: ownMs(), stolen: stolenMs() }
}

/**
 * Milliseconds for which this thread has worked since. Other threads and processes add nothing, nor does the time for
 * which the host of a virtual machine took the processor away: Linux counts that time as the thread's own.
 */
export function workedSince({ own, stolen }) {
  const taken = stolenMs().map((ms, processor) => ms - (stolen[processor] ?? ms))
  return Math.max(0, ownMs() - own - Math.max(0, ...taken))
}

function ownMs() {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]) / 1e6
  } catch {
    // Systems without /proc tell only the time of the whole process.
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  }
}

/** For each processor, because a thread may change from one to another. Linux counts in hundredths of a second. */
function stolenMs() {
  try {
    const processors = readFileSync('/proc/stat', 'latin1').match(/^cpu\d.*$/gm) ?? []
    return processors.map((line) => Number(line.split(' ')[8]) * 10)
  } catch {
    return []
  }
}
