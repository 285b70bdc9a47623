/**
 * Kills the process like `kill -9` when it passes a named point for the n-th time: TRUNKLINE_FAILPOINT=name@n.
 * Tests use it to check what a crash leaves behind.
 */
export function createFailpoint(setting: string | null): (name: string) => void {
  if (!setting) return () => {}
  const [target, count = '1'] = setting.split('@')
  let left = Number(count)
  return (name) => {
    if (name === target && --left === 0) process.kill(process.pid, 'SIGKILL')
  }
}
