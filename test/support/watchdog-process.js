// Started by watchdog.ts. Reads one command for each line of its standard input, which ends when the process that
// started it ends, however that came about.
import { rmSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { processesIn } from './patroni/processes-in.js'

const signals = new Map()
const directories = new Set()
const workplaces = new Set()

for await (const line of createInterface({ input: process.stdin })) {
  const { start, signal, end: ended, directory, workplace } = JSON.parse(line)
  if (start) signals.set(start, signal)
  if (ended) signals.delete(ended)
  if (directory) directories.add(directory)
  if (workplace) workplaces.add(workplace)
}
for (const [pid, signal] of signals) end(pid, signal)
for (const workplace of workplaces) for (const pid of processesIn(workplace)) end(pid, 'SIGKILL')
for (const directory of directories) rmSync(directory, { recursive: true, force: true, maxRetries: 50 })

function end(pid, signal) {
  try {
    process.kill(pid, signal)
  } catch {
    // It ended in the meantime.
  }
}
