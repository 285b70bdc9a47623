import { describe, expect, it } from 'vitest'
import { BLANK_MESSAGE, type Message } from '../../messages/message.js'
import type { AttemptFacts, DeliveryFacts, MessageFacts } from './facts.js'
import { tellStory } from './why.js'

const T = Date.parse('2026-03-01T12:00:00.000Z')

const message = (fields: Partial<Message> = {}): Message => ({
  ...BLANK_MESSAGE,
  id: 7,
  handle: 'H',
  accountId: 'A',
  lineId: 'L',
  lineNumber: '+12025550100',
  contact: '+12025550111',
  content: 'Hello',
  createdAt: T,
  updatedAt: T,
  sentAt: T,
  nextActionAt: T,
  ...fields,
})

const attempt = (fields: Partial<AttemptFacts> = {}): AttemptFacts => ({
  n: 1,
  service: 'iMessage',
  state: 'accepted',
  wireAt: T + 10,
  endedAt: T + 20,
  lookups: 0,
  code: null,
  detail: null,
  ...fields,
})

const delivery = (fields: Partial<DeliveryFacts> = {}): DeliveryFacts => ({
  id: 3,
  type: 'outbound',
  url: 'https://hooks.example/out',
  eventType: 'message.updated',
  state: 'delivered',
  attempts: 1,
  nextAt: null,
  httpStatus: 200,
  reason: null,
  createdAt: T + 30,
  finishedAt: T + 40,
  ...fields,
})

const ONLINE: MessageFacts['line'] = {
  state: 'ONLINE',
  detail: null,
  since: T,
  blockedAt: null,
  pace: 10,
  paceUnit: 'second',
  isAtPace: false,
  dailyLimit: 0,
  isShared: false,
  isAtDailyLimit: false,
}

const facts = (fields: Partial<MessageFacts> = {}): MessageFacts => ({
  now: T + 1000,
  message: message(),
  attempts: [],
  events: [],
  line: ONLINE,
  queue: { inConversation: 0, firstHandle: null, onLine: 0 },
  heard: null,
  hold: null,
  isInDoubt: false,
  phone: null,
  isMediaUnchecked: false,
  copy: null,
  deliveries: [],
  ...fields,
})

const ended = (status: Message['status'], fields: Partial<Message> = {}) =>
  message({ status, nextActionAt: null, updatedAt: T + 20, attempts: 1, ...fields })
const failing = (reason: string, detail: string | null = null) =>
  ended('ERROR', { error: { code: 10001, message: 'It went wrong', reason, detail } })
const behind = { inConversation: 2, firstHandle: 'G', onLine: 5 }
const blocked = { ...ONLINE, blockedAt: T + 15 }

