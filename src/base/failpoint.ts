/**
 * Kills the process, as `kill -9` would, at the n-th passing of a named moment: TRUNKLINE_FAILPOINT=name@n.
 * This is how the tests prove what a crash leaves behind.
 */
export function createFailpoint(setting: string | null): (name: string) => void {
  if (!setting) return () => {}
  const [target, count = '1'] = setting.split('@')
  let left = Number(count)
  return (name) => {
    if (name === target && --left === 0) process.kill(process.pid, 'SIGKILL')
  }
}
