/** The only source of chance of a simulated run, so that a seed repeats the run. */
export interface Chance {
  /** A whole number from 0 to `n` - 1. */
  below(n: number): number
  happens(probability: number): boolean
  pick<T>(choices: readonly T[]): T
}

export function createChance(seed: number): Chance {
  let state = seed >>> 0
  // Mulberry32: 32 bits of state, and good enough to choose faults.
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (n: number) => Math.floor(next() * n)
  return {
    below,
    happens: (probability) => next() < probability,
    pick: (choices) => choices[below(choices.length)]!,
  }
}
