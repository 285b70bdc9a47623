import { afterEach, describe, expect, it } from 'vitest'
import type { BlueBubbles, BlueBubblesOptions } from '../../peers/bluebubbles/bluebubbles.js'
import { WEBHOOK_EVENTS } from '../../peers/bluebubbles/routes/webhooks.js'
import { ask, createMacs, type Event, eventually, manualClock } from '../../support/drivers/bluebubbles.js'
import { ALICE, at, BOB, CAROL, chatOf, keys, PA } from '../../support/drivers/bluebubbles-peer.js'

const types = (events: Event[]) => events.map(({ type }) => type)

const macs = createMacs()
afterEach(macs.close)

const NOTIFICATION =
  `originalROWID guid text attributedBody handle handleId otherHandle attachments subject error
  dateCreated dateRead dateDelivered isDelivered isFromMe hasDdResults isArchived itemType groupTitle groupActionType
  balloonBundleId associatedMessageGuid associatedMessageType expressiveSendStyleId threadOriginatorGuid
  hasPayloadData messageSummaryInfo payloadData dateEdited dateRetracted partCount`.split(/\s+/)

/** A Mac with a webhook for every event. */
async function watched(options: BlueBubblesOptions = {}, events: string[] = ['*']) {
  const mac = await macs.open(options)
  const hook = await macs.receiver()
  const made = await ask(mac, 'POST webhook', { url: hook.url, events })
  return { mac, got: hook.got, url: hook.url, hook: made.body.data as { id: number } }
}

/** Waits until the Mac has sent all events and they were received. */
async function told(mac: BlueBubbles) {
  await new Promise((resolve) => setImmediate(resolve))
  await mac.settle()
}

/** All events in the order of sending; they overtake each other on the way. */
async function inOrder(mac: BlueBubbles, got: Event[]): Promise<Event[]> {
  await told(mac)
  const emitted = (mac.emitted as Event[]).slice(-got.length || mac.emitted.length)
  const plain = (events: Event[]) => events.map((event) => JSON.stringify(event)).sort()
  expect(plain(got)).toEqual(plain(emitted.map(({ type, data }) => ({ type, data }))))
  return emitted
}

const say = (mac: BlueBubbles, message: string, more: object = {}) =>
  ask(mac, 'POST message/text', { chatGuid: chatOf(ALICE), message, method: PA, ...more })

describe('webhooks: registration', () => {
  it('creates, lists and deletes webhooks, and keeps the first of a repeated URL', async () => {
    const mac = await macs.open()
    const create = (events: unknown, url = 'http://a.test/x') => ask(mac, 'POST webhook', { url, events })
    const made = await create(['new-message'])
    expect(made.body.message).toBe('Successfully created webhook!')
    expect(keys(made.body.data)).toEqual(['created', 'events', 'id', 'url'])
    expect((await create(['*'])).body.data).toEqual(made.body.data)
    expect((await ask(mac, 'GET webhook')).body.data).toEqual([made.body.data])
    expect((await ask(mac, `DELETE webhook/${made.body.data.id}`)).body).toEqual({
      status: 200,
      message: 'Successfully deleted webhook!',
    })
    const gone = await ask(mac, `DELETE webhook/${made.body.data.id}`)
    expect([gone.status, gone.body.error]).toEqual([
      404,
      { type: 'Database Error', message: 'Webhook does not exist!' },
    ])
    expect((await create(['*'])).body.data.events).toEqual(['*'])
  })

  it('rejects a list with an unknown event and a URL without a scheme; filters answer 500', async () => {
    const mac = await macs.open()
    const complaint = async (body: object) => {
      const { status, body: answer } = await ask(mac, 'POST webhook', body)
      return [status, answer.error.message]
    }
    expect(
      await complaint({ url: 'http://a.test', events: ['new-message', 'imessage-aliases-removed'] }),
    ).toEqual([
      400,
      `Invalid webhook event: imessage-aliases-removed! Webhook must be one of: ${WEBHOOK_EVENTS}`,
    ])
    expect(await complaint({ url: 'a.test', events: ['*'] })).toEqual([
      400,
      'Webhook URL must include an HTTP scheme!',
    ])
    expect(await complaint({ url: 'http://a.test', events: [] })).toEqual([
      400,
      'The events field is required.',
    ])
    expect((await ask(mac, 'GET webhook')).body.data).toEqual([])
    expect((await ask(mac, 'GET webhook?id=1')).status).toBe(500)
    expect((await ask(mac, 'GET webhook?url=http://b.test')).status).toBe(500)
  })

  it('differs by server: Swift updates, Rust has no webhooks', async () => {
    const swift = await macs.open({ profile: 'swift' })
    const create = (events: string[]) => ask(swift, 'POST webhook', { url: 'http://a.test', events })
    const { id } = (await create(['new-message'])).body.data
    expect((await create(['*'])).body.data).toMatchObject({ id, events: ['*'] })
    const put = await ask(swift, `PUT /api/v2/webhook/${id}`, { events: ['updated-message'] })
    expect(put.body).toMatchObject({
      message: 'Successfully updated webhook!',
      data: { events: ['updated-message'] },
    })
    const rust = await macs.open({ profile: 'imessage-rs' })
    expect((await ask(rust, 'POST webhook', { url: 'http://a.test', events: ['*'] })).status).toBe(404)
    const electron = await macs.open()
    expect((await ask(electron, 'PUT /api/v2/webhook/1', {})).body).toBe('Not Found')
  })
})

