import { describe, expect, it } from 'vitest'
import { LineFault } from '../../../src/core/lines/fault.js'
import type { Line } from '../../../src/core/lines/line.js'
import { BLANK_MESSAGE, carriedOf } from '../../../src/core/messages/message.js'
import { blueBubbles } from '../../../src/drivers/bluebubbles/bluebubbles.js'
import type { Connection, Outbound } from '../../../src/drivers/contract.js'
import type { HttpAnswer, HttpAsk } from '../../../src/drivers/host.js'
import type { Inbound } from '../../../src/drivers/inbound.js'
import { ANNA, BEN, MAC } from '../../support/drivers/mac-world.js'
import { type Any, mangle, mangleText, type Random, random } from '../../support/drivers/mutations.js'
import { createStubClock, createStubHost } from '../../support/drivers/stub-host.js'

const MUTATIONS = 100_000
const START = Date.UTC(2026, 2, 1)

describe('a server with arbitrary answers', () => {
  const TEXTS = ['Hello', 'Hi there', 'Look', 'Loved “Hello”', '']
  let rowId = 100
  let guids = 0

  const chatOf = (group: boolean) => ({
    originalROWID: 1,
    guid: group ? 'iMessage;+;chat1' : `iMessage;-;${ANNA}`,
    style: group ? 43 : 45,
    chatIdentifier: group ? 'chat1' : ANNA,
    displayName: group ? 'Group' : '',
    participants: [
      { address: ANNA, service: 'iMessage' },
      ...(group ? [{ address: BEN, service: 'iMessage' }] : []),
    ],
  })

  function rowOf(chance: Random, fields: object = {}): Any {
    const kind = chance.below(8)
    return {
      originalROWID: ++rowId,
      guid: `GUID-${++guids}`,
      text: chance.one(TEXTS),
      attributedBody: null,
      handle: { originalROWID: 1, address: ANNA, service: 'iMessage' },
      attachments:
        kind === 1
          ? [{ originalROWID: 1, guid: `AT-${guids}`, mimeType: 'image/jpeg', transferName: 'photo.jpg' }]
          : [],
      subject: null,
      error: 0,
      dateCreated: START + 1000,
      dateRead: null,
      dateDelivered: null,
      isDelivered: false,
      isFromMe: false,
      itemType: kind === 2 ? 1 : 0,
      balloonBundleId: kind === 3 ? 'com.apple.messages.MSMessageExtensionBalloonPlugin:T:com.x' : null,
      associatedMessageGuid: kind === 4 ? 'p:0/GUID-1' : null,
      associatedMessageType: kind === 4 ? 'love' : null,
      expressiveSendStyleId: kind === 5 ? 'com.apple.messages.effect.CKEchoEffect' : null,
      threadOriginatorGuid: kind === 6 ? 'GUID-1' : null,
      threadOriginatorPart: kind === 6 ? '0:0:5' : null,
      partCount: 1,
      chats: [chatOf(kind === 7)],
      ...fields,
    }
  }

  /** A valid answer to the request. */
  function sound(chance: Random, ask: HttpAsk): Any {
    const path = decodeURIComponent(ask.path.replace(/\?.*/, '')).replace(/^\/api\/v\d/, '')
    const ok = (data: unknown, more: object = {}) => ({ status: 200, message: 'Success', data, ...more })
    if (path === '/ping') return ok('pong')
    if (path === '/server/info')
      return ok({
        server_version: '1.9.9',
        private_api: true,
        helper_connected: true,
        detected_imessage: 'a@b.c',
        macos_time_sync: 0,
      })
    if (path === '/icloud/account')
      return ok({ vetted_aliases: [{ Alias: MAC }], aliases: [MAC], active_alias: MAC })
    if (path === '/webhook') return ok([{ id: 1, url: 'http://x', events: ['*'] }])
    if (path === '/message/query') {
      const data = Array.from({ length: chance.below(4) }, () => rowOf(chance))
      return ok(data, { metadata: { total: data.length, offset: 0, limit: 500, count: data.length } })
    }
    if (path === '/chat/query') return ok([chatOf(true), chatOf(false)])
    if (path === '/chat/new') return ok({ ...chatOf(false), messages: [rowOf(chance, { isFromMe: true })] })
    if (/^\/chat\/[^/]+\/message$/.test(path)) return ok([rowOf(chance, { isFromMe: true, text: 'Hello' })])
    if (/^\/chat\/[^/]+$/.test(path)) return ok({ ...chatOf(path.includes(';+;')), guid: path.slice(6) })
    if (path.startsWith('/message/') && ask.method === 'GET')
      return ok(rowOf(chance, { guid: path.slice(9) }))
    if (path.startsWith('/message/')) return ok(rowOf(chance, { isFromMe: true, text: 'Hello' }))
    if (path === '/attachment/upload') return ok({ path: 'u/photo.jpg' })
    if (path.startsWith('/handle/')) return ok({ available: true })
    if (path.startsWith('/icloud/findmy'))
      return ok([
        { handle: ANNA, coordinates: [1, 2], long_address: 'x', last_updated: START, status: 'live' },
      ])
    if (path === '/icloud/contact') return ok({ name: 'Line', avatar: 'eA==' })
    return ok(undefined)
  }

  const EVENTS: ((chance: Random) => unknown)[] = [
    (chance) => ({ type: 'new-message', data: rowOf(chance) }),
    (chance) => ({ type: 'updated-message', data: rowOf(chance, { isFromMe: true }) }),
    () => ({ type: 'typing-indicator', data: { guid: `iMessage;-;${ANNA}`, display: true } }),
    () => ({ type: 'imessage-aliases-removed', data: { aliases: [MAC] } }),
    () => ({ type: 'incoming-facetime', data: '{"caller":"x"}' }),
    () => ({ type: 'new-findmy-location', data: { handle: ANNA } }),
    () => ({ type: 'hello-world', data: null }),
    (chance) => ({ type: 'participant-added', data: rowOf(chance, { itemType: 1 }) }),
  ]

  const line = { id: 'line', number: MAC, createdAt: START } as Line
  const settings = {
    url: 'http://mac.test',
    password: 'canary-password',
    server: 'swift',
    sms: true,
    poll_ms: 20_000,
  }

  function outbound(chance: Random, n: number): Outbound {
    const group = {
      id: 'g',
      accountId: 'a',
      chatId: chance.one([null, 'chat1']),
      members: [ANNA, BEN],
      name: chance.one([null, 'Name']),
    }
    const toGroup = chance.next() < 0.2
    return {
      ...carriedOf(BLANK_MESSAGE),
      ref: `ref-${n}`,
      handle: `handle-${n}`,
      to: toGroup ? '' : `+1415555${String(1000 + chance.below(40))}`,
      service: chance.one(['iMessage', 'SMS'] as const),
      content: chance.one(['Hello', '']),
      mediaUrl: chance.one(['', 'https://example.com/photo.jpg']),
      sendStyle: chance.one(['', 'slam'] as const),
      replyTo: chance.one([null, { providerId: 'GUID-1/2', partIndex: 0 }]),
      group: toGroup ? group : null,
      extra: chance.one([
        null,
        null,
        { requestsLocation: true as const },
        { mediaUrls: ['https://a.test/1.jpg', 'https://a.test/2.jpg'] },
      ]),
    }
  }

  const OUTCOMES = ['accepted', 'refused', 'never-left', 'unknown']

  function check(message: Inbound) {
    const { providerId, from, service, content, sentAt, group, replyTo, extra, fromMe } = message
    const isRight =
      typeof providerId === 'string' &&
      providerId.length > 0 &&
      typeof from === 'string' &&
      from.length > 0 &&
      ['iMessage', 'SMS', 'RCS'].includes(service) &&
      typeof content === 'string' &&
      Number.isSafeInteger(sentAt) &&
      Math.abs(sentAt - START) < 30 * 86_400_000 * 365 &&
      (!group ||
        (typeof group.chatId === 'string' && group.members.every((one) => typeof one === 'string'))) &&
      (!replyTo || (typeof replyTo.providerId === 'string' && Number.isSafeInteger(replyTo.partIndex))) &&
      (!extra?.location || Math.abs(extra.location.latitude) <= 90) &&
      !fromMe
    if (!isRight) throw new Error(`A wrong message: ${JSON.stringify(message)}`)
  }

  it(`${MUTATIONS} mutated answers and calls: no crash, no hang, no wrong message`, {
    timeout: 60_000,
  }, async () => {
    const chance = random(20261115)
    const clock = createStubClock(START + 60_000)
    let mutated = 0
    let isSound = false
    let heard = 0
    function answer(ask: HttpAsk): HttpAnswer | undefined {
      const plain = sound(chance, ask)
      if (isSound) return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(plain)) }
      mutated++
      if (chance.next() < 0.02) return undefined
      const status = chance.next() < 0.2 ? 100 + chance.below(500) : 200
      const failed =
        status >= 400
          ? {
              status,
              message: 'No',
              error: { type: 'x', message: chance.one(['Chat does not exist', 'Transaction timeout', 'x']) },
              data: plain.data,
            }
          : plain
      let body = failed
      for (let n = chance.below(4); n > 0; n--) body = mangle(chance, body)
      const text = JSON.stringify(body) ?? ''
      return { status, headers: {}, body: Buffer.from(chance.next() < 0.1 ? mangleText(chance, text) : text) }
    }
    const stub = createStubHost(clock, answer)
    const unhandled: unknown[] = []
    const onUnhandled = (error: unknown) => unhandled.push(error)
    process.on('unhandledRejection', onUnhandled)
    const connection: Connection = await blueBubbles.connect({ ...line, config: settings }, stub.host)
    const sends: Promise<void>[] = []
    const faults: unknown[] = []
    const ended = { sends: 0, started: 0 }
    const acting = (work: Promise<unknown> | undefined) =>
      void work?.catch((error) => {
        if (!(error instanceof LineFault)) faults.push(error)
      })

    for (let n = 0; mutated < MUTATIONS; n++) {
      const message = outbound(chance, n)
      ended.started++
      sends.push(
        connection.send(message).then((result) => {
          ended.sends++
          if (!OUTCOMES.includes(result.outcome)) faults.push(result)
          if (result.outcome === 'accepted' && typeof result.providerId !== 'string') faults.push(result)
          if (JSON.stringify(result).includes('canary')) faults.push('password shown')
        }),
      )
      if (n % 3 === 0) {
        const evidence = connection.lookup!({
          ...message,
          wireAt: clock.now() - chance.below(3_600_000),
          unknownSince: clock.now() - chance.below(60_000),
        })
        acting(
          evidence.then(
            ({ found }) =>
              void (found === true || found === false || found === undefined || faults.push(found)),
          ),
        )
      }
      for (let calls = 0; calls < 12; calls++) {
        let event: unknown = chance.one(EVENTS)(chance)
        for (let times = chance.below(4); times > 0; times--) event = mangle(chance, event)
        const text = JSON.stringify(event) ?? ''
        const body = Buffer.from(chance.next() < 0.1 ? mangleText(chance, text) : text).toString('base64')
        mutated++
        acting(connection.callback!({ method: 'POST', path: '', headers: {}, body }))
      }
      if (n % 5 === 0) {
        acting(
          connection.react!({
            to: ANNA,
            groupId: null,
            providerId: 'GUID-1',
            partIndex: 0,
            reaction: 'love',
            remove: false,
          }),
        )
        acting(
          connection.setTyping!({
            accountId: 'a',
            to: ANNA,
            typing: chance.next() < 0.5,
            maxDurationMs: 5000,
          }),
        )
        acting(connection.markRead!({ accountId: 'a', to: BEN }))
        acting(connection.availability!({ accountId: 'a', number: chance.one([ANNA, BEN, 'a@b.c']) }))
        acting(connection.locations!({ number: chance.one([null, ANNA]) }))
        acting(connection.profile!({}))
        acting(
          connection.modifyGroup!({
            group: { id: 'g', accountId: 'a', chatId: 'chat1', members: [ANNA], name: null },
            change: 'add',
            number: BEN,
          }),
        )
        acting(
          connection.renameGroup!({
            group: { id: 'g', accountId: 'a', chatId: 'chat1', members: [ANNA], name: null },
            name: 'New',
          }),
        )
      }
      await clock.pass(1000)
      for (const one of stub.received.splice(0)) {
        check(one)
        heard++
      }
      if (faults.length > 0) break
    }
    expect(faults).toEqual([])
    expect(heard).toBeGreaterThan(1000)

    // Once the server answers correctly, the line works again.
    isSound = true
    await clock.pass(3_600_000)
    await Promise.all(sends)
    expect(ended.sends).toBe(ended.started)
    stub.received.length = 0
    stub.told.states.length = 0
    await clock.pass(120_000)
    expect(stub.received.length).toBeGreaterThan(0)
    const result = connection.send({
      ...outbound(random(1), 1e9),
      to: ANNA,
      content: 'Hello',
      mediaUrl: '',
      extra: null,
      group: null,
      replyTo: null,
      service: 'iMessage',
    })
    await clock.pass(30_000)
    expect((await result).outcome).toBe('accepted')
    await connection.close()
    process.off('unhandledRejection', onUnhandled)
    expect(unhandled).toEqual([])
  })
})
