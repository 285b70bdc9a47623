import { afterEach, describe, expect, it } from 'vitest'
import { ask, createMacs, manualClock } from '../../support/drivers/bluebubbles.js'
import { ALICE, at, BOB, CHAT, chatOf, contact, FULL, keys } from '../../support/drivers/bluebubbles-peer.js'

const macs = createMacs()
const { open } = macs
afterEach(macs.close)

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

  it('orders by date and not by ROWID, pages with a total, and accepts numbers as strings', async () => {
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

  it('accepts predicates on any column, including lists', async () => {
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

  it('searches words with Spotlight for a predicate on the text', async () => {
    const mac = await open()
    mac.phone(ALICE).text('a quiet evening')
    const where = [{ statement: 'message.text = :t', args: { t: 'evening quiet' } }]
    expect((await ask(mac, 'POST message/query', { where })).body.data).toHaveLength(1)
    mac.flags.osVersion = '12.6'
    expect((await ask(mac, 'POST message/query', { where })).body.data).toHaveLength(0)
  })
})
