import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { run } from './run.js'

/** SIMULATE=1000 runs more, SEED=7 repeats the run of that seed. */
const RUNS = Number(process.env.SIMULATE ?? 6)
const FIRST = Number(process.env.SEED ?? 1)
const STEPS = 20

// The machine's own time would make each run another one.
beforeAll(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'performance', 'Date'] }))
afterAll(() => void vi.useRealTimers())

it('keeps every promise whenever the process ends, and whatever carriers and receivers do', async () => {
  let [sends, ends] = [0, 0]
  const count = process.env.SEED ? 1 : RUNS
  for (let seed = FIRST; seed < FIRST + count; seed++) {
    const result = await run(seed, STEPS)
    expect(result.broken, `again: SEED=${seed} npx vitest run test/simulation`).toEqual([])
    sends += result.sends
    ends += result.ends
  }
  expect([sends > count * STEPS, ends > count]).toEqual([true, true])
}, 3_600_000)

it('goes the same way with the same seed', async () => {
  const [one, two] = [await run(FIRST, 10), await run(FIRST, 10)]
  expect(two).toEqual(one)
})
