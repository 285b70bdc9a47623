import type { Activity } from '../../src/base/settled.js'
import type { Chance } from './chance.js'

/**
 * The life of one simulated process. Everything that leaves the process or enters it passes `through` it; the life ends
 * before or after one of these passages, as a process that is killed. What waits in it then waits for ever.
 */
export interface Life {
  isOver(): boolean
  /** Resolves when it ends. */
  ended: Promise<void>
  end(): void
  /** Ends it at this passage from now. */
  endAfter(passages: number): void
  through<T>(work: () => Promise<T>): Promise<T>
  /** A passage inside a transaction, which must not wait for ever: it throws, and the database rolls back. */
  inside<T>(work: () => Promise<T>): Promise<T>
  activity(): Activity
}

/** Turns of the event loop by which a passage may be late: answers overtake each other. */
const MAX_LATE_TURNS = 3

export function createLife(chance: Chance): Life {
  let left = Number.POSITIVE_INFINITY
  let over = false
  let open = 0
  let begun = 0
  let tell = () => {}
  const ended = new Promise<void>((resolve) => {
    tell = resolve
  })
  const forEver = () => new Promise<never>(() => {})

  function end() {
    over = true
    tell()
  }
  const step = () => {
    if (--left <= 0) end()
    return over
  }
  const dawdle = async () => {
    for (let turns = chance.below(MAX_LATE_TURNS); turns > 0; turns--)
      await new Promise((resolve) => setImmediate(resolve))
  }

  return {
    isOver: () => over,
    ended,
    end,
    endAfter: (passages) => {
      left = passages
    },
    async through(work) {
      open++
      begun++
      await dawdle()
      if (over || step()) return forEver()
      try {
        const result = await work()
        await dawdle()
        if (over || step()) return forEver()
        open--
        return result
      } catch (error) {
        if (over || step()) return forEver()
        open--
        throw error
      }
    },
    async inside(work) {
      if (over || step()) throw new Error('The process ended in a transaction')
      return work()
    },
    activity: () => ({ open, begun }),
  }
}
