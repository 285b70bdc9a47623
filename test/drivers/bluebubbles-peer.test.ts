import { afterEach, describe, expect, it } from 'vitest'
import type { BlueBubbles } from '../peers/bluebubbles/bluebubbles.js'
import { ask, createMacs, eventually, fetched, form, manualClock } from '../support/bluebubbles.js'

const ALICE = '+15550111111'
const BOB = '+15550122222'
const CAROL = '+15550133333'
const PA = 'private-api'
const chatOf = (address: string) => `iMessage;-;${address}`
const at = (guid: string) => encodeURIComponent(guid)

const macs = createMacs()
const { open } = macs
afterEach(macs.close)

const FULL =
  `originalROWID guid text attributedBody handle handleId otherHandle attachments subject error dateCreated
  dateRead dateDelivered isDelivered isFromMe hasDdResults isArchived itemType groupTitle groupActionType
  balloonBundleId associatedMessageGuid associatedMessageType expressiveSendStyleId threadOriginatorGuid
  hasPayloadData country isDelayed isAutoReply isSystemMessage isServiceMessage isForward threadOriginatorPart
  isCorrupt datePlayed cacheRoomnames isSpam isExpired timeExpressiveSendStyleId isAudioMessage replyToGuid
  shareStatus shareDirection wasDeliveredQuietly didNotifyRecipient chats messageSummaryInfo payloadData dateEdited
  dateRetracted partCount`.split(/\s+/)
const CHAT = `originalROWID guid style chatIdentifier isArchived displayName isFiltered groupId properties
  lastAddressedHandle`.split(/\s+/)
const keys = (value: object) => Object.keys(value).sort()

/** Sends a first text, so that the chat is there. Answers the message's guid. */
async function contact(mac: BlueBubbles, address = ALICE): Promise<string> {
  const made = await ask(mac, 'POST chat/new', { addresses: [address], message: 'Hi', method: PA })
  return made.body.data.messages[0].guid
}

const text = (mac: BlueBubbles, message: string, more: object = {}) =>
  ask(mac, 'POST message/text', { chatGuid: chatOf(ALICE), message, method: PA, ...more })

