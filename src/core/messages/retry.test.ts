import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { backoffMs, lookupDelayMs, MAX_ATTEMPTS } from './retry.js'

describe('backoffMs', () => {
  it.each([
    [1, 1000],
    [2, 4000],
    [3, 16_000],
    [4, 60_000],
    [5, 60_000],
    [1000, 60_000],
  ])('after attempt %i waits %i ms', (attempt, wait) => {
    expect(backoffMs(attempt)).toBe(wait)
  })

  it('gives a line about five minutes in all', () => {
    let waited = 0
    for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt++) waited += backoffMs(attempt)
    expect(waited / 60_000).toBeGreaterThan(4)
    expect(waited / 60_000).toBeLessThan(6)
  })
})

describe('lookupDelayMs', () => {
  it.each([
    [0, 5000, 250],
    [1, 5000, 500],
    [4, 5000, 4000],
    [5, 5000, 5000],
    [2000, 5000, 5000],
    [0, 100, 100],
    [0, 0, 0],
  ])('after %i questions and with %i ms to settle waits %i ms', (questions, settleMs, wait) => {
    expect(lookupDelayMs(questions, settleMs)).toBe(wait)
  })

  it('grows and stays within the settle time', () => {
    fc.assert(
      fc.property(fc.nat(3000), fc.nat(86_400_000), (questions, settleMs) => {
        const wait = lookupDelayMs(questions, settleMs)
        expect(wait).toBeLessThanOrEqual(settleMs)
        expect(lookupDelayMs(questions + 1, settleMs)).toBeGreaterThanOrEqual(wait)
      }),
    )
  })
})
