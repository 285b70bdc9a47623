import { type ChildProcess, spawn } from 'node:child_process'
import type { Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('watchdog-process.js', import.meta.url))

let watchdog: Writable | undefined

// A worker whose run was killed has nobody to report to. `process.exit` is Vitest's in here.
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'))

/** Ends the child if this process ends first, even by SIGKILL. */
export function endWithUs<T extends ChildProcess>(child: T): T {
  if (child.pid === undefined) return child
  child.once('exit', signalAfterUs(child.pid, 'SIGKILL'))
  return child
}

/** Signals the process when this one has ended, unless the answer was called before. */
export function signalAfterUs(pid: number, signal: NodeJS.Signals): () => void {
  tell({ start: pid, signal })
  return () => tell({ end: pid })
}

/** Removes the folder when this process has ended. */
export function removeAfterUs(directory: string): void {
  tell({ directory })
}

/** Ends everything that works in the folder when this process has ended. */
export function endAllInAfterUs(workplace: string): void {
  tell({ workplace })
}

/** The watchdog is a process in a session of its own: an interrupt from the terminal reaches us but not it. */
function tell(command: object): void {
  if (!watchdog) {
    const child = spawn(process.execPath, [PROGRAM], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
    child.unref()
    watchdog = child.stdin
    ;(watchdog as unknown as { unref(): void }).unref()
  }
  watchdog.write(`${JSON.stringify(command)}\n`)
}
