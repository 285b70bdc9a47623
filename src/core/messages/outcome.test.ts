import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Line } from '../lines/line.js'
import { afterReceipt } from './after-receipt.js'
import { BLANK_MESSAGE, type Message, OUTCOME_UNKNOWN, type Service } from './message.js'
import {
  type AttemptProgress,
  afterEvidence,
  afterResult,
  type Evidence,
  failMessage,
  type Receipt,
  type SendResult,
} from './outcome.js'
import { backoffMs, MAX_ATTEMPTS } from './retry.js'

const ACCEPTED_AT = 1_700_000_000_000
const WIRE_AT = ACCEPTED_AT + 2000
const NOW = WIRE_AT + 300

const queued: Message = {
  ...BLANK_MESSAGE,
  id: 7,
  handle: 'h',
  accountId: 'a',
  lineId: 'l',
  lineNumber: '+12025550100',
  contact: '+12025550101',
  content: 'Hello',
  createdAt: ACCEPTED_AT,
  updatedAt: ACCEPTED_AT,
  sentAt: ACCEPTED_AT,
  nextActionAt: ACCEPTED_AT,
}
const pending: Message = { ...queued, status: 'PENDING', attempts: 1, nextActionAt: NOW }
const delivered: Message = {
  ...queued,
  status: 'DELIVERED',
  attempts: 1,
  nextActionAt: null,
  wasDowngraded: false,
}
const unknown: Message = failMessage({ ...pending, nextActionAt: null }, NOW - 1, {
  code: 10002,
  message: '',
  reason: OUTCOME_UNKNOWN,
  detail: null,
})

const attempt: AttemptProgress = { n: 1, service: 'iMessage', wireAt: WIRE_AT, endedAt: null, lookups: 0 }
const ALL: { services: readonly Service[] } = { services: ['iMessage', 'RCS', 'SMS'] }
const line: Pick<Line, 'onUnknown' | 'settleMs'> & typeof ALL = { ...ALL, onUnknown: 'hold', settleMs: 5000 }

/** Only what differs from the message before. */
function changes(before: Message, after: Message): Partial<Message> {
  return Object.fromEntries(
    Object.entries(after).filter(([key, value]) => value !== before[key as keyof Message]),
  ) as Partial<Message>
}

