import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ANNA, BEN, CARA, createMacWorld, MAC, type MacWorld } from '../../support/drivers/mac-world.js'
import { JPEG, PNG } from '../../support/files.js'
import { ENGINES, type Json } from '../../support/world.js'

const HOUR = 3_600_000
const photo = { name: 'photo.jpg', mimeType: 'image/jpeg', bytes: JPEG }
/** Not on the Mac yet; downloaded on demand at once. */
const elsewhere = { ...photo, onDisk: false, fetchMs: 0 }
const pixel = { name: 'pixel.png', mimeType: 'image/png', bytes: PNG }

describe.each(ENGINES)('receiving through a Mac, on %s', (engine) => {
  let kit: MacWorld
  beforeAll(async () => {
    kit = await createMacWorld(engine, { config: { poll_ms: HOUR } })
  })
  afterAll(() => kit.close())
  const last = async () => (await kit.inbound()).at(-1)
  const bytesAt = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer())

  it('stores a text as soon as the Mac calls', async () => {
    kit.mac.phone(ANNA).text('Hello you')
    await kit.settle()
    expect(await last()).toMatchObject({
      content: 'Hello you',
      from_number: ANNA,
      to_number: MAC,
      service: 'iMessage',
      status: 'RECEIVED',
    })
  })

  it('marks an SMS as SMS', async () => {
    kit.mac.phone(BEN).text('By SMS', { service: 'SMS' })
    await kit.settle()
    expect(await last()).toMatchObject({ content: 'By SMS', service: 'SMS' })
  })

  it('translates an effect to its send style', async () => {
    kit.mac.phone(ANNA).text('Party', { effect: 'com.apple.messages.effect.CKConfettiEffect' })
    await kit.settle()
    const { message_handle, ...party } = await last()
    expect(party).toMatchObject({ content: 'Party', send_style: '' })
    expect((await kit.world.get(`/v3/messages/${message_handle}`)).body.data.message.send_style).toBe(
      'confetti',
    )
    kit.mac.phone(ANNA).text('Odd', { effect: 'com.apple.messages.effect.CKUnheardOf' })
    await kit.settle()
    expect(await last()).toMatchObject({ content: 'Odd', send_style: '' })
  })

  it('names the message and part that a reply answers', async () => {
    const sent = await kit.send({ content: 'Tea or coffee?' })
    await kit.advance(3000)
    const { guid } = kit.mac.phone(ANNA).inbox.at(-1)!
    kit.mac.phone(ANNA).text('Tea', { replyTo: guid, replyPart: 1 })
    await kit.settle()
    expect(await last()).toMatchObject({
      content: 'Tea',
      reply_to: { message_handle: sent.message_handle, part_index: 1 },
    })
  })

  it('makes one message for each of several files, the first with the text', async () => {
    kit.mac.phone(ANNA).text('Two', { attachments: [photo, pixel] })
    await kit.until(async () => (await last()).media_url.endsWith('.png'))
    const [first, second] = (await kit.inbound()).slice(-2)
    expect([first.content, second.content]).toEqual(['Two', ''])
    expect(await bytesAt(first.media_url)).toEqual(JPEG)
    expect(await bytesAt(second.media_url)).toEqual(PNG)
  })

  it('waits for a file that the Mac must download first', async () => {
    kit.mac.phone(ANNA).text('', { attachment: elsewhere })
    await kit.until(async () => (await last()).media_url.endsWith('.jpg'))
    expect(await bytesAt((await last()).media_url)).toEqual(JPEG)
  })

  it('keeps a file despite a temporary error of a proxy', async () => {
    kit.mac.fault({ route: 'GET /api/v1/attachment/*', kind: '504', works: false, times: 2 })
    kit.mac.phone(ANNA).text('Held up', { attachment: photo })
    await kit.until(async () => (await last()).content === 'Held up')
    expect(await bytesAt((await last()).media_url)).toEqual(JPEG)
  })

  it('includes files that are linked late, or adds them afterwards', async () => {
    kit.mac.flags.lateAttachmentMs = 4000
    const before = (await kit.inbound()).length
    kit.mac.phone(ANNA).text('', { attachment: pixel })
    kit.mac.phone(BEN).text('With a text', { attachment: pixel })
    await kit.advance(30_000)
    await kit.until(async () => (await kit.inbound()).length === before + 2)
    kit.mac.flags.lateAttachmentMs = 0
    const came = (await kit.inbound()).slice(before)
    expect(came.map((one) => one.content).sort()).toEqual(['', 'With a text'])
    for (const one of came) expect(one.media_url).toMatch(/\.png$/)
  })

  it('does not miss rows that are linked to their chat late', async () => {
    kit.mac.flags.lateChatMs = 10_000
    kit.mac.phone(CARA).text('Late')
    await kit.settle()
    kit.mac.flags.lateChatMs = 0
    for (let n = 0; n < 3; n++) kit.mac.phone(ANNA).text(`Meanwhile ${n}`)
    await kit.settle()
    expect((await last()).content).toBe('Meanwhile 2')
    await kit.advance(10_000)
    await kit.advance(HOUR)
    expect((await last()).content).toBe('Late')
  })

  it('stores a tapback as text with a reference to its message', async () => {
    const sent = await kit.send({ content: 'Nice?' })
    await kit.advance(3000)
    const { guid } = kit.mac.phone(ANNA).inbox.at(-1)!
    kit.mac.phone(ANNA).tapback(guid, 'love')
    await kit.settle()
    expect((await last()).content).toMatch(/^Loved .Nice\?.$/)
    kit.mac.phone(ANNA).tapback(guid, 'love', { remove: true })
    await kit.settle()
    const reactions = (await kit.world.events()).filter((one) => one.type === 'message.reaction')
    expect(reactions.map(({ subject, data }) => [subject, data.reaction, data.removed])).toEqual([
      [sent.message_handle, 'love', false],
      [sent.message_handle, 'love', true],
    ])
  })

  it('stores group messages and members', async () => {
    const chat = kit.mac.phone(ANNA).startGroup([BEN, CARA], { name: 'Trio', text: 'Hi all' })
    await kit.settle()
    const message = await last()
    expect(message).toMatchObject({ content: 'Hi all', from_number: ANNA, group_id: expect.any(String) })
    const people = await kit.world.app.ctx.db.all<{ handle: string }>(
      'select handle from group_members where group_id = $1 order by handle',
      [message.group_id],
    )
    expect(people.map((one) => one.handle)).toEqual([ANNA, BEN, CARA])
    const answer = await kit.world.post('/api/send-group-message', {
      from_number: MAC,
      group_id: message.group_id,
      content: 'Hi',
    })
    await kit.settle()
    await kit.advance(2000)
    expect(kit.mac.phone(CARA).inbox.at(-1)).toMatchObject({ text: 'Hi', group: chat })
    expect(answer.body.group_id).toBe(message.group_id)
    kit.mac.phone(BEN).rename(chat, 'Duo')
    kit.mac.phone(CARA).leave(chat)
    await kit.settle()
    const updated = (await kit.world.events()).filter((one) => one.type === 'group.updated').at(-1)
    expect(updated.data).toMatchObject({ name: 'Duo' })
    expect(JSON.stringify(updated.data)).not.toContain(CARA)
  })

  it('reports typing and its end', async () => {
    kit.mac.phone(ANNA).typing(true)
    await kit.settle()
    await kit.advance(6000)
    kit.mac.phone(ANNA).typing(false)
    await kit.settle()
    const typing = (await kit.world.events()).filter((one) => one.type === 'typing.changed')
    expect(typing.map(({ data }) => [data.contact, data.isTyping])).toEqual([
      [ANNA, true],
      [ANNA, false],
    ])
  })

  it('ignores edits, unsent messages and messages from our other devices', async () => {
    const guid = kit.mac.phone(ANNA).text('Frist')
    await kit.settle()
    const before = (await kit.inbound()).length
    kit.mac.phone(ANNA).edit(guid, 'First')
    kit.mac.phone(ANNA).unsend(kit.mac.phone(ANNA).text('Oops'))
    const { db } = kit.mac.world
    const row = db.insert('message', {
      guid: 'FROM-MY-IPAD',
      text: 'From my iPad',
      is_from_me: 1,
      handle_id: 1,
    })
    db.run(
      'insert into chat_message_join (chat_id, message_id) values (?, ?)',
      db.chat(`iMessage;-;${ANNA}`)!.ROWID,
      row.ROWID,
    )
    await kit.settle()
    await kit.advance(HOUR)
    expect((await kit.inbound()).slice(before).map((one: Json) => one.content)).toEqual([])
  })

  it('stores a link and its preview as one message', async () => {
    const bundleId = 'com.apple.messages.URLBalloonProvider'
    kit.mac.phone(BEN).text('Look at https://example.com/x today')
    kit.mac.phone(BEN).text('https://example.com/x', { balloon: { bundleId } })
    await kit.settle()
    expect((await last()).content).toBe('Look at https://example.com/x today')
    kit.mac.phone(BEN).text('https://example.com/alone', { balloon: { bundleId } })
    await kit.settle()
    expect((await last()).content).toBe('https://example.com/alone')
  })

  it('names the app of an app card', async () => {
    const bundleId = 'com.apple.messages.MSMessageExtensionBalloonPlugin:ABCDE12345:com.example.game.ext'
    kit.mac.phone(ANNA).text('', { balloon: { bundleId } })
    await kit.settle()
    const [row] = await kit.world.app.ctx.db.all<{ extra: string }>(
      'select extra from messages where handle = $1',
      [(await last()).message_handle],
    )
    expect(JSON.parse(row!.extra).appCard).toMatchObject({
      balloonBundleId: bundleId,
      teamId: 'ABCDE12345',
      extensionBundleId: 'com.example.game.ext',
    })
  })
})
