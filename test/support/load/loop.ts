/**
 * The longest time in milliseconds for which the work kept this process's event loop from going round. Counted is
 * the processor's time, so another process on the same machine adds nothing; the threads of this process do.
 */
export async function longestBlock<T>(work: () => Promise<T>): Promise<{ ms: number; result: T }> {
  let longest = 0
  let used = process.cpuUsage()
  let since = performance.now()
  let timer: NodeJS.Timeout
  const look = () => {
    const { user, system } = process.cpuUsage(used)
    const now = performance.now()
    longest = Math.max(longest, Math.min((user + system) / 1000, now - since))
    used = process.cpuUsage()
    since = now
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
    clearTimeout(timer!)
  }
}