describe('afterResult', () => {
  const accepted = (status: 'ACCEPTED' | 'SENT' | 'SUCCESS'): SendResult => ({
    outcome: 'accepted',
    providerId: 'p',
    status,
  })
  const refused: SendResult = { outcome: 'refused', code: '21610', detail: 'blocked' }
  const notOnService: SendResult = { ...refused, tryNextService: true }
  const neverLeft: SendResult = { outcome: 'never-left', code: 'ECONNREFUSED', detail: 'no' }
  const lost: SendResult = { outcome: 'unknown', code: 'timeout', detail: 'no answer' }

  it.each(['ACCEPTED', 'SENT', 'SUCCESS'] as const)('taken as %s: nothing is left to do', (status) => {
    expect(changes(queued, afterResult(queued, attempt, accepted(status), ALL, NOW))).toEqual({
      status,
      attempts: 1,
      wasDowngraded: false,
      sentAt: WIRE_AT,
      updatedAt: NOW,
      nextActionAt: null,
    })
  })

  it('taken by a lesser service: says so', () => {
    const after = afterResult(queued, { ...attempt, service: 'SMS' }, accepted('SENT'), ALL, NOW)
    expect(after).toMatchObject({ service: 'SMS', wasDowngraded: true })
    const only = afterResult(
      queued,
      { ...attempt, service: 'SMS' },
      accepted('SENT'),
      { services: ['SMS'] },
      NOW,
    )
    expect(only).toMatchObject({ service: 'SMS', wasDowngraded: null })
  })

  it('refused: ends with the words of the carrier', () => {
    expect(afterResult(queued, attempt, refused, ALL, NOW)).toMatchObject({
      status: 'ERROR',
      attempts: 1,
      nextActionAt: null,
      updatedAt: NOW,
      error: { code: 10001, reason: 'refused', detail: '21610: blocked' },
    })
  })

  it.each<[Service, Service[], Service | undefined]>([
    ['iMessage', ['iMessage', 'RCS', 'SMS'], 'RCS'],
    ['iMessage', ['iMessage', 'SMS'], 'SMS'],
    ['RCS', ['iMessage', 'RCS', 'SMS'], 'SMS'],
    ['SMS', ['iMessage', 'RCS', 'SMS'], undefined],
    ['iMessage', ['iMessage'], undefined],
  ])(
    'refused because the recipient is not on %s, on a line with %j: next is %s',
    (service, services, next) => {
      const after = afterResult(queued, { ...attempt, service }, notOnService, { services }, NOW)
      if (next)
        expect(changes({ ...queued, service }, after)).toEqual({
          service: next,
          attempts: 1,
          nextActionAt: NOW,
        })
      else expect(after).toMatchObject({ status: 'ERROR', error: { reason: 'refused' }, nextActionAt: null })
    },
  )

  it('in doubt after the carrier accepted it by another service: pending', () => {
    const fallen: Message = { ...queued, status: 'SENT', service: 'SMS', attempts: 1 }
    const after = afterResult(fallen, { ...attempt, n: 2, service: 'SMS' }, lost, ALL, NOW)
    expect(after).toMatchObject({ status: 'PENDING', attempts: 2 })
  })

  it('never left: waits longer each time and keeps its status', () => {
    for (let n = 1; n < MAX_ATTEMPTS; n++) {
      const after = afterResult({ ...queued, attempts: n - 1 }, { ...attempt, n }, neverLeft, ALL, NOW)
      expect(changes(queued, after)).toEqual({ attempts: n, nextActionAt: NOW + backoffMs(n) })
    }
  })

  it('never left: a carrier that names a time gets it', () => {
    const after = afterResult(queued, attempt, { ...neverLeft, retryAfterMs: 7 }, ALL, NOW)
    expect(after.nextActionAt).toBe(NOW + 7)
  })

  it('never left for the last time: ends', () => {
    const after = afterResult(queued, { ...attempt, n: MAX_ATTEMPTS }, neverLeft, ALL, NOW)
    expect(after).toMatchObject({
      status: 'ERROR',
      attempts: MAX_ATTEMPTS,
      nextActionAt: null,
      error: { code: 10001, reason: 'line_unreachable', detail: 'ECONNREFUSED: no' },
    })
  })

  it('unknown: PENDING, and the carrier is asked soon', () => {
    expect(changes(queued, afterResult(queued, attempt, lost, ALL, NOW))).toEqual({
      status: 'PENDING',
      attempts: 1,
      updatedAt: NOW,
      nextActionAt: NOW + 250,
    })
  })

  it.each([refused, notOnService, neverLeft, lost])(
    '$outcome: takes nothing back that an earlier attempt achieved',
    (result) => {
      const after = afterResult(delivered, { ...attempt, n: 2 }, result, ALL, NOW)
      expect(changes(delivered, after)).toEqual({ attempts: 2 })
    },
  )

  it('accepted: does not go back from what a receipt said before', () => {
    const after = afterResult(delivered, attempt, accepted('SENT'), ALL, NOW)
    expect(changes(delivered, after)).toEqual({})
  })

  it('accepted: beats our own "unknown" and clears its error', () => {
    const after = afterResult(unknown, attempt, accepted('SENT'), ALL, NOW)
    expect(after).toMatchObject({ status: 'SENT', error: null, nextActionAt: null })
  })
})

