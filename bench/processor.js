import { readdirSync, readFileSync } from 'node:fs'

const TICKS_A_SECOND = 100

/** Seconds of processor time of processes and of their children, such as the backends of a database. */
export function cpuOf(roots) {
  let ticks = 0
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
      if (!roots.includes(Number(pid)) && !roots.includes(Number(stat[1]))) continue
      // Children that have ended count with their parent: a backend whose connection was closed.
      const [user, system, endedUser, endedSystem] = stat.slice(11, 15).map(Number)
      ticks += user + system + (roots.includes(Number(pid)) ? endedUser + endedSystem : 0)
    } catch {
      // The process has ended.
    }
  }
  return ticks / TICKS_A_SECOND
}

/** Seconds that the host took from this machine's processors since its start. */
export function stolen() {
  return Number(readFileSync('/proc/stat', 'utf8').split(/\s+/)[8]) / TICKS_A_SECOND
}
