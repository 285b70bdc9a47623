import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createBoundedMap } from './bounded-map.js'

describe('a bounded map', () => {
  it('forgets the entry that was set longest ago', () => {
    const map = createBoundedMap<string, number>(2)
    map.set('a', 1)
    map.set('b', 2)
    map.set('a', 3)
    map.set('c', 4)
    expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([3, undefined, 4])
    expect(map.size()).toBe(2)
  })

  it('reading does not make an entry younger', () => {
    const map = createBoundedMap<string, number>(2)
    map.set('a', 1)
    map.set('b', 2)
    map.get('a')
    map.set('c', 3)
    expect(map.get('a')).toBeUndefined()
  })

  it('keeps an entry for less than its time, also when the clock goes back', () => {
    const map = createBoundedMap<string, number>(5, 100)
    map.set('a', 1, 1000)
    expect(map.get('a', 1099)).toBe(1)
    expect(map.get('a', 1100)).toBeUndefined()
    expect(map.get('a', 901)).toBe(1)
    expect(map.get('a', 900)).toBeUndefined()
    map.set('a', 2, 1050)
    expect(map.get('a', 1149)).toBe(2)
  })

  it('holds undefined and null like any key', () => {
    const map = createBoundedMap<string | null | undefined, number>(2)
    map.set(undefined, 1)
    map.set(null, 2)
    map.set('a', 3)
    expect([map.get(undefined), map.get(null), map.get('a')]).toEqual([undefined, 2, 3])
  })

  it.each([0, -1, Number.NaN])('refuses the limit %s', (limit) => {
    expect(() => createBoundedMap(limit)).toThrow('limit')
  })

  /** The rules of the map on a plain list, newest last. */
  class Model {
    list: { key: number; value: number; at: number }[] = []
    constructor(
      readonly limit: number,
      readonly keepMs: number,
    ) {}
    get(key: number, now: number) {
      const found = this.list.find((one) => one.key === key)
      return found && Math.abs(now - found.at) < this.keepMs ? found.value : undefined
    }
    set(key: number, value: number, now: number) {
      this.delete(key)
      this.list = [...this.list, { key, value, at: now }].slice(-this.limit)
    }
    delete(key: number) {
      const before = this.list.length
      this.list = this.list.filter((one) => one.key !== key)
      return this.list.length < before
    }
  }

  const KEYS = Array.from({ length: 31 }, (_, n) => n)
  const key = fc.constantFrom(...KEYS)
  const now = fc.nat(200)
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant('set' as const), key, value: fc.nat(), now }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), key, value: fc.nat(), now }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('take' as const), key, value: fc.nat(), now }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('drop' as const), key, value: fc.nat(3), now }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('clear' as const), key, value: fc.nat(), now }) },
  )

  it('does what a plain list does, whatever is done to it', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 12 }),
        fc.constantFrom(50, Number.POSITIVE_INFINITY),
        fc.array(step, { maxLength: 150, size: 'max' }),
        (limit, keepMs, steps) => {
          const map = createBoundedMap<number, number>(limit, keepMs)
          const model = new Model(limit, keepMs)
          for (const one of steps) {
            if (one.do === 'set') {
              map.set(one.key, one.value, one.now)
              model.set(one.key, one.value, one.now)
            } else if (one.do === 'delete') {
              expect(map.delete(one.key)).toBe(model.delete(one.key))
            } else if (one.do === 'take') {
              expect(map.take(one.key, one.now)).toBe(model.get(one.key, one.now))
              model.delete(one.key)
            } else if (one.do === 'drop') {
              map.deleteWhere((value) => value % 4 === one.value)
              model.list = model.list.filter(({ value }) => value % 4 !== one.value)
            } else {
              map.clear()
              model.list = []
            }
            expect(map.size()).toBe(model.list.length)
            expect(KEYS.map((other) => map.get(other, one.now))).toEqual(
              KEYS.map((other) => model.get(other, one.now)),
            )
          }
        },
      ),
      { numRuns: 200 },
    )
  })

  it('stays exact over many times its limit', () => {
    const map = createBoundedMap<number, number>(1000)
    for (let n = 0; n < 50_000; n++) {
      map.set(n, n)
      // Every third is taken out again, so that there are holes everywhere.
      if (n % 3 === 0) map.delete(n - 500)
      if (n === 20_000) map.clear()
    }
    expect(map.size()).toBe(1000)
    const held = Array.from({ length: 50_000 }, (_, n) => n).filter((n) => map.get(n) !== undefined)
    expect(held).toHaveLength(1000)
    expect(held.at(-1)).toBe(49_999)
    const gone = Array.from({ length: 50_000 - held[0]! }, (_, n) => held[0]! + n).filter(
      (n) => map.get(n) === undefined,
    )
    expect(gone.every((n) => (n + 500) % 3 === 0 && n < 49_500)).toBe(true)
  })
})