describe('the verdict', () => {
  it.each<[string, Partial<MessageFacts>]>([
    ['queued', {}],
    ['queued_behind', { queue: behind }],
    ['waiting_for_pace', { line: { ...ONLINE, isAtPace: true } }],
    ['daily_limit', { line: { ...ONLINE, isAtPace: true, dailyLimit: 5, isAtDailyLimit: true } }],
    // Of several causes, the one without whose end nothing moves.
    ['line_offline', { line: { ...ONLINE, state: 'OFFLINE', isAtPace: true }, queue: behind }],
    ['line_offline', { line: { ...ONLINE, state: null } }],
    ['queued', { line: { ...ONLINE, state: 'DEGRADED' } }],
    ['line_blocked', { line: { ...blocked, state: 'OFFLINE' } }],
    ['conversation_held', { hold: { until: T + 9000, alternations: 6 }, queue: behind }],
    ['held_after_restore', { isInDoubt: true, queue: behind }],
    ['scheduled', { message: message({ status: 'REGISTERED', nextActionAt: T + 9000 }) }],
    [
      'retrying',
      { message: message({ nextActionAt: T + 9000 }), attempts: [attempt({ state: 'never_left' })] },
    ],
    ['on_wire', { attempts: [attempt({ state: 'on_wire', endedAt: null })] }],
    [
      'pending_lookup',
      { message: message({ status: 'PENDING' }), attempts: [attempt({ state: 'unknown' })] },
    ],
    // The carrier does not have it: it waits like any other.
    ['queued', { message: message({ status: 'PENDING' }), attempts: [attempt({ state: 'never_left' })] }],
    ['sent', { message: ended('ACCEPTED') }],
    ['sent', { message: ended('SENT') }],
    ['sent_no_receipts', { message: ended('SENT', { service: 'SMS' }) }],
    ['sent_no_receipts', { message: ended('SENT'), now: T + 60_000 }],
    ['phone_off', { message: ended('SENT'), phone: { power: false } }],
    ['sent', { message: ended('SENT'), phone: { power: true } }],
    ['delivered', { message: ended('DELIVERED'), phone: { power: false } }],
    ['delivered', { message: ended('SUCCESS') }],
    ['opted_out', { message: failing('opted_out') }],
    ['refused', { message: failing('refused', 'x: no'), attempts: [attempt({ state: 'refused' })] }],
    [
      'line_blocked',
      { message: failing('refused'), attempts: [attempt({ state: 'refused' })], line: blocked },
    ],
    [
      'refused',
      { message: failing('refused'), attempts: [attempt()], line: { ...ONLINE, blockedAt: T + 5 } },
    ],
    ['line_blocked', { message: failing('line_blocked') }],
    ['line_removed', { message: failing('line_removed') }],
    ['unreachable', { message: failing('line_unreachable') }],
    ['not_imessage', { message: failing('not_imessage') }],
    ['outcome_unknown', { message: failing('outcome_unknown') }],
    ['undelivered', { message: failing('undelivered') }],
    ['undelivered', { message: { ...failing('declined'), status: 'DECLINED' } }],
    ['conversation_dropped', { message: failing('conversation_held') }],
    ['failed', { message: failing('something_new') }],
    ['received', { message: ended('RECEIVED', { isOutbound: false }) }],
  ])('%s %#', (verdict, fields) => {
    const story = tellStory(facts(fields))
    expect(story.verdict).toBe(verdict)
    for (const text of [story.summary, story.nextStep, ...story.steps.map((step) => step.detail)])
      expect(text).toMatch(/^\S.*[.)]$/)
    expect(`${story.summary} ${story.nextStep}`).not.toMatch(/undefined|null|NaN|\.\.| {2}/)
    const waits = story.steps.filter((step) => step.what === 'waits')
    expect(waits).toHaveLength((fields.message ?? message()).nextActionAt === null ? 0 : 1)
  })

  it('says when nobody else waits and when somebody does', () => {
    expect(tellStory(facts({ queue: behind }))).toMatchObject({
      summary: 'Messages of a conversation are sent one after the other. 2 messages are ahead of this one.',
      nextStep: 'Check the first of them: G.',
    })
    expect(tellStory(facts({ queue: { ...behind, firstHandle: null } })).nextStep).toBe(
      'Wait until they are sent.',
    )
  })
})

