/**
 * Sends the process a signal when it passes a named point for the n-th time: TRUNKLINE_FAILPOINT=name@n or
 * name@n:SIGSTOP. Without a name, the signal is SIGKILL. Tests use it to check what a crash leaves behind, and what a
 * process does that was paused.
 */
export function createFailpoint(setting: string | null): (name: string) => void {
  if (!setting) return () => {}
  const [point = '', signal = 'SIGKILL'] = setting.split(':')
  const [target, count = '1'] = point.split('@')
  let left = Number(count)
  return (name) => {
    if (name === target && --left === 0) process.kill(process.pid, signal)
  }
}
