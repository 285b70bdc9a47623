/**
 * The only source of time. It follows the system clock. In simulated worlds `advance` moves it ahead: timers that
 * fall due on the way fire in order, each at its own time. A frozen clock moves by `advance` only.
 */
export interface Clock {
  /** Whether the clock moves by `advance` only. */
  readonly isFrozen: boolean
  now(): number
  /** Calls `fn` after this time. Returns a function that cancels the call. */
  after(ms: number, fn: () => void): () => void
  /** Moves the clock ahead. Awaits `settle` after every timer, so that the timer's effects happen at its time. */
  advance(ms: number, settle: () => Promise<void>): Promise<void>
  /** For good: what is asked for later is not called either, and does not keep the process alive. */
  stop(): void
}

interface Timer extends HeapEntry {
  at: number
  order: number
  fn: () => void
}

/** How much slower the clock runs while it is ahead of the wall clock: ten hours make up for one. */
const SLOWER = 0.1

export function createClock(frozenAt?: number): Clock {
  // Ten thousand lines have a timer each: finding the first must not read them all.
  const timers = createHeap<Timer>((a, b) => a.at < b.at || (a.at === b.at && a.order < b.order))
  let offset = 0
  let frozen = frozenAt
  let order = 0
  let alarm: NodeJS.Timeout | undefined
  let alarmAt = Number.POSITIVE_INFINITY
  let last = 0
  let isStopped = false
  /** Lead over the machine's monotonic clock, and when it was last updated. */
  let lead = Number.NEGATIVE_INFINITY
  let looked = 0

  const now = () => {
    if (frozen !== undefined) return frozen
    const wall = Date.now() + offset
    const steady = performance.now()
    // A wall clock that is set back must neither reverse the order of times nor stop them: the clock follows the
    // monotonic one, a little slower, until both agree again.
    if (lead + steady < wall + 1) lead = Math.max(lead, wall - steady)
    else lead -= (steady - looked) * SLOWER
    looked = steady
    last = Math.max(last, wall, Math.floor(lead + steady))
    return last
  }
  now()

  function arm(at: number | undefined) {
    if (frozen !== undefined || at === undefined || at >= alarmAt) return
    clearTimeout(alarm)
    alarmAt = at
    alarm = setTimeout(ring, Math.min(Math.max(0, at - now()), 2 ** 30))
  }

  function ring() {
    alarmAt = Number.POSITIVE_INFINITY
    for (let timer = timers.first(); timer && timer.at <= now(); timer = timers.first()) fire(timer)
    arm(timers.first()?.at)
  }

  function fire(timer: Timer) {
    timers.remove(timer)
    timer.fn()
  }

  return {
    isFrozen: frozenAt !== undefined,
    now,
    after(ms, fn) {
      // Whole milliseconds: the columns for times are integers.
      const timer = { at: now() + Math.max(0, Math.ceil(ms)), order: order++, fn, place: -1 }
      if (!isStopped) {
        timers.add(timer)
        arm(timer.at)
      }
      return () => timers.remove(timer)
    },
    async advance(ms, settle) {
      const target = now() + ms
      await settle()
      for (let timer = timers.first(); timer && timer.at <= target; timer = timers.first()) {
        jump(timer.at)
        fire(timer)
        await settle()
      }
      jump(target)
    },
    stop() {
      isStopped = true
      clearTimeout(alarm)
      timers.clear()
    },
  }

  function jump(to: number) {
    if (frozen !== undefined) frozen = Math.max(frozen, to)
    else {
      const ahead = Math.max(0, to - now())
      offset += ahead
      lead += ahead
    }
    clearTimeout(alarm)
    alarmAt = Number.POSITIVE_INFINITY
    arm(timers.first()?.at)
  }
}

/** An entry knows its place in the heap, so that it can be removed without a search. */
interface HeapEntry {
  place: number
}

/** Entries of which the first is found at once; adding and removing one takes a number of steps that is logarithmic. */
interface Heap<T extends HeapEntry> {
  first(): T | undefined
  add(entry: T): void
  /** Does nothing if the entry is not in the heap. */
  remove(entry: T): void
  clear(): void
}

export function createHeap<T extends HeapEntry>(isBefore: (a: T, b: T) => boolean): Heap<T> {
  const entries: T[] = []

  function put(entry: T, place: number) {
    entries[place] = entry
    entry.place = place
  }

  function rise(entry: T, from: number) {
    let place = from
    while (place > 0) {
      const above = (place - 1) >> 1
      if (!isBefore(entry, entries[above]!)) break
      put(entries[above]!, place)
      place = above
    }
    put(entry, place)
  }

  function sink(entry: T, from: number) {
    let place = from
    for (;;) {
      let below = 2 * place + 1
      if (below >= entries.length) break
      if (below + 1 < entries.length && isBefore(entries[below + 1]!, entries[below]!)) below++
      if (!isBefore(entries[below]!, entry)) break
      put(entries[below]!, place)
      place = below
    }
    put(entry, place)
  }

  return {
    first: () => entries[0],
    add(entry) {
      entries.push(entry)
      rise(entry, entries.length - 1)
    },
    remove(entry) {
      const { place } = entry
      if (entries[place] !== entry) return
      const last = entries.pop()!
      if (last === entry) return
      if (place > 0 && isBefore(last, entries[(place - 1) >> 1]!)) rise(last, place)
      else sink(last, place)
    },
    clear() {
      entries.length = 0
    },
  }
}
