import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ANNA, BEN, CARA, createMacWorld, MAC, type MacWorld } from '../../support/drivers/mac-world.js'
import { type FileServer, JPEG, serve } from '../../support/files.js'
import { ENGINES } from '../../support/world.js'

const HOUR = 3_600_000
const MINUTE = 60_000

describe.each(ENGINES)('sends with an unknown outcome on a Mac, on %s', (engine) => {
  let kit: MacWorld
  let files: FileServer
  let n = 0
  beforeAll(async () => {
    files = await serve((_request, response) => void response.end(JPEG))
    kit = await createMacWorld(engine, { config: { poll_ms: HOUR } })
    // Creates the chats.
    for (const number of [ANNA, BEN]) await kit.send({ number, content: 'Opened' })
    await kit.advance(5000)
  })
  afterAll(async () => {
    await kit.close()
    await files.close()
  })
  const copies = (text: string) => kit.mac.world.sent.filter((one) => one.text === text).length
  const statusOf = async (handle: string) => (await kit.record(handle)).status

  async function sendOne(): Promise<{ handle: string; text: string }> {
    const text = `Message ${++n}`
    return { handle: (await kit.send({ content: text })).message_handle, text }
  }

  it.each([
    ['an answer of 504', { kind: '504' }],
    ['a connection that breaks after it was done', { kind: 'reset', works: true }],
    ['half an answer', { kind: 'truncated' }],
  ] as const)('%s: the message is found in its chat, and is not sent again', async (_, fault) => {
    kit.mac.fault({ route: 'POST /api/v1/message/text', ...fault })
    const { handle, text } = await sendOne()
    expect(await statusOf(handle)).toBe('PENDING')
    await kit.advance(10_000)
    expect(await statusOf(handle)).toBe('DELIVERED')
    await kit.advance(10 * MINUTE)
    expect(copies(text)).toBe(1)
  })

  it.each([
    ['an error without a reason', { kind: '500' }],
    ['a connection that breaks before it was done', { kind: 'reset', works: false }],
  ] as const)('%s: it is sent again when the Mac surely does not have it', async (_, fault) => {
    kit.mac.fault({ route: 'POST /api/v1/message/text', ...fault })
    const { handle, text } = await sendOne()
    await kit.advance(2 * MINUTE)
    expect([await statusOf(handle), copies(text)]).toEqual(['PENDING', 0])
    await kit.advance(2 * MINUTE)
    expect([await statusOf(handle), copies(text)]).toEqual(['DELIVERED', 1])
  })

  it('a helper that sent the message without answering', async () => {
    kit.mac.phone(ANNA).next({ outcome: 'timeout' })
    const { handle, text } = await sendOne()
    await kit.advance(130_000)
    await kit.advance(MINUTE)
    expect([await statusOf(handle), copies(text)]).toEqual(['DELIVERED', 1])
  })

  it('a helper that neither sent nor answered', async () => {
    kit.mac.phone(ANNA).next({ outcome: 'timeout-lost' })
    const { handle, text } = await sendOne()
    await kit.advance(130_000)
    expect([await statusOf(handle), copies(text)]).toEqual(['PENDING', 0])
    await kit.advance(3 * MINUTE)
    expect([await statusOf(handle), copies(text)]).toEqual(['DELIVERED', 1])
  })

  it('does not count a message as unsent while the helper is unhealthy', async () => {
    kit.mac.fault({ route: 'POST /api/v1/message/text', kind: 'reset', works: false })
    const { handle, text } = await sendOne()
    kit.mac.flags.helperConnected = false
    await kit.advance(15 * MINUTE)
    expect([await statusOf(handle), copies(text)]).toEqual(['PENDING', 0])
    kit.mac.flags.helperConnected = true
    await kit.advance(2 * HOUR)
    expect([await statusOf(handle), copies(text)]).toEqual(['DELIVERED', 1])
  })

  it('does not take a text typed on the Mac before as proof', async () => {
    kit.mac.world.sendFromOtherDevice(ANNA, 'Thanks!')
    await kit.advance(8 * MINUTE)
    kit.mac.fault({ route: 'POST /api/v1/message/text', kind: 'reset', works: false })
    const sent = await kit.send({ content: 'Thanks!' })
    await kit.advance(10_000)
    expect([await statusOf(sent.message_handle), copies('Thanks!')]).toEqual(['PENDING', 1])
    await kit.advance(4 * MINUTE)
    expect([await statusOf(sent.message_handle), copies('Thanks!')]).toEqual(['DELIVERED', 2])
  })

  it('finds two equal texts in doubt once each', async () => {
    kit.mac.fault({ route: 'POST /api/v1/message/text', kind: 'reset', works: true, times: 2 })
    const first = await kit.send({ content: 'Twice' })
    await kit.advance(10_000)
    const second = await kit.send({ content: 'Twice' })
    await kit.advance(10_000)
    for (const { message_handle } of [first, second]) expect(await statusOf(message_handle)).toBe('DELIVERED')
    const guids = await kit.world.app.ctx.db.all<{ provider_id: string }>(
      `select a.provider_id from attempts a join messages m on m.id = a.message_id where m.content = 'Twice'`,
    )
    expect(new Set(guids.map((one) => one.provider_id)).size).toBe(2)
    expect(copies('Twice')).toBe(2)
  })

  it('reports a read receipt once for a message delivered before a restart', async () => {
    const { handle } = await sendOne()
    await kit.advance(10_000)
    expect(await statusOf(handle)).toBe('DELIVERED')
    await kit.world.restart()
    await kit.settle()
    kit.mac.phone(ANNA).read()
    await kit.settle()
    await kit.advance(HOUR)
    await kit.world.restart()
    await kit.advance(HOUR)
    const reads = (await kit.world.events()).filter((one) => one.type === 'message.read')
    expect(reads.filter((one) => one.subject === handle)).toHaveLength(1)
  })

  it('does not take an earlier equal text as proof', async () => {
    await kit.send({ content: 'Again and again' })
    await kit.advance(10_000)
    await kit.world.restart()
    await kit.settle()
    kit.mac.fault({ route: 'POST /api/v1/message/text', kind: 'reset', works: false })
    const second = await kit.send({ content: 'Again and again' })
    await kit.advance(10_000)
    expect([await statusOf(second.message_handle), copies('Again and again')]).toEqual(['PENDING', 1])
    await kit.advance(4 * MINUTE)
    expect([await statusOf(second.message_handle), copies('Again and again')]).toEqual(['DELIVERED', 2])
  })

  it('finds the message after the database was recreated', async () => {
    kit.mac.fault({ route: 'POST /api/v1/message/text', kind: 'reset', works: true })
    const { handle, text } = await sendOne()
    kit.mac.rebuild()
    await kit.advance(10_000)
    expect(await statusOf(handle)).toBe('DELIVERED')
    await kit.advance(10 * MINUTE)
    expect(copies(text)).toBe(1)
  })

  it('finds the message after its chat was renamed', async () => {
    kit.mac.fault({ route: 'POST /api/v1/message/text', kind: 'reset', works: true })
    const sent = await kit.send({ number: BEN, content: 'Moved' })
    const rename = (from: string, to: string) =>
      kit.mac.world.db.run('update chat set guid = ? where guid = ?', `${to};-;${BEN}`, `${from};-;${BEN}`)
    rename('iMessage', 'any')
    await kit.advance(10_000)
    expect([await statusOf(sent.message_handle), copies('Moved')]).toEqual(['DELIVERED', 1])
    rename('any', 'iMessage')
  })

  it('waits twenty minutes for a file in doubt', async () => {
    kit.mac.fault({ route: 'POST /api/v1/message/attachment', kind: '504', works: false })
    const sent = await kit.send({ content: '', media_url: `${files.url}/slow.jpg` })
    await kit.until(async () => (await statusOf(sent.message_handle)) === 'PENDING')
    const arrived = () => kit.mac.world.sent.filter((one) => one.attachments[0]?.name === 'slow.jpg').length
    await kit.advance(19 * MINUTE)
    expect([await statusOf(sent.message_handle), arrived()]).toEqual(['PENDING', 0])
    await kit.advance(2 * MINUTE)
    await kit.until(async () => (await statusOf(sent.message_handle)) === 'DELIVERED')
    expect(arrived()).toBe(1)
  })

  it('counts the twenty minutes from the moment of doubt, not from the start of the upload', async () => {
    const heard = (path: string) => kit.mac.heard.filter((one) => one.path.endsWith(path)).length
    const posted = heard('/message/multipart')
    kit.mac.fault({ route: 'POST /api/v1/attachment/upload', kind: 'delay', ms: 11 * MINUTE, times: 2 })
    kit.mac.phone(ANNA).next({ helperMs: 100_000 })
    const sent = await kit.world.post('/api/send-carousel', {
      from_number: MAC,
      number: ANNA,
      media_urls: [`${files.url}/one.jpg`, `${files.url}/two.jpg`],
    })
    for (const n of [1, 2]) {
      await kit.until(() => heard('/attachment/upload') === n)
      await kit.advance(11 * MINUTE)
    }
    await kit.until(() => heard('/message/multipart') === posted + 1)
    kit.mac.cut()
    await kit.until(async () => (await statusOf(sent.body.message_handle)) === 'PENDING')
    await kit.advance(10_000)
    expect(heard('/message/multipart')).toBe(posted + 1)
    await kit.advance(3 * MINUTE)
    expect(await statusOf(sent.body.message_handle)).toBe('DELIVERED')
    expect(kit.mac.world.sent.filter((one) => one.attachments.length === 2)).toHaveLength(1)
    expect(heard('/message/multipart')).toBe(posted + 1)
  })

  it('finds a file in doubt by its name', async () => {
    kit.mac.fault({ route: 'POST /api/v1/message/attachment', kind: '504', works: true })
    const sent = await kit.send({ content: '', media_url: `${files.url}/found.jpg` })
    await kit.until(async () => (await statusOf(sent.message_handle)) === 'DELIVERED')
    expect(kit.mac.world.sent.filter((one) => one.attachments[0]?.name === 'found.jpg')).toHaveLength(1)
  })

  it('keeps both ids of a first text with a file', async () => {
    const cara = kit.mac.phone(CARA)
    const first = await kit.send({ number: CARA, content: 'Hi there', media_url: `${files.url}/hi.jpg` })
    const handle: string = first.message_handle
    await kit.until(async () => (await statusOf(handle)) === 'DELIVERED')
    const guids = cara.inbox.map(({ guid }) => guid)
    expect(guids).toHaveLength(2)

    for (const [i, guid] of guids.entries()) cara.text(`Answer ${i}`, { replyTo: guid })
    cara.tapback(guids[1]!, 'love')
    await kit.advance(HOUR)
    const answers = (await kit.inbound()).filter((one) => one.content.startsWith('Answer'))
    expect(answers.map((one) => one.reply_to?.message_handle)).toEqual([handle, handle])
    const ofIt = async (type: string) =>
      (await kit.world.events()).filter((one) => one.type === type && one.subject === handle)
    expect(await ofIt('message.reaction')).toHaveLength(1)

    const quoting = await kit.send({
      number: CARA,
      content: 'Quoting',
      reply_to: { message_handle: handle },
    })
    await kit.advance(10_000)
    expect(await statusOf(quoting.message_handle)).toBe('DELIVERED')

    await kit.world.restart()
    await kit.settle()
    cara.read()
    await kit.advance(HOUR)
    expect(await ofIt('message.read')).toHaveLength(1)

    // Rows with these ids are no proof of another send.
    kit.mac.fault({ route: 'POST /api/v1/message/text', kind: 'reset', works: false })
    const again = await kit.send({ number: CARA, content: 'Hi there' })
    await kit.advance(10_000)
    expect([await statusOf(again.message_handle), copies('Hi there')]).toEqual(['PENDING', 1])
    await kit.advance(4 * MINUTE)
    expect([await statusOf(again.message_handle), copies('Hi there')]).toEqual(['DELIVERED', 2])
  })

  it('resolves a send after the process was stopped during it', async () => {
    kit.mac.fault({ route: 'POST /api/v1/message/text', kind: 'hang', works: true })
    const { handle, text } = await sendOne()
    await kit.advance(10)
    await kit.world.restart()
    await kit.settle()
    await kit.advance(30_000)
    expect([await statusOf(handle), copies(text)]).toEqual(['DELIVERED', 1])
  })

  it('keeps the status if no evidence ever arrives', async () => {
    kit.mac.phone(BEN).next({ outcome: 'lost' })
    const sent = await kit.send({ number: BEN, content: 'Lost' })
    await kit.advance(3 * HOUR)
    expect(await statusOf(sent.message_handle)).toBe('ACCEPTED')
  })

  it('holds messages while the helper is missing, says why, and sends them when it is back', async () => {
    kit.mac.flags.helperConnected = false
    const { handle, text } = await sendOne()
    await kit.advance(1000)
    expect(await kit.line()).toMatchObject({
      state: 'OFFLINE',
      state_detail: expect.stringContaining('helper is not connected'),
    })
    await kit.advance(2 * HOUR)
    expect([await statusOf(handle), copies(text)]).toEqual(['QUEUED', 0])
    kit.mac.flags.helperConnected = true
    await kit.advance(2 * HOUR)
    expect(await kit.line()).toMatchObject({ state: 'ONLINE' })
    expect([await statusOf(handle), copies(text)]).toEqual(['DELIVERED', 1])
  })

  it('holds messages while the Mac is unreachable, and sends them when it is back', async () => {
    await kit.mac.stop()
    const { handle, text } = await sendOne()
    await kit.advance(1000)
    expect(await kit.line()).toMatchObject({
      state: 'OFFLINE',
      state_detail: expect.stringContaining('cannot be reached'),
    })
    await kit.mac.start()
    await kit.advance(2 * HOUR)
    expect([await statusOf(handle), copies(text)]).toEqual(['DELIVERED', 1])
  })

  it('blocks the line when Apple removes its number', async () => {
    kit.mac.world.removeAlias((await kit.line()).number)
    await kit.settle()
    expect(await kit.line()).toMatchObject({ state: 'DEGRADED', blocked_at: expect.any(String) })
  })
})
