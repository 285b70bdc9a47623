import { afterEach, describe, expect, it } from 'vitest'
import { ask, createMacs, eventually, form, manualClock } from '../../support/drivers/bluebubbles.js'
import {
  ALICE,
  at,
  BOB,
  CAROL,
  CHAT,
  chatOf,
  contact,
  FULL,
  keys,
  PA,
  text,
} from '../../support/drivers/bluebubbles-peer.js'

const macs = createMacs()
const { open } = macs
afterEach(macs.close)

describe('sending', () => {
  it('reports success as soon as a row exists, which is sent and delivered later', async () => {
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

  it('sends effects, subjects and replies, which imply the helper', async () => {
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
    // A reply to a reply belongs to the thread of the first message.
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

  it('locks a tempGuid during its send, and no longer', async () => {
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

  it('fails for a recipient who is not on iMessage, at once or later, and reaches them by SMS', async () => {
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

  it('accepts and loses texts while signed out by Apple, or without a reachable recipient', async () => {
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

  it('needs a chat for a text, and creates one only with a text', async () => {
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