describe('afterEvidence', () => {
  const settledAt = WIRE_AT + line.settleMs
  const ask = (evidence: Evidence, now: number, more: Partial<AttemptProgress & typeof line> = {}) =>
    afterEvidence(pending, { ...attempt, ...more }, evidence, { ...line, ...more }, now)
  const yes: Evidence = { found: true, providerId: 'p', status: 'SENT' }
  const no: Evidence = { found: false }
  const cannotSay: Evidence = { found: undefined }

  it('found: accepted, at any time', () => {
    for (const now of [NOW, settledAt, settledAt + 1e9]) {
      const verdict = ask(yes, now)
      expect(verdict).toMatchObject({ kind: 'accepted', providerId: 'p' })
      expect(verdict.message).toMatchObject({
        status: 'SENT',
        sentAt: WIRE_AT,
        nextActionAt: null,
        error: null,
      })
    }
  })

  it.each([
    ['ERROR', 'undelivered'],
    ['DECLINED', 'declined'],
  ] as const)('found as %s: ends with an error that says so', (status, reason) => {
    const verdict = ask({ ...yes, status }, NOW)
    expect(verdict).toMatchObject({ kind: 'accepted', providerId: 'p' })
    expect(verdict.message).toMatchObject({ status, nextActionAt: null, error: { code: 10001, reason } })
  })

  it.each([
    // "No such message" may be wrong before the settle time: ask again, more and more rarely, and at its end.
    [no, NOW, 0, NOW + 250],
    [no, NOW, 2, NOW + 1000],
    [no, NOW, 20, settledAt],
    [no, settledAt - 1, 0, settledAt],
    // A carrier that cannot say is not asked again before that.
    [cannotSay, NOW, 0, settledAt],
    [cannotSay, settledAt - 1, 5, settledAt],
  ])('%j at %i after %i questions: waits until %i', (evidence, now, lookups, nextActionAt) => {
    const verdict = ask(evidence, now, { lookups })
    expect(verdict.kind).toBe('wait')
    expect(verdict.message).toEqual({ ...pending, nextActionAt })
  })

  it.each([no, cannotSay])('%j long after the claim, but soon after it became unknown: waits', (evidence) => {
    const endedAt = WIRE_AT + 10 * line.settleMs
    const last = endedAt + line.settleMs
    expect(ask(evidence, last - 1, { endedAt })).toMatchObject({
      kind: 'wait',
      message: { nextActionAt: last },
    })
    expect(ask(evidence, last, { endedAt }).kind).not.toBe('wait')
  })

  it('a carrier that says "not yet" is asked for a day from when it became unknown', () => {
    const endedAt = WIRE_AT + 3_600_000
    const notYet: Evidence = { found: undefined, againMs: 60_000 }
    const last = endedAt + 24 * 3_600_000
    expect(ask(notYet, last - 1, { endedAt })).toMatchObject({
      kind: 'wait',
      message: { nextActionAt: last - 1 + 60_000 },
    })
    expect(ask(notYet, last, { endedAt }).kind).toBe('given-up')
  })

  it.each(['hold', 'resend'] as const)('absent after the settle time: it never left (%s)', (onUnknown) => {
    const verdict = ask(no, settledAt, { onUnknown })
    expect(verdict).toEqual({ kind: 'never-left', message: { ...pending, nextActionAt: settledAt } })
  })

  it.each(['hold', 'resend'] as const)(
    'absent after the last attempt: it never left, and that is known (%s)',
    (onUnknown) => {
      const verdict = ask(no, settledAt, { n: MAX_ATTEMPTS, onUnknown })
      expect(verdict.kind).toBe('never-left')
      expect(verdict.message).toMatchObject({
        status: 'ERROR',
        nextActionAt: null,
        error: { code: 10001, reason: 'line_unreachable' },
      })
    },
  )

  it('nobody can say: held as an error that says so', () => {
    const verdict = ask(cannotSay, settledAt)
    expect(verdict.kind).toBe('given-up')
    expect(verdict.message).toMatchObject({
      status: 'ERROR',
      nextActionAt: null,
      error: { code: 10002, reason: OUTCOME_UNKNOWN },
    })
  })

  it('nobody can say, on a line that would rather send twice: sent again, but not for ever', () => {
    expect(ask(cannotSay, settledAt, { onUnknown: 'resend' })).toEqual({
      kind: 'given-up',
      message: { ...pending, nextActionAt: settledAt },
    })
    const last = ask(cannotSay, settledAt, { onUnknown: 'resend', n: MAX_ATTEMPTS })
    expect(last).toMatchObject({
      kind: 'given-up',
      message: { status: 'ERROR', error: { reason: OUTCOME_UNKNOWN } },
    })
  })

  it('always decides or names a later time, and never sends again before the settle time', () => {
    const evidence = fc.constantFrom<Evidence>(yes, no, cannotSay)
    const cases = fc.record({
      n: fc.integer({ min: 1, max: MAX_ATTEMPTS }),
      lookups: fc.nat(40),
      settleMs: fc.nat(600_000),
      onUnknown: fc.constantFrom<Line['onUnknown']>('hold', 'resend'),
    })
    fc.assert(
      fc.property(evidence, cases, fc.nat(1_200_000), (said, more, later) => {
        const now = WIRE_AT + later
        const verdict = ask(said, now, more)
        if (verdict.kind === 'wait') expect(verdict.message.nextActionAt).toBeGreaterThan(now)
        else if (verdict.message.nextActionAt !== null) expect(later).toBeGreaterThanOrEqual(more.settleMs)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('afterReceipt', () => {
  const receipt = (status: Receipt['status'], more: Partial<Receipt> = {}): Receipt => ({
    providerId: 'p',
    status,
    at: NOW,
    ...more,
  })
  const sent: Message = {
    ...queued,
    status: 'SENT',
    attempts: 1,
    sentAt: WIRE_AT,
    wasDowngraded: false,
    nextActionAt: null,
  }

  it.each(['DELIVERED', 'SUCCESS'] as const)('%s moves a sent message on', (status) => {
    expect(changes(sent, afterReceipt(sent, attempt, receipt(status), ALL, NOW)!)).toEqual({
      status,
      updatedAt: NOW,
    })
  })

  it('ends the question of a message whose outcome was unknown', () => {
    const after = afterReceipt(pending, attempt, receipt('DELIVERED'), ALL, NOW)!
    expect(after).toMatchObject({ status: 'DELIVERED', nextActionAt: null, sentAt: WIRE_AT, attempts: 1 })
  })

  it('counts the attempt it proves, when it overtakes the answer to it', () => {
    const after = afterReceipt(queued, attempt, receipt('SENT'), ALL, NOW)!
    expect(after).toMatchObject({ status: 'SENT', attempts: 1, nextActionAt: null })
  })

  it.each([
    ['ERROR', 'undelivered', { code: '30003', detail: 'unreachable' }, '30003: unreachable'],
    ['ERROR', 'undelivered', { code: '30003' }, '30003: '],
    ['ERROR', 'undelivered', { detail: 'unreachable' }, 'unreachable'],
    ['DECLINED', 'declined', {}, null],
  ] as const)('%s ends it (%s)', (status, reason, words, detail) => {
    expect(afterReceipt(sent, attempt, receipt(status, words), ALL, NOW)).toMatchObject({
      status,
      error: { code: 10001, reason, detail },
      nextActionAt: null,
    })
  })

  it.each<[Message, Receipt['status']]>([
    [sent, 'SENT'],
    [sent, 'ACCEPTED'],
    [delivered, 'DELIVERED'],
    [delivered, 'ERROR'],
    [{ ...sent, status: 'SUCCESS' }, 'ERROR'],
    [failMessage(sent, NOW, { code: 10001, message: '', reason: 'refused', detail: null }), 'DELIVERED'],
  ])('is no news (case %#)', (message, status) => {
    expect(afterReceipt(message, attempt, receipt(status), ALL, NOW)).toBeUndefined()
  })

  it.each<[Receipt['status'], string | undefined]>([
    ['ACCEPTED', undefined],
    ['SENT', undefined],
    ['DELIVERED', undefined],
    ['SUCCESS', undefined],
    ['ERROR', 'undelivered'],
    ['DECLINED', 'declined'],
  ])('%s beats our own "unknown"', (status, reason) => {
    const after = afterReceipt(unknown, attempt, receipt(status), ALL, NOW)
    expect(after).toMatchObject({ status, nextActionAt: null })
    expect(after!.error?.reason).toBe(reason)
  })

  const notOnRcs = receipt('ERROR', { code: '63036', detail: 'no RCS', tryNextService: true })
  const RCS_SMS = { services: ['RCS', 'SMS'] as const }
  const byRcs = { ...attempt, service: 'RCS' as const }
  const bySms = { ...attempt, n: 2, service: 'SMS' as const }
  const sentByRcs: Message = { ...sent, service: 'RCS', wasDowngraded: null }
  const fallen: Message = { ...sentByRcs, service: 'SMS', wasDowngraded: true, nextActionAt: NOW }

  it.each<[string, Message]>([
    ['sent', sentByRcs],
    ['accepted', { ...sentByRcs, status: 'ACCEPTED' }],
    ['in doubt', { ...pending, service: 'RCS' }],
    ['still on the wire', { ...queued, service: 'RCS' }],
  ])(
    'that proves that the recipient is not on the service, while %s: the next service is due',
    (_, message) => {
      const after = afterReceipt(message, byRcs, notOnRcs, RCS_SMS, NOW)!
      expect(after).toEqual({
        ...message,
        service: 'SMS',
        wasDowngraded: true,
        attempts: 1,
        nextActionAt: NOW,
      })
    },
  )

  it.each<[string, Message, readonly Service[]]>([
    ['without another service', sentByRcs, ['RCS']],
    ['of a deleted message', { ...sentByRcs, deletedAt: NOW }, ['RCS', 'SMS']],
    ['of a group', { ...sentByRcs, groupId: 'g' }, ['RCS', 'SMS']],
    ['after a reported error', { ...unknown, service: 'RCS' }, ['RCS', 'SMS']],
  ])('that proves that the recipient is not on the service, %s: an error', (_, message, services) => {
    expect(afterReceipt(message, byRcs, notOnRcs, { services }, NOW)).toMatchObject({
      status: 'ERROR',
      nextActionAt: null,
      error: { reason: 'undelivered', detail: '63036: no RCS' },
    })
  })

  it('about an attempt whose message went on to the next service: only a delivery counts', () => {
    const later = { ...fallen, attempts: 2, nextActionAt: null }
    for (const message of [fallen, later]) {
      for (const status of ['ACCEPTED', 'SENT', 'SUCCESS', 'ERROR', 'DECLINED'] as const)
        for (const more of [{}, { tryNextService: true }, { service: 'RCS' as const }])
          expect(afterReceipt(message, byRcs, receipt(status, more), RCS_SMS, NOW)).toBeUndefined()
      const after = afterReceipt(message, byRcs, receipt('DELIVERED'), RCS_SMS, NOW)
      expect(after).toMatchObject({ status: 'DELIVERED', service: 'RCS', nextActionAt: null })
    }
    expect(afterReceipt(later, bySms, receipt('ERROR'), RCS_SMS, NOW)).toMatchObject({ status: 'ERROR' })
  })

  it('about a send for which the carrier itself chose another service counts', () => {
    const chosen = { ...sentByRcs, service: 'SMS' as const, wasDowngraded: true }
    expect(afterReceipt(chosen, byRcs, receipt('ERROR'), RCS_SMS, NOW)).toMatchObject({ status: 'ERROR' })
    expect(afterReceipt(chosen, byRcs, receipt('DELIVERED', { service: 'SMS' }), RCS_SMS, NOW)).toMatchObject(
      {
        status: 'DELIVERED',
        service: 'SMS',
      },
    )
  })

  it('leads to the same record in whatever order receipts come and however often', () => {
    const news: Receipt['status'][] = ['ACCEPTED', 'SENT', 'DELIVERED']
    const orders = fc
      .array(fc.constantFrom(...news), { maxLength: 5 })
      .chain((more) => fc.shuffledSubarray([...news, ...more], { minLength: news.length + more.length }))
    fc.assert(
      fc.property(fc.constantFrom(queued, pending, unknown), orders, (start, order) => {
        const end = order.reduce(
          (message, s) => afterReceipt(message, attempt, receipt(s), ALL, NOW) ?? message,
          start,
        )
        expect(end).toMatchObject({
          status: 'DELIVERED',
          error: null,
          sentAt: WIRE_AT,
          attempts: 1,
          wasDowngraded: false,
          nextActionAt: null,
        })
      }),
    )
  })
})
