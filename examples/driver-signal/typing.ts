import type { DriverClock } from 'trunkline/driver'
import { type Api, personOf } from './api.js'

/** Phones show typing for 15 seconds. */
const AGAIN_MS = 10_000

export function createTyping(api: Api, number: string, clock: DriverClock) {
  const path = `/v1/typing-indicator/${encodeURIComponent(number)}`
  const timers = new Map<string, () => void>()

  async function show(to: string, until: number): Promise<void> {
    timers.get(to)?.()
    timers.delete(to)
    const left = until - clock.now()
    await api.act(left > 0 ? 'PUT' : 'DELETE', path, { recipient: personOf(to) })
    const again = () => void show(to, until).catch(() => {})
    if (left > 0) timers.set(to, clock.after(Math.min(left, AGAIN_MS), again))
  }

  return {
    show,
    close() {
      for (const cancel of timers.values()) cancel()
    },
  }
}
