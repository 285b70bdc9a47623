import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ANNA, BEN, CARA, createMacWorld, MAC, type MacWorld } from '../../support/drivers/mac-world.js'
import { type FileServer, JPEG, PNG, serve } from '../../support/files.js'
import { ENGINES, type Json } from '../../support/world.js'

const HOUR = 3_600_000

describe.each(ENGINES)('sending through a Mac, on %s', (engine) => {
  let kit: MacWorld
  let files: FileServer
  beforeAll(async () => {
    files = await serve((request, response) => {
      if (request.url === '/gone.jpg') return void response.writeHead(404).end()
      if (request.url === '/film') return void response.end(Buffer.from('\0\0\0\x18ftypmp42', 'latin1'))
      response.setHeader('content-type', request.url!.endsWith('.png') ? 'image/png' : 'image/jpeg')
      response.end(request.url!.endsWith('.png') ? PNG : JPEG)
    })
    kit = await createMacWorld(engine, { config: { poll_ms: HOUR } })
  })
  afterAll(async () => {
    await kit.close()
    await files.close()
  })
  const inboxOf = (number: string) => kit.mac.phone(number).inbox
  const heard = (path: string) => kit.mac.heard.filter((one) => one.path === `/api/v1${path}`)

  it('reports ONLINE and registers a webhook on the Mac', async () => {
    expect(await kit.line()).toMatchObject({ state: 'ONLINE', state_detail: null })
    expect(kit.mac.webhooks).toHaveLength(1)
    expect(kit.mac.webhooks[0]).toMatchObject({ events: ['*'], url: expect.stringContaining('/callbacks/') })
  })

  it('opens a chat with the first text and reuses it; both are delivered', async () => {
    const first = await kit.send({ content: 'First' })
    await kit.advance(5000)
    const second = await kit.send({ content: 'Second' })
    await kit.advance(5000)
    expect(kit.mac.phone(ANNA).texts()).toEqual(['First', 'Second'])
    expect(heard('/chat/new')).toHaveLength(1)
    expect(heard('/message/text')).toHaveLength(1)
    expect(heard('/message/text')[0]!.body).toMatchObject({ method: 'private-api' })
    for (const { message_handle } of [first, second])
      expect(await kit.record(message_handle)).toMatchObject({
        status: 'DELIVERED',
        service: 'iMessage',
        was_downgraded: false,
      })
  })

  it("sends an effect under Apple's name", async () => {
    await kit.send({ content: 'Boom', send_style: 'slam' })
    await kit.advance(3000)
    expect(inboxOf(ANNA).at(-1)).toMatchObject({
      text: 'Boom',
      effect: 'com.apple.MobileSMS.expressivesend.impact',
    })
  })

  it('sends a reply to the message', async () => {
    const guid = kit.mac.phone(ANNA).text('Which one?')
    await kit.settle()
    const question = (await kit.inbound()).at(-1)
    await kit.send({ content: 'This one', reply_to: { message_handle: question.message_handle } })
    await kit.advance(3000)
    expect(inboxOf(ANNA).at(-1)).toMatchObject({ text: 'This one', replyTo: { guid, part: 0 } })
  })

  it('sends a file alone, and a file with a text as one message', async () => {
    await kit.send({ content: '', media_url: `${files.url}/photo.jpg` })
    await kit.until(() => inboxOf(ANNA).at(-1)!.attachments.length === 1)
    expect(inboxOf(ANNA).at(-1)).toMatchObject({
      text: '',
      attachments: [{ name: 'photo.jpg', mimeType: 'image/jpeg', bytes: JPEG }],
    })
    const both = await kit.send({ content: 'Look', media_url: `${files.url}/pixel.png` })
    await kit.until(() => inboxOf(ANNA).at(-1)!.text === 'Look')
    await kit.advance(3000)
    expect(inboxOf(ANNA).at(-1)).toMatchObject({
      text: 'Look',
      attachments: [{ name: 'pixel.png', bytes: PNG }],
    })
    expect(await kit.record(both.message_handle)).toMatchObject({ status: 'DELIVERED' })
  })

  it('opens a chat with the opener or the text before a file', async () => {
    await kit.send({ number: BEN, content: '', media_url: `${files.url}/photo.jpg` })
    await kit.until(() => inboxOf(BEN).length === 2)
    expect(inboxOf(BEN).map(({ text, attachments }) => [text, attachments.length])).toEqual([
      ['👋', 0],
      ['', 1],
    ])
    const both = await kit.send({ number: CARA, content: 'Look', media_url: `${files.url}/photo.jpg` })
    await kit.until(() => inboxOf(CARA).length === 2)
    await kit.advance(1000)
    expect(inboxOf(CARA).map(({ text, attachments }) => [text, attachments.length])).toEqual([
      ['Look', 0],
      ['', 1],
    ])
    expect((await kit.record(both.message_handle)).status).toBe('DELIVERED')
  })

  it('reports a file that cannot be read', async () => {
    const sent = await kit.send({ content: '', media_url: `${files.url}/gone.jpg` })
    await kit.until(async () => (await kit.record(sent.message_handle)).status === 'ERROR')
  })

  it('sends a carousel as one message with all its images', async () => {
    const media_urls = [`${files.url}/one.jpg`, `${files.url}/two.jpg`, `${files.url}/three.png`]
    await kit.world.post('/api/send-carousel', { from_number: MAC, number: ANNA, media_urls })
    await kit.settle()
    await kit.advance(3000)
    expect(
      inboxOf(ANNA)
        .at(-1)!
        .attachments.map(({ name }) => name),
    ).toEqual(['one.jpg', 'two.jpg', 'three.png'])
  })

  it('refuses a carousel with a file that is no image, whatever its name says', async () => {
    const before = inboxOf(ANNA).length
    const media_urls = [`${files.url}/one.jpg`, `${files.url}/film`]
    const body = { from_number: MAC, number: ANNA, media_urls }
    const { message_handle } = (await kit.world.post('/api/send-carousel', body)).body
    await kit.until(async () => (await kit.record(message_handle)).status === 'ERROR')
    expect((await kit.record(message_handle)).error_detail).toContain('is no image but video/mp4')
    expect(inboxOf(ANNA)).toHaveLength(before)
  })

  it('creates a group with its first message and reuses it', async () => {
    const body = { from_number: MAC, numbers: [ANNA, BEN], content: 'Hi all' }
    const first = (await kit.world.post('/api/send-group-message', body)).body
    await kit.settle()
    await kit.advance(3000)
    await kit.world.post('/api/send-group-message', {
      ...body,
      numbers: undefined,
      group_id: first.group_id,
      content: 'Again',
    })
    await kit.settle()
    await kit.advance(3000)
    const got = inboxOf(BEN).filter(({ group }) => group)
    expect(got.map(({ text }) => text)).toEqual(['Hi all', 'Again'])
    expect(new Set(got.map(({ group }) => group)).size).toBe(1)
    expect(got[0]!.to.sort()).toEqual([ANNA, BEN])
    expect(await kit.record(first.message_handle)).toMatchObject({ status: 'DELIVERED' })
    const groups = await kit.world.app.ctx.db.all('select chat_id from group_chats where line_id = $1', [
      kit.lineId,
    ])
    expect(groups).toEqual([{ chat_id: got[0]!.group!.split(';').at(-1) }])
  })

  it('adds a member to a group, names it, sets its photo and removes a member', async () => {
    const asking = async (work: Promise<{ status: number; body: Json }>) => {
      await kit.advance(1000)
      return (await work).status
    }
    const members = [ANNA, BEN, CARA]
    const body = { from_number: MAC, numbers: members, content: 'Three of you' }
    const { group_id } = (await kit.world.post('/api/send-group-message', body)).body
    await kit.settle()
    await kit.advance(3000)
    const group = () => kit.mac.world.groups().at(-1)!
    const modify = (modify_type: string, number: string) =>
      asking(kit.world.post('/api/modify-group', { group_id, modify_type, number }))
    expect(await modify('add_recipient', '+14155550107')).toBe(200)
    expect(group().members).toEqual([...members, '+14155550107'])
    expect(await modify('remove_recipient', BEN)).toBe(200)
    expect(group().members).toEqual([ANNA, CARA, '+14155550107'])
    const path = `/api/v2/groups/${group_id}`
    expect(await asking(kit.world.post(`${path}/name`, { group_name: 'Crew' }))).toBe(200)
    expect(group().name).toBe('Crew')
    const photo = kit.world.post(`${path}/photo`, { photo_url: `${files.url}/pixel.png` })
    await kit.until(() => kit.mac.heard.some((one) => one.path.endsWith('/icon') && one.status === 200))
    expect((await photo).status).toBe(200)
  })

  it('reports a read receipt once', async () => {
    const sent = await kit.send({ content: 'Read me' })
    await kit.advance(3000)
    kit.mac.phone(ANNA).read()
    await kit.settle()
    await kit.advance(HOUR)
    await kit.advance(HOUR)
    const reads = (await kit.world.events()).filter((one) => one.type === 'message.read')
    expect(reads.filter((one) => one.subject === sent.message_handle)).toHaveLength(1)
  })

  it('finds a failure that the server does not announce', async () => {
    kit.mac.phone(ANNA).next({ errorAfterMs: 20_000, error: 4 })
    const sent = await kit.send({ content: 'Into the void' })
    await kit.advance(16_000)
    expect((await kit.record(sent.message_handle)).status).toBe('ACCEPTED')
    await kit.advance(60_000)
    expect(await kit.record(sent.message_handle)).toMatchObject({
      status: 'ERROR',
      error_detail: expect.stringContaining('imessage_4'),
    })
  })

  it('reports a recipient who is not on iMessage', async () => {
    kit.mac.phone('+14155550109').person.imessage = false
    const sent = await kit.send({ number: '+14155550109' })
    await kit.advance(3000)
    expect(await kit.record(sent.message_handle)).toMatchObject({
      status: 'ERROR',
      error_detail: expect.stringContaining('not on iMessage'),
    })
  })

  it('passes tapbacks, typing, read receipts and the card of the line to the phone', async () => {
    const guid = kit.mac.phone(ANNA).text('React to this')
    await kit.settle()
    const { message_handle } = (await kit.inbound()).at(-1)
    const react = (reaction: string) =>
      kit.world.post('/api/send-reaction', { from_number: MAC, message_handle, reaction })
    expect((await react('love')).status).toBe(200)
    await kit.advance(1000)
    const { person } = kit.mac.phone(ANNA)
    expect(person.tapbacks.at(-1)).toMatchObject({ guid, reaction: 'love', removed: false })
    const removing = react('-love')
    await kit.advance(1000)
    expect((await removing).status).toBe(200)
    await kit.advance(1000)
    expect((await react('🦄')).status).toBe(422)
    const typing = await kit.world.post('/api/send-typing-indicator', { from_number: MAC, number: ANNA })
    expect(typing.status).toBe(200)
    expect(person.typing).toBe(true)
    await kit.advance(1000)
    expect((await kit.world.post('/api/mark-read', { from_number: MAC, number: ANNA })).status).toBe(200)
    expect(person.readMarks).toHaveLength(1)
    await kit.advance(1000)
    const share = await kit.world.post('/api/v2/contact-sharing/share', { from_number: MAC, number: ANNA })
    expect(share.status).toBe(200)
    expect(person.cardShared).toBe(1)
  })

  it('shows the password nowhere', async () => {
    expect(kit.world.logs.join('\n')).not.toContain('canary')
    const shown = JSON.stringify([await kit.world.events(), (await kit.inbound()) as Json[]])
    expect(shown).not.toContain('canary')
  })
})
