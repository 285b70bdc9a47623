import { expect, it } from 'vitest'
import type { Line } from '../../../src/core/lines/line.js'
import { BLANK_MESSAGE, carriedOf } from '../../../src/core/messages/message.js'
import type { Outbound } from '../../../src/drivers/contract.js'
import type { HttpAnswer, HttpAsk } from '../../../src/drivers/host.js'
import type { Inbound } from '../../../src/drivers/inbound.js'
import { smsGate } from '../../../src/drivers/smsgate/smsgate.js'
import { mangle, mangleText, type Random, random } from '../../support/drivers/mutations.js'
import { ANNA, SIM } from '../../support/drivers/phone-world.js'
import { createStubClock, createStubHost } from '../../support/drivers/stub-host.js'

const MUTATIONS = 100_000
const START = Date.UTC(2026, 2, 1)
const OUTCOMES = ['accepted', 'refused', 'never-left', 'unknown']
const STATES = ['Pending', 'Processed', 'Sent', 'Delivered', 'Failed', 'Cancelled']
const config = { url: 'http://phone.test', username: 'sms', password: 'canary-password' }

let rows = 0

/** A valid answer to the request. */
function sound(chance: Random, { method, path }: HttpAsk): unknown {
  if (path === '/health') return { status: 'pass', version: '1', checks: {} }
  if (path === '/settings')
    return { messages: { processing_order: 'FIFO' }, webhooks: { internet_required: false } }
  if (path === '/device') return [{ id: 'x', simCards: [{ simNumber: 1, phoneNumber: null }] }]
  if (path === '/webhooks') return []
  if (path.startsWith('/inbox/')) return 'bytes'
  if (path.startsWith('/inbox'))
    return Array.from({ length: chance.below(4) }, () => ({
      id: `text:${++rows}`,
      type: chance.one(['SMS', 'SMS', 'MMS_DOWNLOADED', 'MMS', 'DATA_SMS']),
      sender: chance.one([ANNA, '2025558201', 'Bank']),
      simNumber: 1,
      contentPreview: 'Hello',
      createdAt: new Date(START + rows).toISOString(),
      attachments: [{ partId: 1, name: 'cat.jpg', contentType: 'image/jpeg', size: 4 }],
    }))
  const id = method === 'POST' ? 'handle' : path.slice('/messages/'.length)
  return {
    id,
    state: chance.one(STATES),
    recipients: [{ phoneNumber: ANNA, state: 'Sent', error: 'NO_SERVICE' }],
  }
}

function isRight({ providerId, from, content, sentAt, service }: Inbound): boolean {
  return (
    typeof providerId === 'string' &&
    providerId.length > 0 &&
    typeof from === 'string' &&
    from.length > 0 &&
    typeof content === 'string' &&
    Number.isSafeInteger(sentAt) &&
    service === 'SMS'
  )
}

it(`${MUTATIONS} mutated answers and calls: no crash, no hang, no wrong message`, {
  timeout: 60_000,
}, async () => {
  const chance = random(20261118)
  const clock = createStubClock(START)
  let mutated = 0
  let isSound = false
  function answer(ask: HttpAsk): HttpAnswer | undefined {
    let body = sound(chance, ask)
    const headers = { 'x-total-count': String(rows) }
    if (isSound) return { status: 200, headers, body: Buffer.from(JSON.stringify(body)) }
    mutated++
    if (chance.next() < 0.02) return undefined
    const status = chance.next() < 0.2 ? 100 + chance.below(500) : 200
    for (let n = chance.below(4); n > 0; n--) body = mangle(chance, body)
    const text = JSON.stringify(body) ?? ''
    return { status, headers, body: Buffer.from(chance.next() < 0.1 ? mangleText(chance, text) : text) }
  }
  const stub = createStubHost(clock, answer)
  const faults: unknown[] = []
  const onUnhandled = (error: unknown) => faults.push(error)
  process.on('unhandledRejection', onUnhandled)
  const line = { id: 'line', number: SIM, createdAt: START, config } as unknown as Line
  const connection = await smsGate.connect(line, stub.host)
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
    watch(connection.lookup!({ ...message, wireAt: clock.now(), unknownSince: clock.now() }))
    for (let calls = 0; calls < 8; calls++) {
      let event: unknown = {
        event: chance.one(['sms:received', 'sms:sent']),
        payload: { messageId: `handle-${n}` },
      }
      for (let times = chance.below(4); times > 0; times--) event = mangle(chance, event)
      const text = JSON.stringify(event) ?? ''
      const body = Buffer.from(chance.next() < 0.1 ? mangleText(chance, text) : text).toString('base64')
      mutated++
      // A read that fails is told to the phone, which calls again.
      watch(connection.callback!({ method: 'POST', path: '', headers: {}, body }), true)
    }
    if (n % 10 === 0) await clock.pass(5000)
  }
  expect(stub.received.length).toBeGreaterThan(300)
  expect(stub.received.filter((message) => !isRight(message))).toEqual([])

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
