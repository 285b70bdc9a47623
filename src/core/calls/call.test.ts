import { describe, expect, it } from 'vitest'
import { AppError } from '../errors.js'
import { afterAction, type Call, type CallAction, type CallSide, endCall } from './call.js'
import { callEvent } from './event.js'

const RINGING: Call = {
  id: 'c1',
  network: 'live',
  providerId: null,
  direction: 'inbound',
  lineId: 'l1',
  lineNumber: '+12025550100',
  accountId: 'a1',
  caller: '+12025550101',
  forwardedTo: '+12025550102',
  state: 'ringing',
  outcome: null,
  voicemail: false,
  sentBy: null,
  createdAt: 1000,
  answeredAt: null,
  endedAt: null,
  dueAt: 31_000,
}
const ANSWERED: Call = { ...RINGING, state: 'answered', answeredAt: 5000, dueAt: null }
const CALLS = {
  ringing: RINGING,
  answered: ANSWERED,
  ended: endCall(RINGING, 'BUSY', 6000),
  turned_away: { ...RINGING, state: 'turned_away', dueAt: null, endedAt: 1000 } as Call,
  /** Its time is up, but nobody has said so yet. */
  overdue: { ...RINGING, dueAt: 9000 },
}

describe('what people do with a call', () => {
  const outcome = (call: Call, side: CallSide, action: CallAction) => {
    try {
      const after = afterAction(call, side, action, 9000)
      return after.outcome ?? after.state
    } catch (error) {
      expect(error).toBeInstanceOf(AppError)
      return (error as AppError).code
    }
  }
  // answer, voicemail, decline, hang up
  it.each([
    ['ringing', 'caller', ['conflict', 'conflict', 'conflict', 'CANCELLED']],
    ['ringing', 'forwarded', ['answered', 'answered', 'BUSY', 'conflict']],
    ['answered', 'caller', ['conflict', 'conflict', 'conflict', 'COMPLETED']],
    ['answered', 'forwarded', ['conflict', 'conflict', 'conflict', 'COMPLETED']],
    ['ended', 'caller', ['conflict', 'conflict', 'conflict', 'conflict']],
    ['ended', 'forwarded', ['conflict', 'conflict', 'conflict', 'conflict']],
    ['turned_away', 'caller', ['conflict', 'conflict', 'conflict', 'conflict']],
    ['turned_away', 'forwarded', ['conflict', 'conflict', 'conflict', 'conflict']],
    ['overdue', 'caller', ['conflict', 'conflict', 'conflict', 'conflict']],
    ['overdue', 'forwarded', ['conflict', 'conflict', 'conflict', 'conflict']],
  ] as const)('%s, by the %s: %j', (state, side, outcomes) => {
    expect(
      (['answer', 'voicemail', 'decline', 'hangup'] as const).map((action) =>
        outcome(CALLS[state], side, action),
      ),
    ).toEqual(outcomes)
  })
})

describe('the event of its end', () => {
  const account = { id: 'a1', email: 'a@example.com' }
  it.each([
    [
      'answered',
      endCall(ANSWERED, 'COMPLETED', 65_999),
      { answered: true, duration: 60, status: 'COMPLETED' },
    ],
    ['hung up at once', endCall(ANSWERED, 'COMPLETED', 5001), { answered: true, duration: 0 }],
    [
      'missed',
      endCall(RINGING, 'NO_ANSWER', 31_000),
      { answered: false, duration: null, status: 'NO_ANSWER' },
    ],
  ])('%s', (_name, call, data) => {
    expect(callEvent(call, undefined, account, 'u1', null, call.endedAt! + 5)).toMatchObject({
      type: 'call.inbound',
      accountId: 'a1',
      subject: 'c1',
      at: call.endedAt! + 5,
      data: { ...data, companyId: 'u1', createdAt: 1000, endedAt: call.endedAt },
    })
  })

  it.each([
    ['telnyx', RINGING, 'telnyx'],
    ['twilio', RINGING, 'twilio'],
    ['smpp', RINGING, 'twilio'],
    ['telnyx', { ...RINGING, direction: 'outbound' as const }, 'twilio'],
  ])('of a line at %s names a provider that clients know', (driver, call, provider) => {
    const ended = endCall(call, 'BUSY', 2000)
    expect(callEvent(ended, driver, account, 'u1', null, 2000).data).toMatchObject({ provider })
  })

  const OUT: Call = {
    ...RINGING,
    direction: 'outbound',
    caller: '+12025550100',
    sentBy: 's1',
  }
  const talk = (action: CallAction) => endCall(afterAction(OUT, 'forwarded', action, 5000), 'COMPLETED', 9000)
  it.each([
    ['connected', talk('answer'), { disposition: 'connected', status: 'COMPLETED', duration: 4 }],
    ['taken by a machine', talk('voicemail'), { disposition: 'voicemail', status: 'COMPLETED', duration: 4 }],
    ['declined', endCall(OUT, 'BUSY', 2000), { disposition: 'not_answered', status: 'BUSY', duration: null }],
  ])('that went out: %s', (_name, call, data) => {
    expect(callEvent(call, undefined, account, 'u1', 'p1', call.endedAt!)).toEqual({
      type: 'call.outbound',
      accountId: 'a1',
      subject: 'c1',
      at: call.endedAt,
      data: {
        callId: 'c1',
        fromNumber: '+12025550100',
        toNumber: '+12025550102',
        direction: 'outbound',
        provider: 'twilio',
        companyId: 'u1',
        contactId: 'p1',
        recordingUrl: null,
        transcript: null,
        metadata: {},
        createdAt: 1000,
        origin: 'DASHBOARD',
        sentBy: 's1',
        ...data,
      },
    })
  })
})
