import { createHmac } from 'node:crypto'
import { expect, it } from 'vitest'
import type { CallNews } from '../../../src/core/calls/carrier-call.js'
import type { Line } from '../../../src/core/lines/line.js'
import { BLANK_MESSAGE, carriedOf } from '../../../src/core/messages/message.js'
import type { Receipt } from '../../../src/core/messages/outcome.js'
import type { Outbound } from '../../../src/drivers/contract.js'
import type { HttpAnswer, HttpAsk } from '../../../src/drivers/host.js'
import type { Inbound } from '../../../src/drivers/inbound.js'
import { twilio } from '../../../src/drivers/twilio/twilio.js'
import { dialIn } from '../../peers/twilio/calls.js'
import { type Any, mangle, mangleText, type Random, random } from '../../support/drivers/mutations.js'
import { createStubClock, createStubHost } from '../../support/drivers/stub-host.js'
import { ANNA, NUMBER } from '../../support/drivers/twilio-world.js'

const MUTATIONS = 100_000
const START = Date.UTC(2026, 2, 1, 12)
const OUTCOMES = ['accepted', 'refused', 'never-left', 'unknown']
const STATUSES = ['queued', 'sending', 'sent', 'delivered', 'undelivered', 'failed', 'canceled', 'read']
const CALL_STATUSES = ['ringing', 'in-progress', 'completed', 'busy', 'no-answer', 'failed', 'canceled']
const CALL_PATHS = ['/voice', '/voice/dial', '/voice/leg', '/voice/status']
const RECEIPTS = ['ACCEPTED', 'SENT', 'DELIVERED', 'ERROR', 'DECLINED']
const ACCOUNT = `AC${'a'.repeat(32)}`
const TOKEN = 'canary-token'
const config = { account_sid: ACCOUNT, auth_token: TOKEN, api_url: 'http://127.0.0.1:1', wire: true }

let rows = 0
const sid = (prefix: string, n: number) => prefix + n.toString(16).padStart(32, '0')

/** A valid answer to the request. */
function sound(chance: Random, now: number, { method, path }: HttpAsk): unknown {
  const message = (direction: string) => ({
    sid: sid(chance.one(['SM', 'MM']), ++rows),
    direction,
    from: direction === 'inbound' ? ANNA : NUMBER,
    to: direction === 'inbound' ? NUMBER : ANNA,
    body: 'Hello',
    num_media: chance.one(['0', '0', '1']),
    status: chance.one(STATUSES),
    error_code: chance.one([null, 30003]),
    date_created: new Date(now).toUTCString(),
    date_sent: new Date(now).toUTCString(),
  })
  if (path.includes('/IncomingPhoneNumbers'))
    return {
      incoming_phone_numbers: [
        {
          sid: sid('PN', 1),
          phone_number: NUMBER,
          sms_url: '',
          voice_url: '',
          capabilities: { sms: true, mms: true, voice: true },
        },
      ],
    }
  if (path.includes('/Calls.json')) {
    const isLeg = path.includes('ParentCallSid')
    const call = () => ({
      sid: sid('CA', ++rows),
      direction: isLeg ? 'outbound-dial' : 'inbound',
      from: ANNA,
      to: NUMBER,
      status: chance.one(CALL_STATUSES),
      start_time: new Date(now).toUTCString(),
      end_time: chance.one([null, new Date(now + 5000).toUTCString()]),
      duration: chance.one([null, '5']),
    })
    return { calls: Array.from({ length: chance.below(3) }, call), next_page_uri: null }
  }
  if (path.includes('/Media.json'))
    return { media_list: [{ sid: sid('ME', rows), content_type: 'image/jpeg' }] }
  if (path.includes('/Media/')) return 'bytes'
  if (method === 'POST') return message('outbound-api')
  if (!path.includes('Messages.json')) return message('outbound-api')
  const direction = path.includes('From=') ? 'outbound-api' : 'inbound'
  return {
    messages: Array.from({ length: chance.below(4) }, () => message(direction)),
    next_page_uri: chance.next() < 0.05 ? `/2010-04-01/Accounts/${ACCOUNT}/Messages.json?Page=1` : null,
  }
}

function isRight({ providerId, from, content, sentAt, service }: Inbound): boolean {
  return (
    /^[SM]M[0-9a-f]{32}(-\d)?$/.test(providerId ?? '') &&
    typeof from === 'string' &&
    from.length > 0 &&
    typeof content === 'string' &&
    Number.isSafeInteger(sentAt) &&
    service === 'SMS'
  )
}

function isRightCall({ providerId, from, startedAt, answeredAt = startedAt, end }: CallNews): boolean {
  return (
    /^CA[0-9a-f]{32}$/.test(providerId) &&
    typeof from === 'string' &&
    [startedAt, answeredAt, end?.at ?? startedAt].every(Number.isSafeInteger) &&
    ['COMPLETED', 'BUSY', 'NO_ANSWER', 'FAILED', 'CANCELLED'].includes(end?.outcome ?? 'COMPLETED')
  )
}

/** Whether Twilio can follow an answer to a call. */
function isTwiml(body: unknown): boolean {
  try {
    dialIn(String(body))
    return true
  } catch {
    return false
  }
}

/** Parameters of a webhook about a call. */
function callParams(chance: Random): Any {
  return {
    AccountSid: ACCOUNT,
    CallSid: sid('CA', ++rows),
    ParentCallSid: sid('CA', rows),
    From: ANNA,
    To: NUMBER,
    CallStatus: chance.one(CALL_STATUSES),
    DialCallStatus: chance.one(CALL_STATUSES),
    DialCallDuration: '5',
    CallDuration: '5',
  }
}

