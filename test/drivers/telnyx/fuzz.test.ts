import { sign } from 'node:crypto'
import { expect, it } from 'vitest'
import type { CallNews } from '../../../src/core/calls/carrier-call.js'
import type { Line } from '../../../src/core/lines/line.js'
import { BLANK_MESSAGE, carriedOf } from '../../../src/core/messages/message.js'
import type { Receipt } from '../../../src/core/messages/outcome.js'
import type { Outbound } from '../../../src/drivers/contract.js'
import type { HttpAnswer, HttpAsk } from '../../../src/drivers/host.js'
import type { Inbound } from '../../../src/drivers/inbound.js'
import { telnyx } from '../../../src/drivers/telnyx/telnyx.js'
import { CALL_EVENTS } from '../../../src/drivers/telnyx/voice/calls.js'
import { newKey } from '../../peers/telnyx/webhooks.js'
import { type Any, mangle, mangleText, type Random, random } from '../../support/drivers/mutations.js'
import { createStubClock, createStubHost } from '../../support/drivers/stub-host.js'
import { ANNA, NUMBER } from '../../support/drivers/telnyx-world.js'

const MUTATIONS = 100_000
const START = Date.UTC(2026, 2, 1, 12)
const SETTLE_MS = 120_000
const OUTCOMES = ['accepted', 'refused', 'never-left', 'unknown']
const STATUSES = [
  'queued',
  'sending',
  'sent',
  'delivered',
  'delivery_failed',
  'delivery_unconfirmed',
  'cancelled',
]
const RECEIPTS = ['ACCEPTED', 'SENT', 'DELIVERED', 'ERROR', 'DECLINED']
const OUTCOMES_OF_CALLS = ['COMPLETED', 'NO_ANSWER', 'BUSY', 'FAILED', 'CANCELLED']
const KEY = 'KEY-canary'
const AGENT = 'Agent007'
const OWN = newKey()
const FORGER = newKey()
const config = {
  api_key: KEY,
  public_key: OWN.publicKey,
  api_url: 'http://127.0.0.1:1',
  wire: true,
  rcs_agent_id: AGENT,
}

const OWN_ADDRESSES = [{ phone_number: NUMBER }, { agent_id: AGENT }]

let rows = 0
const id = (n: number) => `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`

function message(chance: Random, now: number, direction: string) {
  const isInbound = direction === 'inbound'
  return {
    id: id(++rows),
    record_type: 'message',
    direction,
    from: isInbound ? { phone_number: ANNA } : chance.one(OWN_ADDRESSES),
    to: [
      { ...(isInbound ? chance.one(OWN_ADDRESSES) : { phone_number: ANNA }), status: chance.one(STATUSES) },
    ],
    text: chance.one(['Hello', '']),
    type: chance.one(['SMS', 'MMS', 'RCS']),
    body: chance.one([
      undefined,
      { text: 'Hello' },
      { user_file: { payload: { file_uri: 'https://files.example.com/b.jpg' } } },
      { location: { latitude: 1, longitude: 2 } },
      { suggestion_response: { text: 'Yes', postback_data: 'eWVz' } },
    ]),
    media: chance.one([[], [], [{ url: 'https://files.example.com/a.jpg' }]]),
    errors: [{ code: '40008', title: 'Undeliverable' }],
    received_at: new Date(now).toISOString(),
    webhook_url: `http://127.0.0.1/callbacks/line/token?ref=ref-${rows}`,
  }
}

function event(chance: Random, now: number) {
  const isInbound = chance.next() < 0.5
  return {
    record_type: 'event',
    id: id(++rows),
    event_type: isInbound
      ? 'message.received'
      : chance.one(['message.sent', 'message.finalized', 'message.read']),
    occurred_at: new Date(now).toISOString(),
    payload: message(chance, now, isInbound ? 'inbound' : 'outbound'),
  }
}

/** An event of one leg of a call to the number, or of another call. */
function callEvent(chance: Random, now: number) {
  const leg = `v3:leg_${chance.below(50)}`
  const line = chance.one([NUMBER, NUMBER, NUMBER, ANNA])
  const state = {
    line,
    leg: chance.one([leg, 'v3:leg_of_caller']),
    from: ANNA,
    at: now - chance.below(60_000),
  }
  return {
    record_type: 'event',
    id: id(++rows),
    event_type: chance.one([...CALL_EVENTS, 'call.cost', 'call.dtmf.received']),
    occurred_at: new Date(now).toISOString(),
    payload: {
      call_control_id: leg,
      call_session_id: id(chance.below(200)),
      direction: chance.one(['incoming', 'incoming', 'outgoing']),
      from: chance.one([ANNA, 'anonymous']),
      to: line,
      client_state: chance.one([null, Buffer.from(JSON.stringify(state)).toString('base64')]),
      hangup_cause: chance.one(['normal_clearing', 'user_busy', 'originator_cancel', 'timeout', 'not_found']),
      hangup_source: chance.one(['caller', 'callee', 'unknown']),
      start_time: new Date(now - chance.below(60_000)).toISOString(),
    },
  }
}

