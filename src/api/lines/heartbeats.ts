import type { EventStream } from '../http/sse.js'

/** Real time. Proxies end a connection that is silent for a minute. */
export const HEARTBEAT_MS = 45_000
const TICK_MS = 1000

type Stream = Pick<EventStream, 'comment'>

/** Heartbeats of many streams. Their one timer wakes the process once a second instead of once for each heartbeat. */
export function createHeartbeats(): { add(stream: Stream): () => void; stop(): void } {
  const slots = Array.from({ length: HEARTBEAT_MS / TICK_MS }, () => new Set<Stream>())
  let turn = 0
  const timer = setInterval(() => {
    turn = (turn + 1) % slots.length
    for (const stream of slots[turn]!) stream.comment()
  }, TICK_MS).unref()
  return {
    add(stream) {
      const slot = slots[turn]!
      slot.add(stream)
      return () => slot.delete(stream)
    },
    stop: () => clearInterval(timer),
  }
}