/** A webhook that Twilio would send, with one part of it wrong and a signature that is right or wrong. */
function webhook(chance: Random, isStatus: boolean) {
  let params: Any = {
    AccountSid: ACCOUNT,
    MessageSid: sid('SM', ++rows),
    From: isStatus ? NUMBER : ANNA,
    To: isStatus ? ANNA : NUMBER,
    ...(isStatus
      ? { MessageStatus: chance.one(STATUSES), ErrorCode: '30003' }
      : { Body: 'Hello', NumMedia: chance.one(['0', '1']), MediaUrl0: `https://x/${sid('ME', rows)}` }),
  }
  const isCall = chance.next() < 0.3
  if (isCall) params = callParams(chance)
  for (let n = chance.below(3); n > 0; n--) params = mangle(chance, params)
  const form = new URLSearchParams()
  for (const [name, value] of Object.entries(Object(params)))
    form.append(name, `${JSON.stringify(value)}`.replace(/^"|"$/g, ''))
  const ofMessage = isStatus ? `/status?ref=ref-${rows}` : ''
  const path = isCall ? chance.one(CALL_PATHS) : ofMessage
  const text = [...form].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => name + value)
  const signed = `http://127.0.0.1/callbacks/line/token${path}${text.join('')}`
  const isForged = chance.next() < 0.2
  const signature = createHmac('sha1', isForged ? 'forged' : TOKEN)
    .update(signed)
    .digest('base64')
  return {
    isForged,
    request: {
      method: 'POST',
      path,
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-twilio-signature': signature },
      body: Buffer.from(form.toString()).toString('base64'),
    },
  }
}

it(`${MUTATIONS} mutated answers and webhooks: no crash, no hang, no wrong message`, {
  timeout: 120_000,
}, async () => {
  const chance = random(20261118)
  const clock = createStubClock(START)
  let mutated = 0
  let isSound = false
  function answer(ask: HttpAsk): HttpAnswer | undefined {
    let body = sound(chance, clock.now(), ask)
    const headers = { date: new Date(clock.now()).toUTCString() }
    const usual = ask.method === 'POST' ? 201 : 200
    if (isSound) return { status: 200, headers, body: Buffer.from(JSON.stringify(body)) }
    mutated++
    if (chance.next() < 0.02) return undefined
    const status = chance.next() < 0.2 ? 100 + chance.below(500) : usual
    if (status >= 400)
      body = { code: chance.one([20003, 20429, 21211, 21610, 21611, 20500]), message: `No ${TOKEN}` }
    for (let n = chance.below(4); n > 0; n--) body = mangle(chance, body)
    const text = JSON.stringify(body) ?? ''
    return { status, headers, body: Buffer.from(chance.next() < 0.1 ? mangleText(chance, text) : text) }
  }
  const stub = createStubHost(clock, answer)
  const host = { ...stub.host, callbackUrl: () => 'http://127.0.0.1/callbacks/line/token' }
  const faults: unknown[] = []
  const onUnhandled = (error: unknown) => faults.push(error)
  process.on('unhandledRejection', onUnhandled)
  const line = { id: 'line', number: NUMBER, createdAt: START, settleMs: 120_000, config } as unknown as Line
  const connection = await twilio.connect(line, host)
  let open = 0
  const watch = (work: Promise<unknown>, mayFail = false) => {
    open++
    void work.catch((error) => mayFail || faults.push(error)).finally(() => open--)
  }

  for (let n = 0; mutated < MUTATIONS; n++) {
    const message: Outbound = {
      ...carriedOf(BLANK_MESSAGE),
      ref: `ref-${n}`,
      handle: `handle-${n}`,
      to: ANNA,
      service: 'SMS',
      content: 'Hello',
      mediaUrl: '',
      sendStyle: '',
      replyTo: null,
      group: null,
      extra: null,
    }
    watch(
      connection.send(message).then((result) => {
        if (!OUTCOMES.includes(result.outcome) || JSON.stringify(result).includes('canary'))
          faults.push(result)
      }),
    )
    const since = clock.now() - chance.below(300_000)
    watch(
      connection.lookup!({ ...message, wireAt: since, unknownSince: since }).then((evidence) => {
        if (evidence.found === false && clock.now() - since < 120_000) faults.push(evidence)
      }),
    )
    for (let calls = 0; calls < 8; calls++) {
      const { isForged, request } = webhook(chance, chance.next() < 0.5)
      if (chance.next() < 0.05)
        request.body = Buffer.from(mangleText(chance, request.body)).toString('base64')
      mutated++
      // A message that cannot be stored is told to Twilio.
      watch(
        connection.callback!(request).then(({ status, body }) => {
          if (isForged && status !== 403) faults.push({ status, request })
          if (request.path === '/voice' && status === 200 && !isTwiml(body)) faults.push({ body, request })
        }),
        true,
      )
    }
    if (n % 10 === 0) await clock.pass(15_000)
  }
  expect(stub.received.length).toBeGreaterThan(1000)
  expect(stub.received.filter((message) => !isRight(message))).toEqual([])
  const receipts = stub.told.receipts as Receipt[]
  expect(receipts.length).toBeGreaterThan(1000)
  expect(
    receipts.filter(
      ({ status, providerId = '' }) => !RECEIPTS.includes(status) || !/^[SM]M/.test(providerId),
    ),
  ).toEqual([])
  const calls = stub.told.calls as CallNews[]
  expect(calls.length).toBeGreaterThan(1000)
  expect(calls.filter((call) => !isRightCall(call))).toEqual([])

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
