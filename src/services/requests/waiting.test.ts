import { describe, expect, it } from 'vitest'
import { createWaitingCalls, MAX_BODIES, MAX_OF_ACCOUNT, MAX_OF_STRANGERS, MAX_WAITING } from './waiting.js'

const call = (accountId: string, n: number, body: string | null = null) => ({
  accountId,
  n,
  requestBody: body,
  responseBody: null,
})

function create() {
  const state = { dropped: 0 }
  const waiting = createWaitingCalls<ReturnType<typeof call>>((calls) => {
    state.dropped += calls
  })
  const flood = (accountId: string, calls: number) => {
    for (let n = 0; n < calls; n++) waiting.add(call(accountId, n))
  }
  return { ...waiting, flood, state }
}

describe('calls that wait to be written', () => {
  it('come out in their order, once', () => {
    const { flood, takeAll } = create()
    flood('a', 3)
    expect(takeAll().map(({ n }) => n)).toEqual([0, 1, 2])
    expect(takeAll()).toEqual([])
  })

  it('of a flood drop its own oldest only', () => {
    const { flood, takeAll, state } = create()
    flood('quiet', 5)
    flood('loud', MAX_OF_ACCOUNT + 70)
    flood('', MAX_OF_STRANGERS + 30)
    const calls = takeAll()
    const of = (id: string) => calls.filter(({ accountId }) => accountId === id).map(({ n }) => n)
    expect(of('quiet')).toEqual([0, 1, 2, 3, 4])
    expect(of('loud')).toEqual(Array.from({ length: MAX_OF_ACCOUNT }, (_, i) => i + 70))
    expect(of('')).toHaveLength(MAX_OF_STRANGERS)
    expect(state.dropped).toBe(100)
  })

  it('of many accounts stay within the bound, and those with few keep theirs', () => {
    const { add, flood, takeAll, state } = create()
    flood('quiet', 5)
    for (let i = 0; i < 100; i++) flood(`loud ${i}`, MAX_OF_ACCOUNT)
    add(call('late', 0))
    const calls = takeAll()
    expect(calls.length).toBeLessThanOrEqual(MAX_WAITING)
    expect(calls.length + state.dropped).toBe(5 + 100 * MAX_OF_ACCOUNT + 1)
    expect(calls.filter(({ accountId }) => accountId === 'quiet')).toHaveLength(5)
    expect(calls.filter(({ accountId }) => accountId === 'late')).toHaveLength(1)
  })

  it('stay within the bound however many accounts there are', () => {
    const { flood, takeAll } = create()
    for (let i = 0; i < MAX_WAITING + 50; i++) flood(`account ${i}`, 1)
    expect(takeAll()).toHaveLength(MAX_WAITING)
  })

  it('lose their bodies before they are too large', () => {
    const { add, takeAll } = create()
    const body = 'x'.repeat(MAX_BODIES / 100)
    for (let n = 0; n < 150; n++) add(call('a', n, body))
    const calls = takeAll()
    expect(calls).toHaveLength(150)
    expect(calls.filter(({ requestBody }) => requestBody !== null)).toHaveLength(100)
    add(call('a', 0, body))
    expect(takeAll()[0]!.requestBody).toBe(body)
  })

  it('are put back before newer ones', () => {
    const { flood, takeAll, putBack, add } = create()
    flood('a', 2)
    const taken = takeAll()
    add(call('a', 2))
    putBack(taken)
    expect(takeAll().map(({ n }) => n)).toEqual([0, 1, 2])
  })
})
