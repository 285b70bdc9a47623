import type { Readable, Writable } from 'node:stream'

/** Everything that a command uses of its process. main.ts makes the real one, tests make their own. */
export interface Io {
  stdin: Readable & { isTTY?: boolean }
  stdout: Writable & { isTTY?: boolean }
  stderr: Writable & { isTTY?: boolean }
  env: Record<string, string | undefined>
  /** Calls `stop` on SIGINT, SIGTERM or when standard output is closed, until the returned function is called. */
  onStop(stop: () => void): () => void
  /** Ends the process at once, with whatever is still going on. */
  exit(code: number): void
}