describe('webhooks: events', () => {
  it('sends a new message with exactly the fields of a notification, and an update without chats', async () => {
    const { mac, got } = await watched()
    const guid = mac.phone(ALICE).text('Look', {
      attachment: { name: 'a.png', mimeType: 'image/png', bytes: Buffer.from('png') },
    })
    await told(mac)
    expect(types(got)).toEqual(['new-message'])
    expect(keys(got[0]!.data)).toEqual([...NOTIFICATION, 'chats'].sort())
    expect(keys(got[0]!.data.handle)).toEqual(['address', 'originalROWID', 'service'])
    expect(keys(got[0]!.data.chats[0])).toEqual([
      'chatIdentifier',
      'displayName',
      'guid',
      'isArchived',
      'originalROWID',
      'style',
    ])
    expect(keys(got[0]!.data.attachments[0])).toEqual([
      'guid',
      'height',
      'metadata',
      'mimeType',
      'originalROWID',
      'totalBytes',
      'transferName',
      'uti',
      'width',
    ])
    mac.phone(ALICE).edit(guid, 'Look here')
    await told(mac)
    expect(types(got)).toEqual(['new-message', 'updated-message'])
    expect(keys(got[1]!.data)).toEqual([...NOTIFICATION].sort())
    mac.phone(ALICE).unsend(guid)
    await told(mac)
    expect(got[2]!.data).toMatchObject({ guid, text: '', dateRetracted: expect.any(Number) })
  })

  it('sends our own message twice if it has a tempGuid, then delivery and reading, but no error', async () => {
    const { mac, got } = await watched({ waits: { sent: 5, delivered: 5 } })
    mac.phone(ALICE).text('Hello')
    await say(mac, 'Hi', { tempGuid: 'mine' })
    await eventually(() => expect(types(got)).toContain('updated-message'))
    const ours = (await inOrder(mac, got)).filter(({ data }) => data.isFromMe)
    expect(ours.map(({ type, data }) => [type, data.tempGuid])).toEqual([
      ['new-message', 'mine'],
      ['new-message', undefined],
      ['updated-message', undefined],
    ])
    const { guid } = ours[0]!.data
    mac.phone(ALICE).read(guid)
    await told(mac)
    expect(got.at(-1)!.data).toMatchObject({ guid, isDelivered: true, dateRead: expect.any(Number) })
    const before = got.length
    mac.phone(ALICE).next({ errorAfterMs: 5 })
    const failed = await say(mac, 'Fails later')
    await eventually(() => expect(mac.world.row(failed.body.data.guid)?.error).toBe(22))
    await told(mac)
    expect(types(got.slice(before))).toEqual(['new-message'])
    mac.phone(ALICE).next({ error: 22 })
    await say(mac, 'Fails at once')
    await told(mac)
    expect(got.at(-1)).toMatchObject({ type: 'message-send-error', data: { error: 22 } })
  })

  it('sends tapbacks as messages, with names, or numbers where there is no name', async () => {
    const { mac, got } = await watched()
    const guid = mac.phone(ALICE).text('Hello')
    mac.phone(ALICE).tapback(guid, 'love', { part: 1 })
    mac.phone(ALICE).tapback(guid, 'love', { remove: true })
    mac.phone(ALICE).tapback(guid, 'emoji', { emoji: '🎉' })
    const [, ...tapbacks] = await inOrder(mac, got)
    expect(tapbacks.map(({ data }) => [data.associatedMessageType, data.associatedMessageGuid])).toEqual([
      ['love', `p:1/${guid}`],
      ['-love', `p:0/${guid}`],
      ['2006', `p:0/${guid}`],
    ])
    expect(JSON.stringify(tapbacks)).not.toContain('🎉')
  })

  it('sends group changes as their own events and again as messages', async () => {
    const { mac, got } = await watched()
    const group = mac.phone(ALICE).startGroup([BOB], { name: 'Us' })
    mac.phone(ALICE).rename(group, 'All of us')
    mac.phone(ALICE).add(group, CAROL)
    mac.phone(ALICE).remove(group, CAROL)
    mac.phone(ALICE).setIcon(group, Buffer.from('icon'))
    mac.phone(ALICE).setIcon(group, null)
    mac.phone(BOB).leave(group)
    const events = await inOrder(mac, got)
    expect(types(events)).toEqual(
      [
        'group-name-change',
        'participant-added',
        'participant-removed',
        'group-icon-changed',
        'group-icon-removed',
        'participant-left',
      ]
        .flatMap((type) => [type, 'new-message'])
        .toSpliced(0, 0, 'new-message'),
    )
    expect(events[3]!.data).toMatchObject({
      itemType: 1,
      groupActionType: 0,
      otherHandle: expect.any(Number),
    })
    expect(events[1]!.data).toMatchObject({ itemType: 2, groupTitle: 'All of us' })
  })

  it('sends typing of single people only, without repeats within five seconds', async () => {
    const clock = manualClock()
    const { mac, got } = await watched({ clock })
    const group = mac.phone(ALICE).startGroup([BOB])
    await told(mac)
    got.splice(0)
    mac.phone(ALICE).typing(true, { group })
    mac.phone(ALICE).typing(true)
    clock.advance(4999)
    mac.phone(ALICE).typing(true)
    mac.phone(ALICE).typing(false)
    mac.phone(ALICE).typing(true)
    clock.advance(5000)
    mac.phone(ALICE).typing(true)
    expect((await inOrder(mac, got)).map(({ data }) => data)).toEqual(
      [true, false, true, true].map((display) => ({ display, guid: chatOf(ALICE) })),
    )
  })

  it('sends other events in their own shapes, some only to webhooks for all events', async () => {
    const { mac, got } = await watched({ osVersion: '13.6' })
    const named = await macs.receiver()
    await ask(mac, 'POST webhook', {
      url: named.url,
      events: ['imessage-alias-removed', 'incoming-facetime'],
    })
    mac.phone(ALICE).shareLocation({ coordinates: [1, 2] })
    mac.phone(ALICE).call()
    mac.world.removeAlias('+15550100000')
    await ask(mac, `POST chat/${at(chatOf(ALICE))}/read`)
    mac.phone(ALICE).text('Hello')
    await told(mac)
    await ask(mac, `POST chat/${at(chatOf(ALICE))}/read`)
    const events = await inOrder(mac, got)
    expect(types(events)).toEqual([
      'new-findmy-location',
      'incoming-facetime',
      'imessage-aliases-removed',
      'new-message',
      'chat-read-status-changed',
      // We read their message.
      'updated-message',
    ])
    expect(JSON.parse(events[1]!.data)).toEqual({ caller: ALICE, timestamp: expect.any(Number) })
    expect(events[2]!.data).toEqual({ aliases: ['+15550100000'] })
    expect(events[4]!.data).toEqual({ chatGuid: chatOf(ALICE), read: true })
    expect(types(named.got)).toEqual(['incoming-facetime'])
    expect((await ask(mac, 'GET icloud/account')).body.data.vetted_aliases).toEqual([
      expect.objectContaining({ Alias: 'line@example.com' }),
    ])
  })
})

