import { describe, expect, it } from 'vitest'
import { createHeap } from './clock.js'

describe('the heap of timers', () => {
  it('gives its entries in order, whichever were removed before', () => {
    const heap = createHeap<{ at: number; place: number }>((a, b) => a.at < b.at)
    let seed = 7
    const chance = () => {
      seed = (seed * 16807) % 2147483647
      return seed / 2147483647
    }
    const entries = Array.from({ length: 500 }, () => ({ at: Math.floor(chance() * 100), place: -1 }))
    for (const entry of entries) heap.add(entry)
    const kept = entries.filter(() => chance() < 0.5)
    for (const entry of entries) if (!kept.includes(entry)) heap.remove(entry)
    for (const entry of entries) if (!kept.includes(entry)) heap.remove(entry)
    const order: number[] = []
    for (let first = heap.first(); first; first = heap.first()) {
      order.push(first.at)
      heap.remove(first)
    }
    expect(order).toEqual(kept.map(({ at }) => at).sort((a, b) => a - b))
  })
})