describe('transport', () => {
  it('takes the first of guid, password and token, trimmed, and says which of two things is wrong', async () => {
    const mac = await open({ password: 'pass' })
    const get = async (query: string, headers = {}) =>
      fetched(await fetch(`${mac.url}/api/v1/ping?${query}`, { headers }))
    expect((await get('')).body).toEqual({
      status: 401,
      message: 'You are not authorized to access this resource',
      error: { type: 'Authentication Error', message: 'Missing server password!' },
    })
    expect((await get('password=no')).body.error.message).toBe('Unauthorized')
    expect((await get('guid=pass&password=no&token=no')).status).toBe(200)
    expect((await get('guid=no&password=pass')).status).toBe(401)
    expect((await get('token=%20pass%20')).status).toBe(200)
    expect((await get('', { authorization: 'Bearer pass' })).status).toBe(401)
    const swift = await open({ profile: 'swift', password: 'pass' })
    const header = async (authorization: string, query = '') =>
      (await fetch(`${swift.url}/api/v1/ping?${query}`, { headers: { authorization } })).status
    expect(await header('Bearer pass')).toBe(200)
    expect(await header(`Basic ${Buffer.from('anybody:pass').toString('base64')}`)).toBe(200)
    expect(await header('Bearer pass', 'password=no')).toBe(401)
  })

  it('answers in the envelope, without data where there is none, and in plain text for an unknown path', async () => {
    const mac = await open({ faceTimeHelper: true })
    await contact(mac)
    expect((await ask(mac, 'GET ping')).body).toEqual({
      status: 200,
      message: 'Ping received!',
      data: 'pong',
    })
    expect((await ask(mac, `POST chat/${at(chatOf(ALICE))}/typing`)).body).toEqual({
      status: 200,
      message: 'Successfully started typing!',
    })
    const left = await ask(mac, 'POST facetime/leave/x')
    expect([left.status, left.body]).toEqual([201, { status: 201, message: 'No Data' }])
    const unknown = await ask(mac, 'GET nowhere')
    expect([unknown.status, unknown.body, unknown.headers.get('content-type')]).toEqual([
      404,
      'Not Found',
      'text/plain; charset=utf-8',
    ])
    expect((await ask(mac, 'GET ping?pretty')).bytes.toString()).toContain('\n  "status": 200')
    expect((await ask(mac, 'GET message/none')).body).toEqual({
      status: 404,
      message: 'The requested resource was not found',
      error: { type: 'Database Error', message: 'Message does not exist!' },
    })
  })

  it('closes what needs the helper, with a text for each half, and wrapped otherwise in sends', async () => {
    const mac = await open({ helperConnected: false })
    const gate = await ask(mac, 'GET icloud/account')
    expect(gate.body).toEqual({
      status: 500,
      message:
        'Please make sure you have completed the setup for the Private API, and your helper is connected!',
      error: { type: 'iMessage Error', message: 'iMessage Private API Helper is not connected!' },
    })
    mac.phone(ALICE).text('Hello')
    const send = await text(mac, 'Hi')
    expect([send.status, send.body.message, send.body.error.message]).toEqual([
      500,
      'Message Send Error',
      'iMessage Private API Helper is not connected!',
    ])
    mac.flags.privateApi = false
    expect((await ask(mac, 'GET icloud/account')).body.error.message).toBe(
      'iMessage Private API is not enabled!',
    )
    expect((await text(mac, 'Hi')).body.error.message).toBe('iMessage Private API is not enabled!')
    expect(mac.world.sent).toEqual([])
  })

  it('counts any helper as connected, though that of FaceTime answers nothing', async () => {
    const mac = await open({ helperConnected: false, faceTimeHelper: true })
    mac.phone(ALICE).text('Hello')
    expect((await ask(mac, 'GET server/info')).body.data.helper_connected).toBe(true)
    expect((await ask(mac, 'GET icloud/account')).body.error).toEqual({
      type: 'Server Error',
      message: 'Transaction timeout',
    })
    expect((await text(mac, 'Hi')).body.error.message).toBe('Transaction timeout')
  })

  it.each([
    ['message/text', {}, 'The chatGuid field is required.'],
    ['message/text', { chatGuid: 'x', message: 'x', method: 'smoke' }, 'The selected method is invalid.'],
    ['message/text', { chatGuid: 'x', method: PA }, 'The message field must be present (but can be empty).'],
    ['message/text', { chatGuid: 'x', message: 'x', ddScan: 'perhaps' }, 'The ddScan attribute has errors.'],
    ['message/text', { chatGuid: 'x', message: 'x', partIndex: -1 }, 'The partIndex must be at least 0.'],
    ['message/text', { chatGuid: 1, message: 'x' }, 'The chatGuid must be a string.'],
    [
      'message/text',
      { chatGuid: 'x', message: 'x' },
      "A 'tempGuid' is required when sending via AppleScript",
    ],
    [
      'message/text',
      { chatGuid: 'x', message: '', method: PA },
      "A 'message' or 'subject' is required when sending via the Private API",
    ],
    ['message/query', { limit: 1001 }, 'The limit may not be greater than 1000.'],
    ['message/query', { with: 'chat' }, 'The with attribute has errors.'],
    ['message/query', { offset: 'many' }, 'The offset must be a number.'],
    ['message/query', { sort: 'UP' }, 'The selected sort is invalid.'],
    [
      'message/query',
      { where: [{ statement: '1 = 1' }] },
      'The where.0.args field must be present (but can be empty).',
    ],
    ['chat/new', { addresses: [] }, 'The addresses field is required.'],
    ['chat/new', { addresses: ['x'], message: 'x', service: 'RCS' }, 'The selected service is invalid.'],
    ['message/multipart', { chatGuid: 'x', parts: [{ text: 'x' }] }, 'Each part must have a partIndex'],
    [
      'message/multipart',
      { chatGuid: 'x', parts: [{ partIndex: 0, attachment: 'a/b', name: 'b' }] },
      "Attachment 'a/b' does not exist",
    ],
    [
      'message/react',
      { chatGuid: 'x', selectedMessageGuid: 'x', reaction: 'emoji' },
      'The selected reaction is invalid.',
    ],
  ])('refuses a bad %s with the first broken rule only: %j', async (route, body, complaint) => {
    const answer = await ask(await open(), `POST ${route}`, body)
    expect([answer.status, answer.body]).toEqual([
      400,
      {
        status: 400,
        message: "You've made a bad request! Please check your request params & body",
        error: { type: 'Validation Error', message: complaint },
      },
    ])
  })

  it('asks nothing more of what is empty, and an address of whoever asks for one', async () => {
    const mac = await open()
    mac.phone(ALICE).text('Hello')
    expect((await ask(mac, 'POST message/query', { limit: ' ', sort: '', with: [] })).body.data).toHaveLength(
      1,
    )
    const availability = await ask(mac, 'GET handle/availability/imessage')
    expect([availability.status, availability.body.error.message]).toEqual([
      400,
      'The address field is required.',
    ])
    const quality = await ask(mac, 'GET attachment/x/download?quality=poor')
    expect(quality.body.error.message).toBe('The selected quality is invalid.')
  })

  it('breaks as it is told, before or after its work', async () => {
    const mac = await open()
    await contact(mac)
    const failed = async (message: string) =>
      text(mac, message).then(
        ({ status }) => status,
        () => 'no answer',
      )
    const route = 'POST /api/v1/message/text'
    mac.fault({ route, kind: 'reset' })
    expect(await failed('reset')).toBe('no answer')
    mac.fault({ route, kind: 'reset', works: true })
    expect(await failed('reset after')).toBe('no answer')
    mac.fault({ route, kind: '500' })
    expect(await failed('500')).toBe(500)
    mac.fault({ route, kind: '504' })
    expect(await failed('504')).toBe(504)
    mac.fault({ route, kind: 'truncated' })
    expect(await failed('truncated')).toBe('no answer')
    mac.fault({ route, kind: 'content-type' })
    const html = await text(mac, 'content-type')
    expect(html.headers.get('content-type')).toBe('text/html')
    mac.fault({ route, kind: 'delay', ms: 5 })
    expect(await failed('delay')).toBe(200)
    const hang = mac.fault({ route, kind: 'hang' })
    const giveUp = new AbortController()
    const url = `${mac.url}/api/v1/message/text?password=secret`
    const hanging = fetch(url, { method: 'POST', signal: giveUp.signal }).catch(() => 'no answer')
    await eventually(() => expect(hang.hits).toBe(1))
    giveUp.abort()
    expect(await hanging).toBe('no answer')
    expect(await failed('well')).toBe(200)
    await eventually(() =>
      expect(mac.phone(ALICE).texts()).toEqual([
        'Hi',
        'reset after',
        '504',
        'truncated',
        'content-type',
        'delay',
        'well',
      ]),
    )
  })
})

