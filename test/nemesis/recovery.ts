import type { Clients } from './clients.js'
import type { Fleet } from './fleet.js'

/** What the service promises after a recovery of the database. */
const SLOW_MS = 5000

/** How long processes took to accept a send after the database could be written to again. */
export interface RecoveryTimes {
  /** Sends by every process that nothing befalls, until each has accepted one. */
  measure(fault: string, isOver: () => boolean): Promise<void>
  /** Number, median and worst in milliseconds, by fault. */
  figures(): Record<string, { n: number; median: number; worst: number }>
}

export function createRecoveryTimes(
  fleet: Fleet,
  clients: Clients,
  line: string,
  say: (line: string) => void,
): RecoveryTimes {
  const times = new Map<string, number[]>()
  return {
    async measure(fault, isOver) {
      const since = performance.now()
      const own = times.get(fault) ?? []
      times.set(fault, own)
      await Promise.all(
        fleet.whole().map(async (node) => {
          const isLost = () => isOver() || !fleet.isWhole(node)
          await clients.insist(node.url, line, isLost)
          if (isLost()) return
          const ms = Math.round(performance.now() - since)
          own.push(ms)
          if (ms > SLOW_MS) say(`process ${fleet.placeOf(node)} accepted a send ${ms} ms after ${fault}`)
        }),
      )
    },
    figures: () =>
      Object.fromEntries(
        [...times].map(([fault, own]) => {
          const sorted = own.sort((a, b) => a - b)
          const median = sorted[Math.floor(sorted.length / 2)] ?? 0
          return [fault, { n: sorted.length, median, worst: sorted.at(-1) ?? 0 }]
        }),
      ),
  }
}
