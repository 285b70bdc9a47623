import { expect, it } from 'vitest'
import { nextTurn } from './next-turn.js'

it('lets one caller go in each turn of the loop, and owners alternate', async () => {
  const order: string[] = []
  let turn = 0
  const counting = setInterval(() => {}, 1000)
  const count = () => {
    turn++
    if (order.length < 6) setImmediate(count)
  }
  const work = async (owner: string, pieces: number) => {
    for (let i = 0; i < pieces; i++) {
      await nextTurn(owner)
      order.push(`${owner}${turn}`)
    }
  }
  setImmediate(count)
  await Promise.all([work('a', 1), work('a', 1), work('a', 1), work('b', 3)])
  clearInterval(counting)
  expect(order.map((one) => one[0])).toEqual(['a', 'b', 'a', 'b', 'a', 'b'])
  expect(new Set(order.map((one) => one.slice(1))).size).toBe(6)
})
