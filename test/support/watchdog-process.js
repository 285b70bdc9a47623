// Started by watchdog.ts. Reads one command for each line of its standard input, which ends when the process that
// started it ends, however that came about.
import { rmSync } from 'node:fs'
import { createInterface } from 'node:readline'

const signals = new Map()
const directories = new Set()

for await (const line of createInterface({ input: process.stdin })) {
  const { start, signal, end, directory } = JSON.parse(line)
  if (start) signals.set(start, signal)
  if (end) signals.delete(end)
  if (directory) directories.add(directory)
}
for (const [pid, signal] of signals) {
  try {
    process.kill(pid, signal)
  } catch {
    // It ended in the meantime.
  }
}
for (const directory of directories) rmSync(directory, { recursive: true, force: true, maxRetries: 50 })