describe('reading', () => {
  it('shows a message with exactly the documented fields, and never its service', async () => {
    const mac = await open()
    mac
      .phone(ALICE)
      .text('Look', { attachment: { name: 'a.png', mimeType: 'image/png', bytes: Buffer.from('png') } })
    const { body } = await ask(mac, 'POST message/query', { with: ['chat', 'attachment'] })
    const [message] = body.data
    expect(keys(message)).toEqual([...FULL].sort())
    expect(keys(message.chats[0])).toEqual([...CHAT].sort())
    expect(keys(message.handle)).toEqual([
      'address',
      'country',
      'originalROWID',
      'service',
      'uncanonicalizedId',
    ])
    expect(keys(message.attachments[0])).toEqual(
      `guid hasLivePhoto hideAttachment isOutgoing isSticker mimeType originalGuid originalROWID totalBytes
       transferName transferState uti`.split(/\s+/),
    )
    const metadata = await ask(mac, 'POST message/query', { with: ['attachment', 'attachment.metadata'] })
    expect(keys(metadata.body.data[0].attachments[0])).toEqual(
      expect.arrayContaining(['height', 'width', 'metadata']),
    )
    expect(message.text).toBe('Look')
    const old = await open({ osVersion: '11.7' })
    old.phone(ALICE).text('Hello')
    const [plain] = (await ask(old, 'POST message/query', {})).body.data
    const later = ['dateEdited', 'dateRetracted', 'partCount', 'wasDeliveredQuietly', 'didNotifyRecipient']
    expect(keys(plain)).toEqual(FULL.filter((key) => !later.includes(key)).sort())
    expect(plain.chats).toEqual([])
  })

  it('orders by date and not by ROWID, pages with a total, and takes numbers as texts', async () => {
    const mac = await open({ firstRowId: 1 })
    const now = Date.now()
    // The newest rows were sent first.
    for (let n = 0; n < 6; n++) mac.phone(ALICE).text(`${n}`, { sentAt: now - n * 1000 })
    const page = async (more: object) => (await ask(mac, 'POST message/query', { sort: 'ASC', ...more })).body
    const first = await page({ limit: '2' })
    expect(first.data.map((item: { originalROWID: number }) => item.originalROWID)).toEqual([6, 5])
    expect(first.metadata).toEqual({ offset: 0, limit: 2, total: 6, count: 2 })
    expect((await page({ limit: 2, offset: '4' })).data.map((item: { text: string }) => item.text)).toEqual([
      '1',
      '0',
    ])
    expect((await ask(mac, 'POST message/query', { limit: 1 })).body.data[0].text).toBe('0')
    expect((await page({ after: now - 1000 })).metadata.total).toBe(2)
    expect((await page({ before: now - 1000 })).metadata.total).toBe(5)
  })

  it('takes predicates on any column, lists among them', async () => {
    const mac = await open()
    const guids = ['one', 'two'].map((word) => mac.phone(ALICE).text(word))
    mac.phone(BOB).text('three', { service: 'SMS' })
    const found = async (...where: { statement: string; args: unknown }[]) => {
      const { body } = await ask(mac, 'POST message/query', { where, sort: 'ASC', with: ['chat'] })
      return body.data?.map((item: { text: string }) => item.text) ?? body.error.message
    }
    const some = { statement: 'message.guid IN (:...guids)', args: { guids } }
    expect(await found(some)).toEqual(['one', 'two'])
    expect(await found(some, { statement: 'message.ROWID > :r', args: { r: 5000 } })).toEqual(['two'])
    expect(await found({ statement: 'message.service = :s', args: { s: 'SMS' } })).toEqual(['three'])
    expect(await found({ statement: 'message.was_downgraded = 1', args: null })).toEqual([])
    expect(await found({ statement: 'message.isFromMe = 0 AND message.ROWID <= 5001', args: {} })).toEqual([
      'one',
      'two',
    ])
    expect(await found({ statement: 'chat.guid = :c', args: { c: `SMS;-;${BOB}` } })).toEqual(['three'])
    expect(
      await found({ statement: 'message.destination_caller_id = :me', args: { me: '+15550100000' } }),
    ).toHaveLength(3)
    expect(await found({ statement: 'message.unheard_of = 1', args: {} })).toContain('no such column')
  })

  it('joins chats strictly, so that a row linked late is invisible at first', async () => {
    const clock = manualClock()
    const mac = await open({ clock, lateChatMs: 2000 })
    const guid = mac.phone(ALICE).text('late')
    const total = async (body: object) => (await ask(mac, 'POST message/query', body)).body.metadata.total
    expect(await total({ with: ['chat'] })).toBe(0)
    expect(await total({})).toBe(1)
    expect((await ask(mac, `GET message/${guid}?with=chats`)).body.data.chats).toEqual([])
    clock.advance(2000)
    expect(await total({ with: ['chat'] })).toBe(1)
  })

  it('answers an unknown chat with plain text in a query, and with an error elsewhere', async () => {
    const mac = await open()
    const unknown = await ask(mac, 'POST message/query', { chatGuid: 'iMessage;-;nobody' })
    expect([unknown.status, unknown.body]).toEqual([404, 'Not Found'])
    expect((await ask(mac, `GET chat/${at('iMessage;-;nobody')}`)).body.error.message).toBe(
      'Chat does not exist!',
    )
    expect((await ask(mac, `GET chat/${at('iMessage;-;nobody')}/message`)).status).toBe(404)
  })

  it('finds a chat by its exact guid, with participants only when asked', async () => {
    const mac = await open()
    await contact(mac)
    const get = async (guid: string) => (await ask(mac, `GET chat/${guid}`)).body
    expect((await get(at(chatOf(ALICE)))).data.participants).toEqual([])
    expect((await get(`${at(chatOf(ALICE))}?with=participants`)).data.participants[0].address).toBe(ALICE)
    expect((await get(at(`any;-;${ALICE}`))).status).toBe(404)
    expect((await get(`${at(chatOf(ALICE))}?with=lastmessage`)).data.lastMessage.text).toBe('Hi')
    const any = await open({ chatPrefix: 'any' })
    await contact(any)
    expect((await ask(any, `GET chat/${at(`any;-;${ALICE}`)}`)).status).toBe(200)
  })

  it('lists chats, messages of a chat, and counts', async () => {
    const mac = await open({ firstRowId: 1 })
    await contact(mac)
    mac.phone(ALICE).text('Hello')
    mac.phone(BOB).text('Hello')
    const chats = (await ask(mac, 'POST chat/query', { limit: 1, with: ['lastMessage'] })).body
    expect(chats.metadata).toEqual({ count: 1, total: 2, limit: 1 })
    expect(chats.data[0].lastMessage.text).toBe('Hello')
    const messages = (await ask(mac, `GET chat/${at(chatOf(ALICE))}/message?sort=ASC&limit=1&offset=1`)).body
    expect([messages.data[0].text, messages.metadata]).toEqual([
      'Hello',
      { offset: 1, limit: 1, total: 2, count: 1 },
    ])
    const count = async (query: string) => (await ask(mac, `GET message/count?${query}`)).body.data.total
    expect([await count(''), await count('minRowId=2'), await count('maxRowId=1')]).toEqual([3, 2, 1])
    expect((await ask(mac, 'GET message/count/me?x=')).body.data.total).toBe(1)
    expect((await ask(mac, 'GET chat/count')).body.data).toEqual({ total: 2, breakdown: { iMessage: 2 } })
  })

  it('reads a backlog of more than a thousand rows in pages', async () => {
    const mac = await open()
    for (let n = 0; n < 1100; n++) mac.phone(ALICE).text(`${n}`)
    const body = { with: ['chat', 'attachment'], sort: 'ASC', limit: 1000 }
    const first = (await ask(mac, 'POST message/query', body)).body
    const second = (await ask(mac, 'POST message/query', { ...body, offset: 1000 })).body
    expect([first.metadata, second.metadata]).toEqual([
      { offset: 0, limit: 1000, total: 1100, count: 1000 },
      { offset: 1000, limit: 1000, total: 1100, count: 100 },
    ])
    const texts = [...first.data, ...second.data].map((row: { text: string }) => row.text)
    expect(texts).toEqual(Array.from({ length: 1100 }, (_, n) => `${n}`))
  })

  it('searches words by Spotlight when asked for a text', async () => {
    const mac = await open()
    mac.phone(ALICE).text('a quiet evening')
    const where = [{ statement: 'message.text = :t', args: { t: 'evening quiet' } }]
    expect((await ask(mac, 'POST message/query', { where })).body.data).toHaveLength(1)
    mac.flags.osVersion = '12.6'
    expect((await ask(mac, 'POST message/query', { where })).body.data).toHaveLength(0)
  })
})

