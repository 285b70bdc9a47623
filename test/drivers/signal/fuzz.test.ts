import { expect, it } from 'vitest'
import { driver } from '../../../examples/driver-signal/driver.js'
import type { Line } from '../../../src/core/lines/line.js'
import { BLANK_MESSAGE, carriedOf } from '../../../src/core/messages/message.js'
import type { Group, Outbound } from '../../../src/drivers/contract.js'
import type { HttpAnswer, HttpAsk } from '../../../src/drivers/host.js'
import type { Inbound } from '../../../src/drivers/inbound.js'
import { mangle, mangleText, type Random, random } from '../../support/drivers/mutations.js'
import { createStubClock, createStubHost } from '../../support/drivers/stub-host.js'

const MUTATIONS = 60_000
const START = Date.UTC(2026, 2, 1)
const ADA = '+12025559301'
const OUTCOMES = ['accepted', 'refused', 'never-left', 'unknown']
const config = { url: 'http://signal.test', token: 'canary-token' }
const group: Group = {
  id: 'sb_group_1',
  accountId: 'a',
  chatId: null,
  members: [ADA, '+12025559302'],
  name: null,
}
const line = { id: 'line', number: '+12025550180', config } as unknown as Line

let items = 0

function envelope(chance: Random): object {
  const timestamp = START + ++items
  const data = { timestamp, message: 'Hello', expiresInSeconds: 0 }
  return chance.one([
    { dataMessage: data },
    {
      dataMessage: { ...data, attachments: [{ id: 'cat', contentType: 'image/jpeg', filename: 'cat.jpg' }] },
    },
    { dataMessage: { ...data, quote: { id: START, authorNumber: ADA, text: 'x' } } },
    { dataMessage: { ...data, reaction: { emoji: '👍', isRemove: false, targetSentTimestamp: START } } },
    { dataMessage: { ...data, groupInfo: { groupId: 'aGk=', revision: 1, type: 'DELIVER' } } },
    { editMessage: { targetSentTimestamp: START, dataMessage: data } },
    { receiptMessage: { when: START, isDelivery: true, isRead: true, isViewed: false, timestamps: [START] } },
    { typingMessage: { action: 'STARTED', timestamp } },
    { syncMessage: { sentMessage: { timestamp, message: 'x' } } },
  ])
}

/** A valid answer to the request. */
function sound(chance: Random, { method, path }: HttpAsk): [number, unknown] {
  if (path === '/v1/about') return [200, { mode: 'native', version: '0.98', versions: ['v1'] }]
  if (path === '/v1/accounts') return [200, [line.number]]
  if (path === '/v2/send') return [201, { timestamp: String(START + ++items) }]
  if (path.startsWith('/v1/attachments')) return [200, 'bytes']
  const entry = { id: 'group.YUdrPQ==', name: 'Group', members: [line.number, ADA], pending_invites: [] }
  if (path.startsWith('/v1/groups')) return method === 'GET' ? [200, [entry]] : [201, { id: entry.id }]
  if (!path.startsWith('/v1/receive')) return [204, undefined]
  return [
    200,
    Array.from({ length: chance.below(4) }, () => ({
      account: line.number,
      envelope: { sourceNumber: ADA, sourceUuid: 'b4f0', timestamp: START, ...envelope(chance) },
    })),
  ]
}

const isText = (value: unknown) => typeof value === 'string' && value.length > 0

function isRight({ providerId, from, content, sentAt, service, extra, group, replyTo }: Inbound): boolean {
  const reaction = extra?.reaction
  return (
    isText(providerId) &&
    isText(from) &&
    typeof content === 'string' &&
    Number.isSafeInteger(sentAt) &&
    service === 'RCS' &&
    (!reaction || (isText(reaction.reaction) && isText(reaction.providerId))) &&
    (!replyTo || isText(replyTo.providerId)) &&
    (!group || (isText(group.chatId) && group.members.every(isText)))
  )
}

it(`${MUTATIONS} mutated answers: no crash, no hang, no wrong message`, { timeout: 120_000 }, async () => {
  const chance = random(20261118)
  const clock = createStubClock(START)
  let mutated = 0
  let isSound = false
  function answer(ask: HttpAsk): HttpAnswer | undefined {
    let [status, body] = sound(chance, ask)
    if (isSound) return { status, headers: {}, body: Buffer.from(JSON.stringify(body) ?? '') }
    mutated++
    if (chance.next() < 0.02) return undefined
    if (chance.next() < 0.2) status = chance.one([200, 201, 204, 301, 400, 401, 404, 429, 500, 502])
    for (let n = chance.below(4); n > 0; n--) body = mangle(chance, body)
    const text = JSON.stringify(body) ?? ''
    return { status, headers: {}, body: Buffer.from(chance.next() < 0.1 ? mangleText(chance, text) : text) }
  }
  const stub = createStubHost(clock, answer)
  const faults: unknown[] = []
  const onUnhandled = (error: unknown) => faults.push(error)
  process.on('unhandledRejection', onUnhandled)
  const connection = await driver.connect(line, stub.host)
  let open = 0
  const watch = (work: Promise<unknown>, mayFail = false) => {
    open++
    void work.catch((error) => (mayFail && error.code ? undefined : faults.push(error))).finally(() => open--)
  }

  for (let n = 0; mutated < MUTATIONS; n++) {
    const message: Outbound = {
      ...carriedOf(BLANK_MESSAGE),
      ref: `ref-${n}`,
      handle: `handle-${n}`,
      to: ADA,
      service: 'RCS',
      content: 'Hello',
      mediaUrl: n % 5 === 0 ? 'http://files.test/cat.jpg' : '',
      sendStyle: '',
      replyTo: n % 7 === 0 ? { providerId: 'b4f0/1', partIndex: 0 } : null,
      group: n % 3 === 0 ? group : null,
      extra: null,
    }
    watch(
      connection.send(message).then((result) => {
        if (!OUTCOMES.includes(result.outcome) || JSON.stringify(result).includes('canary'))
          faults.push(result)
        if (result.outcome === 'accepted' && !isText(result.providerId)) faults.push(result)
      }),
    )
    watch(
      connection.setTyping!({ accountId: 'a', to: ADA, typing: n % 2 === 0, maxDurationMs: 20_000 }),
      true,
    )
    watch(connection.markRead!({ accountId: 'a', to: ADA }), true)
    watch(connection.modifyGroup!({ group, change: 'add', number: ADA }), true)
    await clock.pass(3000)
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
