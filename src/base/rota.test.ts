import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createFifo, createRota } from './rota.js'

it('takes one item of each owner in turn, each in its order', () => {
  const rota = createRota<string>()
  for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) rota.add(item[0]!, item)
  const taken = [rota.take(), rota.take()]
  rota.add('b', 'b2')
  for (let item = rota.take(); item; item = rota.take()) taken.push(item)
  expect(taken).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'c2', 'a3'])
  expect(rota.size()).toBe(0)
})

it('lets an owner who comes late wait for one item of each other owner at most', () => {
  const rota = createRota<number>()
  for (let i = 0; i < 50_000; i++) rota.add('hostile', i)
  rota.take()
  rota.add('neighbour', -1)
  expect([rota.take(), rota.take()]).toEqual([1, -1])
})

it('is a queue at any length', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -40, max: 60 }), { maxLength: 100 }), (steps) => {
      const fifo = createFifo<number>()
      const model: number[] = []
      let next = 0
      for (const step of steps) {
        for (let i = 0; i < step * 20; i++, next++) {
          fifo.push(next)
          model.push(next)
        }
        for (let i = 0; i < -step * 20; i++) expect(fifo.shift()).toBe(model.shift())
        expect([fifo.peek(), fifo.size()]).toEqual([model[0], model.length])
      }
    }),
    { numRuns: 30 },
  )
})
