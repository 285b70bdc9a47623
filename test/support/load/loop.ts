import { readFileSync } from 'node:fs'

/**
 * The longest time in milliseconds for which the work kept this thread's event loop from going round. Counted is the
 * processor's time of this thread, so other threads and other processes on the machine add nothing.
 */
export async function longestBlock<T>(work: () => Promise<T>): Promise<{ ms: number; result: T }> {
  let longest = 0
  let used = threadMs()
  let timer: NodeJS.Timeout | undefined
  const look = () => {
    const now = threadMs()
    longest = Math.max(longest, now - used)
    used = now
    timer = setTimeout(look, 1)
  }
  // The preparations of the caller's turn are not part of the work.
  await new Promise((resolve) => setImmediate(resolve))
  look()
  longest = 0
  try {
    const result = await work()
    look()
    return { ms: longest, result }
  } finally {
    clearTimeout(timer)
  }
}

/** Processor time of this thread; of the whole process where the system does not tell. */
function threadMs(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]) / 1e6
  } catch {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  }
}
