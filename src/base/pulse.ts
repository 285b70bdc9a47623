/** A moment by two clocks: the steady clock may stand still while a machine sleeps, the wall clock may be set. */
export interface Moment {
  steady: number
  wall: number
}

export function currentMoment(): Moment {
  return { steady: performance.now(), wall: Date.now() }
}

/** Milliseconds since then, by the clock that saw more time pass. */
export function elapsedMs({ steady, wall }: Moment): number {
  return Math.max(performance.now() - steady, Date.now() - wall)
}

/** Knows how long bytes may have waited in a socket, also in a process that was stopped and woke up. */
export interface Pulse {
  /** Bytes that the event loop reads now arrived after this moment. */
  unreadSince(): Moment
  beats(): number
  stop(): void
}

const BEAT_MS = 250

/**
 * The kernel does not say when bytes arrived, but the event loop reads every socket between two beats of a timer. So
 * bytes that are read now arrived after the beat before the last one. After a pause that beat lies before the pause,
 * whichever comes first: the beat or the sockets.
 */
export function createPulse(): Pulse {
  let last = currentMoment()
  let before = last
  let beats = 0
  const timer = setInterval(() => {
    before = last
    last = currentMoment()
    beats++
  }, BEAT_MS).unref()
  return {
    unreadSince: () => before,
    beats: () => beats,
    stop: () => clearInterval(timer),
  }
}
