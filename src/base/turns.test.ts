import { expect, it } from 'vitest'
import { createFairTurns, nextTurn } from './turns.js'

it('gives each owner a turn before another gets its second, and goes on after a failure', async () => {
  const order: string[] = []
  const run = createFairTurns(1)
  const work = (owner: string, n: number) =>
    run(owner, async () => {
      order.push(`${owner}${n}`)
      if (owner === 'b') throw new Error('failed')
      return n
    }).catch(() => -1)
  const answers = await Promise.all([work('a', 1), work('a', 2), work('a', 3), work('b', 1), work('c', 1)])
  expect(answers).toEqual([1, 2, 3, -1, 1])
  expect(order).toEqual(['a1', 'a2', 'b1', 'c1', 'a3'])
})

it('runs so many at once and no more', async () => {
  const run = createFairTurns(2)
  let now = 0
  let most = 0
  const work = () =>
    run('a', async () => {
      most = Math.max(most, ++now)
      await new Promise((resolve) => setImmediate(resolve))
      now--
    })
  await Promise.all([work(), work(), work(), work(), work()])
  expect(most).toBe(2)
})

it('lets one caller go in each turn of the loop', async () => {
  let turn = 0
  let isOver = false
  const count = () => {
    turn++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const seen: number[] = []
  await Promise.all(['a', 'a', 'b', 'a'].map((owner) => nextTurn(owner).then(() => seen.push(turn))))
  isOver = true
  expect(new Set(seen).size).toBe(4)
})