describe('sending', () => {
  it('says yes as soon as there is a row, which is sent and delivered later', async () => {
    const clock = manualClock()
    const mac = await open({ clock })
    await contact(mac)
    const sent = await text(mac, 'Again', { tempGuid: 'mine' })
    expect(sent.body.message).toBe('Message sent!')
    expect(keys(sent.body.data)).toEqual([...FULL, 'tempGuid'].sort())
    expect(sent.body.data).toMatchObject({
      text: 'Again',
      tempGuid: 'mine',
      isFromMe: true,
      isDelivered: false,
    })
    const { guid } = sent.body.data
    expect(mac.world.row(guid)).toMatchObject({ is_sent: 0, service: 'iMessage' })
    clock.advance(1000)
    expect(mac.world.row(guid)).toMatchObject({ is_sent: 1, is_delivered: 1 })
    expect(mac.phone(ALICE).inbox.map((item) => item.text)).toEqual(['Hi', 'Again'])
  })

  it('carries effects, subjects and replies, and these ask for the helper by themselves', async () => {
    const mac = await open()
    const first = await contact(mac)
    const effect = 'com.apple.messages.effect.CKConfettiEffect'
    const reply = (more: object) =>
      ask(mac, 'POST message/text', {
        chatGuid: chatOf(ALICE),
        message: 'x',
        selectedMessageGuid: first,
        ...more,
      })
    const one = await reply({ effectId: effect, subject: 'S', partIndex: 1 })
    expect(one.body.data).toMatchObject({
      expressiveSendStyleId: effect,
      subject: 'S',
      threadOriginatorGuid: first,
      replyToGuid: first,
      threadOriginatorPart: '1:0:2',
    })
    // An answer to an answer belongs to the first message.
    const two = await reply({ selectedMessageGuid: one.body.data.guid })
    expect(two.body.data.threadOriginatorGuid).toBe(first)
    await eventually(() =>
      expect(mac.phone(ALICE).inbox[1]).toMatchObject({
        effect,
        subject: 'S',
        replyTo: { guid: first, part: 1 },
      }),
    )
    const lost = await reply({ selectedMessageGuid: 'unknown' })
    expect([lost.status, lost.body.error.message]).toEqual([500, 'Transaction timeout'])
  })

  it('locks a tempGuid while a send is under way, and no longer', async () => {
    const clock = manualClock()
    const mac = await open({ clock })
    await contact(mac)
    mac.phone(ALICE).next({ helperMs: 1000 })
    const first = text(mac, 'One', { tempGuid: 'same' })
    await eventually(() => expect(mac.phone(ALICE).person.next).toEqual([]))
    const second = await text(mac, 'One', { tempGuid: 'same' })
    expect([second.status, second.body.error.message]).toEqual([
      400,
      'Message is already queued to be sent! (Temp GUID: same)',
    ])
    clock.advance(1000)
    expect((await first).status).toBe(200)
    expect((await text(mac, 'One', { tempGuid: 'same' })).status).toBe(200)
    mac.phone(ALICE).next({ outcome: 'timeout' })
    const third = text(mac, 'Two', { tempGuid: 'same' })
    await eventually(() => expect(mac.world.rows()).toHaveLength(4))
    clock.advance(120_000)
    expect((await third).body.error.message).toBe('Transaction timeout')
    expect((await text(mac, 'Two', { tempGuid: 'same' })).status).toBe(200)
    clock.advance(1000)
    expect(mac.phone(ALICE).texts()).toEqual(['Hi', 'One', 'One', 'Two', 'Two'])
  })

  it.each([
    ['error 22 at once', { error: 22 }, 500, 'Message failed to send!', 22, false],
    ['a silent loss', { outcome: 'lost' as const }, 200, null, 0, false],
    ['a timeout after sending', { outcome: 'timeout' as const }, 500, 'Transaction timeout', undefined, true],
    [
      'a timeout before sending',
      { outcome: 'timeout-lost' as const },
      500,
      'Transaction timeout',
      undefined,
      false,
    ],
    [
      'a row that never comes',
      { outcome: 'no-row' as const },
      500,
      'Failed to send message! Message not found in database after 60 seconds!',
      undefined,
      false,
    ],
  ])('plays %s', async (_name, plan, status, complaint, error, arrives) => {
    const mac = await open()
    await contact(mac)
    mac.phone(ALICE).next(plan)
    const answer = await text(mac, 'Plan')
    expect([answer.status, answer.body.error?.message ?? null, answer.body.data?.error]).toEqual([
      status,
      complaint,
      error,
    ])
    expect((await text(mac, 'Next')).status).toBe(200)
    await eventually(() => expect(mac.phone(ALICE).texts().at(-1)).toBe('Next'))
    expect(mac.phone(ALICE).texts().includes('Plan')).toBe(arrives)
  })

  it('fails for whoever is not on iMessage, at once or later, and reaches them by SMS', async () => {
    const mac = await open()
    mac.phone(ALICE).person.imessage = false
    const guid = await contact(mac)
    expect(mac.world.row(guid)?.error).toBe(22)
    expect((await text(mac, 'Hello')).body).toMatchObject({
      message: 'Message sent with an error. See attached message',
      error: { message: 'Message failed to send!' },
      data: { error: 22 },
    })
    const sms = await ask(mac, 'POST chat/new', {
      addresses: [ALICE],
      message: 'SMS',
      method: PA,
      service: 'SMS',
    })
    expect(sms.body.data.guid).toBe(`SMS;-;${ALICE}`)
    await eventually(() => expect(mac.phone(ALICE).inbox).toMatchObject([{ text: 'SMS', service: 'SMS' }]))
    expect(mac.world.row(sms.body.data.messages[0].guid)).toMatchObject({
      is_sent: 1,
      is_delivered: 0,
      service: 'SMS',
    })
    expect((await ask(mac, `GET handle/availability/imessage?address=${at(ALICE)}`)).body.data).toEqual({
      available: false,
    })
    mac.phone(BOB).always({ errorAfterMs: 5 })
    const made = await ask(mac, 'POST chat/new', { addresses: [BOB], message: 'Hi', method: PA })
    const late = made.body.data.messages[0].guid
    expect(made.body.data.messages[0].error).toBe(0)
    await eventually(() => expect(mac.world.row(late)?.error).toBe(22))
    mac.phone(CAROL).always({ downgrade: true })
    const down = await contact(mac, CAROL)
    await eventually(() => expect(mac.world.row(down)).toMatchObject({ service: 'SMS', was_downgraded: 1 }))
    mac.flags.smsForwarding = false
    const off = await ask(mac, 'POST chat/new', {
      addresses: [BOB],
      message: 'SMS',
      method: PA,
      service: 'SMS',
    })
    expect(off.body).toMatchObject({
      message: 'An unhandled error has occurred!',
      error: { type: 'Server Error', message: 'Failed to find all handles for specified service' },
    })
  })

  it('names the last message of the chat when two are sent at once', async () => {
    const clock = manualClock()
    const mac = await open({ clock })
    await contact(mac)
    mac.waits.report = 200
    const both = Promise.all([text(mac, 'One'), text(mac, 'Two')])
    await eventually(() => expect(mac.world.rows()).toHaveLength(3))
    clock.advance(1000)
    const [one, two] = await both
    expect(one.body.data.guid).toBe(two.body.data.guid)
    expect(mac.phone(ALICE).texts()).toHaveLength(3)
  })

  it('takes texts and loses them when Apple has signed it out, or when nobody can be reached', async () => {
    const clock = manualClock()
    const mac = await open({ clock, deregistered: true })
    const guid = await contact(mac)
    mac.phone(BOB).person.sms = false
    clock.advance(60_000)
    expect(mac.world.row(guid)).toMatchObject({ is_sent: 0, error: 0 })
    expect((await ask(mac, 'GET icloud/account')).body.data.vetted_aliases).toEqual([])
    mac.flags.deregistered = false
    await ask(mac, 'POST chat/new', { addresses: [BOB], message: 'SMS', method: PA, service: 'SMS' })
    const small = ask(mac, 'POST message/text', { chatGuid: `sms;-;${BOB}`, message: 'Small', method: PA })
    await eventually(() => expect(mac.world.rows()).toHaveLength(3))
    clock.advance(120_000)
    expect((await small).body.error.message).toBe('Transaction timeout')
    expect(mac.world.rows().at(-1)).toMatchObject({ text: 'Small', is_sent: 1 })
    expect(mac.phone(BOB).inbox).toEqual([])
  })

  it('needs a chat for a text, and makes one only with a text', async () => {
    const mac = await open()
    const none = await text(mac, 'Hi')
    expect([none.status, none.body.message, none.body.error.message]).toEqual([
      500,
      'Message Send Error',
      'Chat does not exist',
    ])
    const empty = await ask(mac, 'POST chat/new', { addresses: [ALICE], method: PA })
    expect(empty.body.error.message).toBe('A message is required when creating chats with the Private API!')
    const made = await ask(mac, 'POST chat/new', {
      addresses: ['(555) 011-1111'],
      message: 'Hi',
      method: PA,
      tempGuid: 'mine',
    })
    expect(made.body.message).toBe('Successfully created chat!')
    expect(keys(made.body.data)).toEqual([...CHAT, 'participants', 'messages'].sort())
    expect(made.body.data.participants[0].address).toBe(ALICE)
    expect(made.body.data.messages[0]).toMatchObject({ text: 'Hi', tempGuid: 'mine' })
    expect(made.body.data.messages[0]).not.toHaveProperty('chats')
    mac.phone(BOB).next({ outcome: 'no-row' })
    const lost = await ask(mac, 'POST chat/new', { addresses: [BOB], message: 'Hi', method: PA })
    expect(lost.body.error.message).toBe('Failed to create new chat! Message not found after 30 seconds!')
  })

  it('sends an attachment with its quirks: no tempGuid, no attachments, no error for an error', async () => {
    const mac = await open()
    await contact(mac)
    const bytes = Buffer.from('picture')
    const send = (fields: Record<string, string>, file = { name: 'upload.bin', bytes }) =>
      ask(
        mac,
        'POST message/attachment',
        form({ chatGuid: chatOf(ALICE), method: PA, ...fields }, { attachment: file }),
      )
    const sent = await send({ name: 'a.png', tempGuid: 'mine' })
    expect([sent.status, sent.body.message, sent.body.data.attachments]).toEqual([
      200,
      'Attachment sent!',
      [],
    ])
    expect(keys(sent.body.data)).toEqual([...FULL].sort())
    await eventually(() =>
      expect(mac.phone(ALICE).inbox[1]?.attachments).toEqual([
        { name: 'a.png', mimeType: 'image/png', bytes },
      ]),
    )
    const read = await ask(mac, `GET message/${sent.body.data.guid}?with=attachments`)
    expect(read.body.data.attachments[0]).toMatchObject({
      transferName: 'a.png',
      totalBytes: 7,
      isOutgoing: true,
    })
    mac.phone(ALICE).next({ error: 22 })
    const failed = await send({ name: 'a.png' })
    expect([failed.status, failed.body.data.error]).toEqual([200, 22])
    expect((await send({})).body.error.message).toBe('The name field is required.')
    const empty = await send({ name: 'a.png' }, { name: 'a.png', bytes: Buffer.alloc(0) })
    expect(empty.body.error.message).toBe('Attachment not provided or was empty!')
    expect((await ask(mac, 'POST message/attachment/chunk', form({}, {}))).status).toBe(404)
  })

  it('sends several parts as one message', async () => {
    const mac = await open()
    await contact(mac)
    const bytes = Buffer.from('picture')
    const up = await ask(mac, 'POST attachment/upload', form({}, { attachment: { name: 'a.png', bytes } }))
    expect(up.body.data.path).toMatch(/^[0-9a-f-]{36}\/a\.png$/)
    const parts = [
      { partIndex: 0, text: 'Look, ' },
      { partIndex: 1, text: 'Alice', mention: ALICE },
      { partIndex: 2, attachment: up.body.data.path, name: 'b.png' },
    ]
    const sent = await ask(mac, 'POST message/multipart', {
      chatGuid: chatOf(ALICE),
      parts,
      tempGuid: 'mine',
    })
    expect(sent.body.data).toMatchObject({ text: 'Look, Alice', tempGuid: 'mine', partCount: 2 })
    await eventually(() =>
      expect(mac.phone(ALICE).inbox[1]).toMatchObject({
        text: 'Look, Alice',
        mentions: [ALICE],
        attachments: [{ name: 'b.png', mimeType: 'image/png', bytes }],
      }),
    )
    mac.phone(ALICE).next({ error: 4 })
    expect((await ask(mac, 'POST message/multipart', { chatGuid: chatOf(ALICE), parts })).status).toBe(500)
  })

  it('has an AppleScript way that may send twice, loses its answer, and is dead on macOS 26', async () => {
    const mac = await open({ appleScriptSendsTwice: true })
    await contact(mac)
    const script = (message: string) =>
      ask(mac, 'POST message/text', { chatGuid: chatOf(ALICE), message, tempGuid: message })
    expect((await script('Twice')).status).toBe(200)
    await eventually(() => expect(mac.phone(ALICE).texts()).toEqual(['Hi', 'Twice', 'Twice']))
    mac.flags.appleScriptSendsTwice = false
    mac.phone(ALICE).next({ outcome: 'timeout' })
    const lost = await script('Sent all the same')
    expect([lost.status, lost.body.data, lost.body.error.message]).toEqual([
      500,
      null,
      'Failed to send message! See attached message error code.',
    ])
    await eventually(() => expect(mac.phone(ALICE).texts()).toContain('Sent all the same'))
    const group = await ask(mac, 'POST chat/new', { addresses: [ALICE, BOB], message: 'Hi', tempGuid: 'x' })
    expect(group.body.error.message).toBe('Cannot create group chats on macOS Big Sur or newer!')
    mac.flags.chatPrefix = 'any'
    expect((await script('Dead')).body.error.message).toContain('-1700')
  })
})
