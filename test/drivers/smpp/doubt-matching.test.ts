import { describe, expect, it } from 'vitest'
import type { DeliveryReport } from '../../../src/drivers/smpp/codec/receipt-text.js'
import { shortRef } from '../../../src/drivers/smpp/codec/short-ref.js'
import { createDoubts } from '../../../src/drivers/smpp/doubts.js'

describe('doubts', () => {
  const TO = '+12025550101'
  let now = Date.UTC(2026, 10, 15, 10, 0)
  const report = (fields: Partial<DeliveryReport> = {}): DeliveryReport => ({
    id: 'X',
    ref: undefined,
    status: 'DELIVERED',
    code: '',
    detail: '',
    submittedAt: undefined,
    text: '',
    ...fields,
  })
  const open = (...sends: [ref: string, content: string, parts?: number][]) => {
    const doubts = createDoubts(() => now)
    for (const [ref, content, parts = 1] of sends) {
      doubts.begin({ ref, to: TO, content, wireAt: now, parts })
      doubts.keepOpen(ref)
    }
    return doubts
  }

  it('match by our reference, for the same recipient only', () => {
    const doubts = open(['a', 'Hello'], ['b', 'Hello'])
    expect(doubts.judge(report({ ref: shortRef('b') }), TO)).toEqual({ ref: 'b', parts: 1 })
    expect(doubts.judge(report({ ref: shortRef('b') }), '+12025550199')).toBeUndefined()
    expect(doubts.judge(report({ ref: shortRef('c'), text: 'Hello' }), TO)).toBeUndefined()
  })

  it('match without reference only if exactly one send fits, with at least one matching field', () => {
    const doubts = open(['a', 'Hello Ada'], ['b', 'Good bye'])
    expect(doubts.judge(report({ text: 'Hello' }), TO)).toMatchObject({ ref: 'a' })
    expect(doubts.judge(report({ text: 'Hallo' }), TO)).toBeUndefined()
    expect(doubts.judge(report(), TO)).toBeUndefined()
    expect(open(['a', 'Hello 1'], ['b', 'Hello 2']).judge(report({ text: 'Hello' }), TO)).toBeUndefined()
    const other = open(['a', 'Hello'])
    expect(other.judge(report({ submittedAt: now + 3_600_000 - 60_000 }), TO)).toMatchObject({ ref: 'a' })
    expect(other.judge(report({ submittedAt: now + 420_000 }), TO)).toBeUndefined()
    expect(other.judge(report({ submittedAt: now - 3 * 86_400_000 }), TO)).toBeUndefined()
  })

  it('compare with the submit times of the parts, not with the start of the wait', () => {
    const doubts = createDoubts(() => now)
    const begun = now
    doubts.begin({ ref: 'a', to: TO, content: 'Hello '.repeat(60), wireAt: begun, parts: 2 })
    now += 290_000
    doubts.markSubmitted('a')
    now += 200_000
    doubts.markSubmitted('a')
    doubts.keepOpen('a')
    const at = (submittedAt: number) => doubts.judge(report({ submittedAt }), TO)?.ref
    expect([at(begun), at(begun + 150_000)]).toEqual([undefined, undefined])
    expect([at(begun + 290_000), at(begun + 400_000), at(begun + 490_000)]).toEqual(['a', 'a', 'a'])
    // In another time zone.
    expect([at(begun + 290_000 - 7_200_000), at(begun + 490_000 + 3_600_000)]).toEqual(['a', 'a'])
    expect(at(begun + 630_000)).toBeUndefined()
  })

  it('treat sends that wait for an answer as candidates, but never resolve them early', () => {
    const doubts = open(['a', 'Hello'])
    doubts.begin({ ref: 'b', to: TO, content: 'Hello', wireAt: now, parts: 1 })
    expect(doubts.judge(report({ text: 'Hello' }), TO)).toBeUndefined()
    expect(doubts.judge(report({ ref: shortRef('b') }), TO)).toBeUndefined()
    expect(doubts.keepOpen('b')).toMatchObject([{ to: TO, proof: { ref: 'b' } }])
    doubts.settle('b')
    expect(doubts.judge(report({ text: 'Hello' }), TO)).toMatchObject({ ref: 'a' })
  })

  it('keep sends for a day, up to a maximum number', () => {
    const doubts = open(['a', 'Hello'])
    now += 86_400_001
    expect(doubts.judge(report({ ref: shortRef('a') }), TO)).toBeUndefined()
    for (let i = 0; i < 10_001; i++) {
      doubts.begin({ ref: `r${i}`, to: TO, content: 'x', wireAt: now, parts: 1 })
      doubts.keepOpen(`r${i}`)
    }
    expect(doubts.judge(report({ id: '', text: 'x' }), TO)).toBeUndefined()
    for (let i = 2; i < 10_001; i++) doubts.settle(`r${i}`)
    // The first was evicted by the last, so exactly one match is left.
    expect(doubts.judge(report({ text: 'x' }), TO)).toMatchObject({ ref: 'r1' })
  })
})