/** A valid answer to the request. */
function sound(chance: Random, now: number, { method, path }: HttpAsk): unknown {
  const some = <T>(make: () => T) => Array.from({ length: chance.below(3) }, make)
  const list = (data: unknown[]) => ({ data, meta: { total_pages: chance.next() < 0.05 ? 2 : 1 } })
  if (path.startsWith('/phone_numbers/messaging'))
    return list([{ phone_number: NUMBER, messaging_profile_id: id(1), features: { sms: {}, mms: {} } }])
  if (path.startsWith('/phone_numbers/voice'))
    return list([{ phone_number: NUMBER, connection_id: id(2), call_forwarding: {} }])
  if (path.startsWith('/call_control_applications'))
    return {
      data: {
        id: id(2),
        application_name: 'Desk',
        webhook_event_url: chance.one([
          '',
          'http://127.0.0.1/callbacks/line/token',
          'https://pbx.example.com',
        ]),
        webhook_api_version: '2',
        outbound: { outbound_voice_profile_id: '1' },
      },
    }
  if (path.startsWith('/calls/')) return { data: { result: 'ok' } }
  if (path.startsWith('/messaging/rcs/capabilities'))
    return { data: { agent_id: AGENT, phone_number: ANNA, features: chance.one([[], ['ACTION_DIAL']]) } }
  if (path.startsWith('/messaging/rcs/agents')) return { data: { agent_id: AGENT, enabled: true } }
  if (path.startsWith('/messaging_profiles'))
    return { data: { id: id(1), enabled: true, webhook_api_version: '2' } }
  if (path.startsWith('/webhook_deliveries'))
    return list(some(() => ({ id: id(++rows), status: 'failed', webhook: someEvent(chance, now) })))
  if (path.startsWith('/messaging_optouts'))
    return list(
      some(() => ({ to: ANNA, messaging_profile_id: id(1), created_at: new Date(now).toISOString() })),
    )
  if (path.startsWith('/detail_records'))
    return list(
      some(() => ({
        uuid: id(++rows),
        cld: ANNA,
        cli: NUMBER,
        direction: 'outbound',
        created_at: new Date(now).toISOString(),
        delivery_status_webhook_url: chance.one([null, 'https://x.example.com/?ref=other']),
      })),
    )
  return { data: message(chance, now, method === 'POST' ? 'outbound' : chance.one(['outbound', 'inbound'])) }
}

const someEvent = (chance: Random, now: number) =>
  chance.next() < 0.3 ? callEvent(chance, now) : event(chance, now)

function isRightCall({ providerId, from, startedAt, answeredAt, end }: CallNews, now: number): boolean {
  const isTime = (at: number) => Number.isSafeInteger(at) && at > 0 && at <= now
  return (
    /^[0-9a-zA-Z-]{8,64}$/.test(providerId) &&
    typeof from === 'string' &&
    [startedAt, answeredAt ?? now, end?.at ?? now].every(isTime) &&
    (!end || OUTCOMES_OF_CALLS.includes(end.outcome))
  )
}

function isRight({ providerId, from, content, sentAt, service, extra }: Inbound): boolean {
  const { latitude = 0, longitude = 0 } = extra?.location ?? {}
  return (
    /^[0-9a-zA-Z-]{8,66}$/.test(providerId ?? '') &&
    typeof from === 'string' &&
    from.length > 0 &&
    typeof content === 'string' &&
    Number.isSafeInteger(sentAt) &&
    (service === 'SMS' || service === 'RCS') &&
    Math.abs(latitude) <= 90 &&
    Math.abs(longitude) <= 180
  )
}

/** A webhook that Telnyx would send, with parts of it wrong and a signature that is right or wrong. */
function webhook(chance: Random, now: number) {
  let data: Any = { data: someEvent(chance, now), meta: { attempt: 1 } }
  for (let n = chance.below(3); n > 0; n--) data = mangle(chance, data)
  let body = JSON.stringify(data) ?? ''
  if (chance.next() < 0.05) body = mangleText(chance, body)
  const stamp = String(Math.floor(now / 1000))
  const isForged = chance.next() < 0.2
  const { privateKey } = isForged ? FORGER : OWN
  const signature = sign(null, Buffer.from(`${stamp}|${body}`), privateKey).toString('base64')
  return {
    isForged,
    request: {
      method: 'POST',
      path: `?ref=ref-${rows}`,
      headers: { 'telnyx-timestamp': stamp, 'telnyx-signature-ed25519': signature },
      body: Buffer.from(body).toString('base64'),
    },
  }
}