describe('the steps', () => {
  it('are in the order of time, the cause before what it led to', () => {
    const event = (seq: number, type: string, subject: string, at: number, data: object) =>
      ({ seq, type, subject, at, data }) as MessageFacts['events'][number]
    const story = tellStory(
      facts({
        message: ended('SENT', { service: 'SMS', wasDowngraded: true, createdAt: T }),
        attempts: [
          attempt({ state: 'refused', code: 'c.none', detail: 'Not on iMessage.', wireAt: T + 2000 }),
          attempt({ n: 2, service: 'SMS', wireAt: T + 2010 }),
        ],
        events: [
          event(1, 'line.status.changed', 'L', T - 1, { status: 'OFFLINE' }),
          event(2, 'message.created', 'H', T, { status: 'QUEUED', service: 'iMessage' }),
          event(3, 'line.status.changed', 'L', T + 5, { status: 'ONLINE' }),
          event(4, 'conversation.held', '+12025550111', T + 6, { lineNumber: '+12025550199', until: T }),
          event(5, 'message.updated', 'H', T + 2011, { status: 'SENT', service: 'SMS' }),
          event(6, 'message.read', 'H', T + 4000, { readAt: T + 3000 }),
          event(7, 'line.status.changed', 'L', T + 5000, { status: 'OFFLINE' }),
        ],
        deliveries: [delivery({ finishedAt: T + 2500 })],
        now: T + 6000,
      }),
    )
    expect(story.steps.map((step) => [step.at - T, step.what, step.detail])).toEqual([
      [0, 'accepted', 'Accepted for the line +12025550100, to +12025550111.'],
      [5, 'line', 'The line became ONLINE.'],
      [2000, 'service', 'iMessage was chosen.'],
      [
        2000,
        'attempt',
        'Attempt 1 by iMessage after 2.0 s in the queue: the carrier refused it (c.none: Not on iMessage).',
      ],
      [2010, 'service', 'The recipient is not on iMessage: the next attempt uses SMS.'],
      [2010, 'attempt', 'Attempt 2 by SMS: the carrier accepted it.'],
      [2011, 'status', 'SENT by SMS.'],
      [
        2500,
        'webhook',
        'outbound to https://hooks.example/out about message.updated: delivered; posted once, the answer was 200.',
      ],
      [3000, 'read', 'The recipient read it.'],
    ])
  })

  it('come from the message itself when the log is gone', () => {
    const { steps } = tellStory(facts({ message: failing('refused', 'x: no'), attempts: [attempt()] }))
    expect(steps.map((step) => step.what)).toEqual(['accepted', 'service', 'attempt', 'status'])
    expect(steps.at(-1)!.detail).toBe('ERROR 10001, refused: It went wrong (x: no).')
  })
})

describe('webhooks', () => {
  it.each<[Partial<DeliveryFacts>, string, RegExp]>([
    [{}, 'Nothing to do.', /delivered; posted once, the answer was 200\.$/],
    [{ url: null }, 'Nothing to do.', /^outbound about message\.updated: delivered/],
    [
      { state: 'failed', attempts: 4, httpStatus: 500 },
      'Fix the webhook receiver, then replay the delivery: POST /v3/webhook-deliveries/3/replay.',
      /failed; posted 4 times, the answer was 500\.$/,
    ],
    [
      { state: 'failed', httpStatus: null, reason: 'The name could not be found' },
      'Fix the webhook receiver, then replay the delivery: POST /v3/webhook-deliveries/3/replay.',
      /failed; posted once, The name could not be found\.$/,
    ],
    [
      { state: 'failed', httpStatus: 410 },
      'The receiver answered 410, so the webhook was removed. Add it again if that was a mistake.',
      /the answer was 410\.$/,
    ],
    [
      { state: 'pending', attempts: 2, httpStatus: 503, nextAt: T + 9000, finishedAt: null },
      'Fix the webhook receiver. Trunkline retries the delivery automatically.',
      /posted 2 times, the answer was 503; next attempt at 2026-03-01T12:00:09\.000Z\.$/,
    ],
    [
      { state: 'pending', attempts: 0, httpStatus: null, nextAt: T + 9000, finishedAt: null },
      'Nothing to do.',
      /not posted yet; next attempt at/,
    ],
    [
      { state: 'canceled', attempts: 0, httpStatus: null, reason: 'The webhook was removed' },
      'Add the webhook again if you still want its deliveries.',
      /canceled; posted 0 times, The webhook was removed\.$/,
    ],
  ])('%#', (fields, nextStep, detail) => {
    const story = tellStory(facts({ message: ended('DELIVERED'), deliveries: [delivery(fields)] }))
    expect(story).toMatchObject({ verdict: 'delivered', nextStep })
    expect(story.steps.find((step) => step.what === 'webhook')!.detail).toMatch(detail)
  })
})
