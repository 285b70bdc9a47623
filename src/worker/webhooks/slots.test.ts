import { expect, it } from 'vitest'
import { createSlots, type Slot } from './slots.js'

const LIMITS = { quick: 10, quickMs: 60_000, total: 20, account: 4, untrusted: 2 }

/** Asks for slots and remembers in which order accounts got them. */
function ask(slots: ReturnType<typeof createSlots>) {
  const got: string[] = []
  const held: Slot[] = []
  const keep = (account: string) => (slot: Slot) => {
    got.push(account)
    held.push(slot)
  }
  return {
    got,
    held,
    take(account: string, isTrusted: boolean, n = 1) {
      for (let i = 0; i < n; i++) {
        const slot = slots.take(account, isTrusted, keep(account))
        if (slot) keep(account)(slot)
      }
    },
  }
}

it('limits an account, and its receivers that have not answered yet to a part of that', () => {
  const { got, take } = ask(createSlots(LIMITS))
  take('hostile', false, 50)
  expect(got).toHaveLength(LIMITS.untrusted)
  take('hostile', true, 50)
  expect(got).toHaveLength(LIMITS.account)
  take('neighbour', false)
  expect(got.at(-1)).toBe('neighbour')
})

it('gives free slots to the accounts that wait in turn, to an account at its limits none', () => {
  const { got, held, take } = ask(createSlots({ ...LIMITS, quick: 2 }))
  take('a', true, 6)
  take('b', true, 2)
  take('c', false, 3)
  while (held.length > 0) held.shift()!.end()
  expect(got.join('')).toBe('aaabcabcaca')
})

it('gives a slot that comes back to an account that waits at its limit', () => {
  const { got, held, take } = ask(createSlots(LIMITS))
  take('a', false, 5)
  for (let i = 0; i < 5; i++) held.shift()?.end()
  expect(got).toHaveLength(5)
})

it('frees the place of an attempt that has no answer after the quick time', async () => {
  const { got, take } = ask(createSlots({ ...LIMITS, quick: 2, quickMs: 10 }))
  take('hostile', true, 2)
  const granted = new Promise<void>((resolve) => {
    take('neighbour', true)
    const look = () => (got.includes('neighbour') ? resolve() : setTimeout(look, 5))
    look()
  })
  expect(got).toEqual(['hostile', 'hostile'])
  await granted
})

it('never opens more sockets than its total', () => {
  const { got, take } = ask(createSlots({ ...LIMITS, quick: 100, quickMs: 0 }))
  for (let account = 0; account < 50; account++) take(`a${account}`, true, 4)
  expect(got).toHaveLength(LIMITS.total)
})
