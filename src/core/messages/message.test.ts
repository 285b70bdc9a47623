import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  conversationOf,
  type MessageError,
  mayAdvance,
  OUTCOME_UNKNOWN,
  responseStatus,
  STATUSES,
  type Status,
} from './message.js'

interface State {
  status: Status
  error: MessageError | null
}

const errorOf = (reason: string): MessageError => ({ code: 1, message: reason, reason, detail: null })
const UNKNOWN: State = { status: 'ERROR', error: errorOf(OUTCOME_UNKNOWN) }
const VERDICT = errorOf('undelivered')

/** What a carrier's word makes of a state, by the rule alone. */
function hear(state: State, to: Status): State {
  if (!mayAdvance(state, to)) return state
  return { status: to, error: to === 'ERROR' || to === 'DECLINED' ? VERDICT : null }
}

const state = (status: Status): State => ({ status, error: status === 'ERROR' ? VERDICT : null })

describe('the status lattice', () => {
  const table: Record<Status, Status[]> = {
    REGISTERED: ['QUEUED', 'PENDING', 'ACCEPTED', 'SENT', 'DELIVERED', 'ERROR', 'DECLINED', 'SUCCESS'],
    QUEUED: ['PENDING', 'ACCEPTED', 'SENT', 'DELIVERED', 'ERROR', 'DECLINED', 'SUCCESS'],
    PENDING: ['ACCEPTED', 'SENT', 'DELIVERED', 'ERROR', 'DECLINED', 'SUCCESS'],
    ACCEPTED: ['SENT', 'DELIVERED', 'ERROR', 'DECLINED', 'SUCCESS'],
    SENT: ['DELIVERED', 'ERROR', 'DECLINED', 'SUCCESS'],
    SUCCESS: ['DELIVERED'],
    DELIVERED: [],
    RECEIVED: [],
    ERROR: [],
    DECLINED: [],
  }
  it.each(STATUSES)('%s goes only where the table says', (from) => {
    expect(STATUSES.filter((to) => mayAdvance(state(from), to))).toEqual(table[from])
  })

  it('lets any word of the carrier beat our own "unknown", and nothing else', () => {
    expect(STATUSES.filter((to) => mayAdvance(UNKNOWN, to))).toEqual([
      'ACCEPTED',
      'SENT',
      'DELIVERED',
      'ERROR',
      'DECLINED',
      'SUCCESS',
    ])
  })

  const anyStatus = fc.constantFrom(...STATUSES)
  const anyStart = fc.oneof(anyStatus.map(state), fc.constant(UNKNOWN))

  it('never returns to a state it has left', () => {
    fc.assert(
      fc.property(anyStart, fc.array(anyStatus, { maxLength: 30 }), (start, words) => {
        const seen = [start]
        for (const word of words) {
          const next = hear(seen.at(-1)!, word)
          if (next !== seen.at(-1)) seen.push(next)
        }
        const names = seen.map(({ status, error }) => `${status} ${error?.reason ?? ''}`)
        expect(new Set(names).size).toBe(names.length)
      }),
      { numRuns: 2000 },
    )
  })

  it('keeps the first verdict of a carrier, whatever it says afterwards', () => {
    fc.assert(
      fc.property(
        anyStart,
        fc.constantFrom<Status>('DELIVERED', 'ERROR', 'DECLINED'),
        fc.array(anyStatus, { maxLength: 20 }),
        (start, verdict, words) => {
          fc.pre(mayAdvance(start, verdict))
          const judged = hear(start, verdict)
          expect(words.reduce(hear, judged)).toBe(judged)
        },
      ),
    )
  })

  const arrivals = [
    { name: 'good news', words: ['ACCEPTED', 'SENT', 'SUCCESS', 'DELIVERED'] },
    { name: 'an error at the end', words: ['ACCEPTED', 'SENT', 'ERROR'] },
    { name: 'a decline at the end', words: ['ACCEPTED', 'SENT', 'DECLINED'] },
  ] as const
  it.each(arrivals)('ends the same however receipts come and repeat: $name', ({ words }) => {
    const receipts = fc.subarray<Status>([...words], { minLength: 1 }).chain((some) =>
      fc.tuple(
        fc.constant(some),
        fc
          .array(fc.constantFrom(...some), { maxLength: 6 })
          .chain((more) => fc.shuffledSubarray([...some, ...more], { minLength: some.length + more.length })),
      ),
    )
    const starts = fc.constantFrom(state('QUEUED'), state('PENDING'), UNKNOWN)
    fc.assert(
      fc.property(starts, receipts, (start, [inOrder, shuffled]) => {
        expect(shuffled.reduce(hear, start)).toEqual(inOrder.reduce(hear, start))
      }),
      { numRuns: 1000 },
    )
  })
})

describe('what callers see', () => {
  it.each<[Status, string]>([
    ['REGISTERED', 'QUEUED'],
    ['QUEUED', 'QUEUED'],
    ['PENDING', 'QUEUED'],
    ['ACCEPTED', 'QUEUED'],
    ['SENT', 'SENT'],
    ['SUCCESS', 'DELIVERED'],
    ['DELIVERED', 'DELIVERED'],
    ['ERROR', 'ERROR'],
    ['DECLINED', 'ERROR'],
    ['RECEIVED', 'DELIVERED'],
  ])('%s shows as %s', (status, shown) => {
    expect(responseStatus(status)).toBe(shown)
  })
})

it('takes a group as one conversation and a person as another', () => {
  expect(conversationOf({ groupId: null, contact: '+12025550101' })).toBe('+12025550101')
  expect(conversationOf({ groupId: 'g1', contact: '+12025550101' })).toBe('g1')
})