describe('webhooks: faults', () => {
  it.each([
    ['drop', { drop: true }, []],
    [
      'drop some',
      { drop: (_: string, data: unknown) => (data as { text: string }).text === 'one' },
      ['two', 'three'],
    ],
    ['duplicate', { copies: 2 }, ['one', 'one', 'three', 'three', 'two', 'two']],
    ['delay', { delayMs: 5 }, ['one', 'three', 'two']],
    ['newest only', { newestOnly: 2 }, ['three', 'two']],
    ['watcher dead', { watcherDead: true }, []],
  ])('%s', async (_name, switches, expected) => {
    const { mac, got } = await watched({})
    Object.assign(mac.switches, switches)
    for (const word of ['one', 'two', 'three']) mac.phone(ALICE).text(word)
    await told(mac)
    await eventually(() => expect(got.length).toBeGreaterThanOrEqual(expected.length))
    // Events are sent independently, in no particular order.
    expect(got.map(({ data }) => data.text).sort()).toEqual([...expected].sort())
  })

  it('reorders events, and omits attachments at first', async () => {
    const { mac, got } = await watched()
    mac.switches.reorder = 2
    mac.phone(ALICE).text('one')
    await told(mac)
    expect(got).toEqual([])
    mac.phone(ALICE).text('two')
    await eventually(() => expect(got).toHaveLength(2))
    expect(mac.emitted.slice(-2).map(({ data }) => (data as { text: string }).text)).toEqual(['one', 'two'])
    mac.switches.reorder = 0
    mac.switches.emptyAttachmentsFirst = true
    const guid = mac.phone(ALICE).text('', {
      attachment: { name: 'a.png', mimeType: 'image/png', bytes: Buffer.from('png') },
    })
    await told(mac)
    expect(got[2]!.data).toMatchObject({ guid, text: '', attachments: [] })
    expect((await ask(mac, `GET message/${guid}?with=attachments`)).body.data.attachments).toHaveLength(1)
  })

  it('sends hello-world after a restart, but no messages of the downtime', async () => {
    const { mac, got } = await watched()
    mac.phone(ALICE).text('before')
    await told(mac)
    await mac.stop()
    await expect(ask(mac, 'GET ping')).rejects.toThrow()
    mac.phone(ALICE).text('meanwhile')
    await mac.start()
    mac.phone(ALICE).text('after')
    await told(mac)
    expect(got.map(({ type, data }) => data?.text ?? type).sort()).toEqual(['after', 'before', 'hello-world'])
    expect((await ask(mac, 'POST message/query', {})).body.data).toHaveLength(3)
    expect((await ask(mac, 'GET webhook')).body.data).toHaveLength(1)
  })

  it('restarts on request, which revives a dead watcher', async () => {
    const { mac, got } = await watched()
    mac.switches.watcherDead = true
    mac.phone(ALICE).text('unheard')
    expect((await ask(mac, 'GET server/restart/soft')).body.message).toBe(
      'Successfully kicked off services restart!',
    )
    await eventually(() => expect(types(got)).toEqual(['hello-world']))
    mac.phone(ALICE).text('heard')
    await eventually(() => expect(types(got)).toEqual(['hello-world', 'new-message']))
  })

  it('replays changed rows of a week, or all, as new', async () => {
    const { mac, got } = await watched()
    const guid = mac.phone(ALICE).text('one')
    mac.phone(ALICE).text('two')
    mac.phone(ALICE).text('old', { sentAt: Date.now() - 8 * 86_400_000 })
    await told(mac)
    mac.phone(ALICE).edit(guid, 'edited')
    await told(mac)
    got.splice(0)
    mac.replay()
    await told(mac)
    expect(got).toMatchObject([{ type: 'new-message', data: { guid } }])
    mac.replay(true)
    await eventually(() => expect(got).toHaveLength(3))
  })

  it('survives a receiver that is down, without a retry', async () => {
    const { mac } = await watched()
    await ask(mac, 'POST webhook', { url: 'http://127.0.0.1:1/none', events: ['*'] })
    mac.phone(ALICE).text('one')
    await told(mac)
    expect(mac.emitted.filter(({ type }) => type === 'new-message')).toHaveLength(1)
  })

  it('restarts ROWIDs in a new database, which keeps guids', async () => {
    const { mac, got } = await watched()
    const guids = ['one', 'two'].map((word) => mac.phone(ALICE).text(word))
    mac.phone(ALICE).text('lost')
    await told(mac)
    mac.rebuild(({ text }) => text !== 'lost')
    const rows = (await ask(mac, 'POST message/query', { sort: 'ASC', with: ['chat'] })).body.data
    expect(rows.map((row: { originalROWID: number; guid: string }) => [row.originalROWID, row.guid])).toEqual(
      [
        [1, guids[0]],
        [2, guids[1]],
      ],
    )
    await told(mac)
    expect(got).toHaveLength(3)
  })

  it('cuts every connection without losing data', async () => {
    const clock = manualClock()
    const { mac } = await watched({ clock })
    mac.phone(ALICE).next({ helperMs: 1000 })
    mac.phone(ALICE).text('Hello')
    const sending = say(mac, 'Hi').catch(() => 'cut')
    await eventually(() => expect(mac.phone(ALICE).person.next).toEqual([]))
    mac.cut()
    expect(await sending).toBe('cut')
    await eventually(() => {
      clock.advance(1000)
      expect(mac.phone(ALICE).texts()).toEqual(['Hi'])
    })
  })
})