it(`${MUTATIONS} mutated answers and webhooks: no crash, no hang, no wrong message`, {
  timeout: 240_000,
}, async () => {
  const chance = random(20261118)
  const clock = createStubClock(START)
  let mutated = 0
  let isSound = false
  function answer(ask: HttpAsk): HttpAnswer | undefined {
    let body = sound(chance, clock.now(), ask)
    const headers = { date: new Date(clock.now()).toUTCString() }
    if (isSound) return { status: 200, headers, body: Buffer.from(JSON.stringify(body)) }
    mutated++
    if (chance.next() < 0.02) return undefined
    const status = chance.next() < 0.2 ? 100 + chance.below(500) : 200
    if (status >= 400)
      body = {
        errors: [{ code: chance.one(['10009', '10011', '40300', '40318', '10007']), detail: `No ${KEY}` }],
      }
    for (let n = chance.below(4); n > 0; n--) body = mangle(chance, body)
    const text = JSON.stringify(body) ?? ''
    return { status, headers, body: Buffer.from(chance.next() < 0.1 ? mangleText(chance, text) : text) }
  }
  const stub = createStubHost(clock, answer)
  const host = { ...stub.host, callbackUrl: () => 'http://127.0.0.1/callbacks/line/token' }
  const faults: unknown[] = []
  const onUnhandled = (error: unknown) => faults.push(error)
  process.on('unhandledRejection', onUnhandled)
  const line = {
    id: 'line',
    number: NUMBER,
    createdAt: START,
    settleMs: SETTLE_MS,
    config,
  } as unknown as Line
  const connection = await telnyx.connect(line, host)
  let open = 0
  const watch = (work: Promise<unknown>, mayFail = false) => {
    open++
    void work.catch((error) => mayFail || faults.push(error)).finally(() => open--)
  }

  for (let n = 0; mutated < MUTATIONS; n++) {
    const outbound: Outbound = {
      ...carriedOf(BLANK_MESSAGE),
      ref: `ref-${n}`,
      handle: `handle-${n}`,
      to: ANNA,
      service: n % 2 === 0 ? 'SMS' : 'RCS',
      content: 'Hello',
      mediaUrl: '',
      sendStyle: '',
      replyTo: null,
      group: null,
      extra: null,
    }
    watch(
      connection.send(outbound).then((result) => {
        if (!OUTCOMES.includes(result.outcome) || JSON.stringify(result).includes('canary'))
          faults.push(result)
      }),
    )
    // Signatures cost most of the time, so there are more questions than webhooks.
    for (let asks = 0; asks < 4; asks++) {
      const since = clock.now() - chance.below(300_000)
      watch(
        connection.lookup!({ ...outbound, wireAt: since, unknownSince: since }).then((evidence) => {
          if (evidence.found === false && clock.now() - since < SETTLE_MS) faults.push(evidence)
        }),
      )
    }
    for (let calls = 0; calls < 2; calls++) {
      const { isForged, request } = webhook(chance, clock.now())
      mutated++
      // A message that cannot be stored is told to Telnyx.
      watch(
        connection.callback!(request).then(({ status }) => {
          if (status !== (isForged ? 403 : 204)) faults.push({ status, request })
        }),
        true,
      )
    }
    if (n % 10 === 0) await clock.pass(15_000)
  }
  expect(stub.received.length).toBeGreaterThan(1000)
  expect(stub.received.filter((one) => !isRight(one))).toEqual([])
  const receipts = stub.told.receipts as Receipt[]
  expect(receipts.length).toBeGreaterThan(1000)
  expect(
    receipts.filter(
      ({ status, providerId = '', at }) =>
        !RECEIPTS.includes(status) || providerId.length < 8 || !Number.isSafeInteger(at),
    ),
  ).toEqual([])
  const calls = stub.told.calls as CallNews[]
  expect(calls.length).toBeGreaterThan(500)
  expect(calls.filter((news) => !isRightCall(news, clock.now()))).toEqual([])
  expect(stub.told.optOuts.filter((number) => number !== ANNA)).toEqual([])

  // It still works.
  isSound = true
  const before = stub.received.length
  await clock.pass(120_000)
  expect(stub.received.length).toBeGreaterThan(before)
  await connection.close()
  await clock.pass(7_200_000)
  process.off('unhandledRejection', onUnhandled)
  expect({ open, faults }).toEqual({ open: 0, faults: [] })
})
