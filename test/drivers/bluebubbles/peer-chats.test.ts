import { afterEach, describe, expect, it } from 'vitest'
import type { BlueBubbles } from '../../peers/bluebubbles/bluebubbles.js'
import { FIND_MY_BALLOON } from '../../peers/bluebubbles/phone.js'
import { ask, createMacs, eventually, form, manualClock } from '../../support/drivers/bluebubbles.js'
import { ALICE, at, BOB, CAROL, chatOf, PA } from '../../support/drivers/bluebubbles-peer.js'

const macs = createMacs()
const { open } = macs
afterEach(macs.close)

const group = async (mac: BlueBubbles, addresses = [ALICE, BOB]) =>
  (await ask(mac, 'POST chat/new', { addresses, message: 'Hi all', method: PA })).body.data.guid as string

describe('groups', () => {
  it('creates only one group of the same people', async () => {
    const mac = await open()
    const guid = await group(mac)
    expect(guid).toMatch(/^iMessage;\+;chat\d+$/)
    expect(await group(mac, [BOB, ALICE])).toBe(guid)
    expect(await group(mac, [BOB, ALICE, CAROL])).not.toBe(guid)
    await eventually(() => expect(mac.phone(BOB).inbox).toHaveLength(3))
    expect(mac.phone(BOB).inbox[0]).toMatchObject({ group: guid, text: 'Hi all', to: [ALICE, BOB] })
    expect(mac.world.groups()[0]).toEqual({ guid, name: '', members: [ALICE, BOB] })
    const any = await open({ chatPrefix: 'any' })
    expect(await group(any)).toMatch(/^any;\+;chat\d+$/)
  })

  it.each(['participant', 'participant/add'])(
    'adds by POST %s, and waits in vain for who is there',
    async (path) => {
      const mac = await open()
      const guid = await group(mac)
      const added = await ask(mac, `POST chat/${at(guid)}/${path}`, { address: CAROL })
      expect(added.body.data.participants.map((item: { address: string }) => item.address)).toEqual([
        ALICE,
        BOB,
        CAROL,
      ])
      const again = await ask(mac, `POST chat/${at(guid)}/${path}`, { address: CAROL })
      expect([again.status, again.body]).toEqual([
        500,
        {
          status: 500,
          message: 'An unhandled error has occurred!',
          error: {
            type: 'Server Error',
            message: 'Failed to add participant to chat! Operation took longer than 5 seconds!',
          },
        },
      ])
    },
  )

  it.each(['DELETE participant', 'POST participant/remove'])('removes by %s', async (route) => {
    const mac = await open()
    const guid = await group(mac, [ALICE, BOB, CAROL])
    const [method, path] = route.split(' ')
    const removed = await ask(mac, `${method} chat/${at(guid)}/${path}`, { address: CAROL })
    expect(removed.body.data.participants).toHaveLength(2)
    const single = await ask(mac, 'POST chat/new', { addresses: [ALICE], message: 'Hi', method: PA })
    const failed = await ask(mac, `${method} chat/${at(single.body.data.guid)}/${path}`, { address: ALICE })
    expect(failed.body.error.message).toBe('Chat is not a group chat!')
  })

  it('renames a group, but not a chat of two, not to nothing, and not while stuck', async () => {
    const mac = await open()
    const guid = await group(mac)
    const put = (body: object, chat = guid) => ask(mac, `PUT chat/${at(chat)}`, body)
    const renamed = await put({ displayName: 'Us' })
    expect(renamed.body.message).toBe('Successfully updated the following fields: displayName')
    expect(renamed.body.data).toMatchObject({ displayName: 'Us', participants: [] })
    const nothing = await put({})
    expect([nothing.status, nothing.body.message]).toEqual([
      200,
      'Chat not updated! No update information provided!',
    ])
    await ask(mac, 'POST chat/new', { addresses: [ALICE], message: 'Hi', method: PA })
    const single = await put({ displayName: 'Us' }, chatOf(ALICE))
    expect([single.status, single.body.error]).toEqual([
      500,
      { type: 'iMessage Error', message: 'Chat is not a group' },
    ])
    mac.flags.groupsStuck = true
    expect((await put({ displayName: 'You' })).body.error.message).toBe(
      'Failed to set new display name! Operation took longer than 30 seconds!',
    )
  })

  it('sets an icon, leaves and deletes a group', async () => {
    const mac = await open()
    const guid = at(await group(mac))
    expect((await ask(mac, `GET chat/${guid}/icon`)).body.error.message).toBe(
      'Unable to find icon for the selected chat',
    )
    const bytes = Buffer.from('icon')
    const set = await ask(mac, `POST chat/${guid}/icon`, form({}, { icon: { name: 'i.jpg', bytes } }))
    expect(set.body).toEqual({ status: 200, message: 'Successfully set group chat icon!' })
    expect((await ask(mac, `GET chat/${guid}/icon`)).bytes).toEqual(bytes)
    await ask(mac, `DELETE chat/${guid}/icon`)
    expect((await ask(mac, `GET chat/${guid}/icon`)).status).toBe(404)
    expect((await ask(mac, `POST chat/${guid}/icon`, form({}, {}))).body.error.message).toBe(
      'Icon not provided or was empty!',
    )
    expect((await ask(mac, `POST chat/${guid}/leave`)).status).toBe(200)
    expect((await ask(mac, `DELETE chat/${guid}`)).status).toBe(200)
    expect((await ask(mac, `DELETE chat/${guid}`)).status).toBe(500)
  })
})

describe('presence', () => {
  it.each([
    ['electron-1.9.9' as const, [true, true], true],
    ['electron-dev' as const, [true, false], false],
    ['swift' as const, [true, false], false],
  ])('stops typing as %s does it', async (profile, log, typing) => {
    const mac = await open({ profile })
    mac.phone(ALICE).text('Hello')
    const path = `chat/${at(chatOf(ALICE))}/typing`
    await ask(mac, `POST ${path}`)
    expect((await ask(mac, `DELETE ${path}`)).body).toEqual({
      status: 200,
      message: 'Successfully stopped typing!',
    })
    expect([mac.phone(ALICE).person.typingLog, mac.phone(ALICE).person.typing]).toEqual([log, typing])
    await ask(mac, 'POST message/text', { chatGuid: chatOf(ALICE), message: 'Hi', method: PA })
    expect(mac.phone(ALICE).person.typing).toBe(false)
    expect((await ask(mac, `POST chat/${at('iMessage;-;nobody')}/typing`)).status).toBe(200)
  })

  it('marks as read and shares its card', async () => {
    const mac = await open()
    mac.phone(ALICE).text('Hello')
    const chat = `chat/${at(chatOf(ALICE))}`
    await ask(mac, `POST ${chat}/read`)
    expect(mac.phone(ALICE).person.readMarks).toHaveLength(1)
    expect((await ask(mac, `GET ${chat}/share/contact/status`)).body.data).toBe(true)
    await ask(mac, `POST ${chat}/share/contact`)
    expect((await ask(mac, `GET ${chat}/share/contact/status`)).body.data).toBe(false)
    expect(mac.phone(ALICE).person.cardShared).toBe(1)
    expect((await ask(mac, 'GET icloud/contact')).body.data).toEqual({ name: 'Line', avatar_path: null })
    mac.phone(ALICE).person.card = { name: 'Alice', avatar: 'YWJj' }
    const card = await ask(mac, `GET icloud/contact?address=${at(ALICE)}`)
    expect(card.body.data).toEqual({ name: 'Alice', avatar: 'YWJj' })
  })

  it('sends and removes tapbacks, emoji only from the Swift server', async () => {
    const mac = await open({ profile: 'swift' })
    const guid = mac.phone(ALICE).text('Hello')
    const react = (more: object) =>
      ask(mac, 'POST message/react', { chatGuid: chatOf(ALICE), selectedMessageGuid: guid, ...more })
    const sent = await react({ reaction: 'love', partIndex: 1 })
    expect(sent.body).toMatchObject({
      message: 'Reaction sent!',
      data: { associatedMessageGuid: `p:1/${guid}`, associatedMessageType: 'love', text: 'Loved “Hello”' },
    })
    await react({ reaction: '-love' })
    await react({ reaction: 'emoji', emoji: '🎉' })
    await eventually(() =>
      expect(mac.phone(ALICE).person.tapbacks).toMatchObject([
        { reaction: 'love', part: 1, removed: false },
        { reaction: 'love', removed: true },
        { reaction: 'emoji', emoji: '🎉' },
      ]),
    )
    const unknown = await react({ reaction: 'like', selectedMessageGuid: 'none' })
    expect([unknown.status, unknown.body.error.message]).toEqual([400, 'Selected message does not exist!'])
  })

  it('edits and unsends, from macOS 13 on', async () => {
    const mac = await open()
    mac.phone(ALICE).text('Hello')
    const sent = await ask(mac, 'POST message/text', { chatGuid: chatOf(ALICE), message: 'Hi', method: PA })
    const { guid } = sent.body.data
    await eventually(() => expect(mac.phone(ALICE).inbox).toHaveLength(1))
    const edit = { editedMessage: 'Hey', backwardsCompatibilityMessage: 'Edited to Hey', partIndex: 0 }
    expect((await ask(mac, `POST message/${guid}/edit`, edit)).body.data).toMatchObject({ text: 'Hey' })
    expect(mac.phone(ALICE).inbox[0]).toMatchObject({ text: 'Hey', edited: true })
    expect((await ask(mac, `POST message/${guid}/unsend`, { partIndex: 0 })).body.message).toBe(
      'Message unsent!',
    )
    expect(mac.phone(ALICE).inbox[0]).toMatchObject({ unsent: true })
    mac.flags.osVersion = '12.7'
    expect((await ask(mac, `POST message/${guid}/edit`, edit)).status).toBe(500)
  })
})

describe('attachments', () => {
  it('serves attachments by the end of their guid, HEIC as JPEG, and without a length in 1.9.9', async () => {
    const mac = await open()
    const bytes = Buffer.from('heic')
    const guid = mac.phone(ALICE).text('', { attachment: { name: 'a.heic', mimeType: 'image/heic', bytes } })
    const [item] = (await ask(mac, `GET message/${guid}?with=attachments`)).body.data.attachments
    expect(item).toMatchObject({ mimeType: 'image/jpeg', transferName: 'a.heic.jpeg' })
    const jpeg = await ask(mac, `GET attachment/${item.guid}/download`)
    expect(jpeg.headers.get('content-type')).toBe('image/jpeg')
    expect(jpeg.headers.get('content-length')).toBeNull()
    expect(jpeg.bytes.subarray(4)).toEqual(bytes)
    const original = await ask(mac, `GET attachment/at_9_${item.guid.slice(-36)}/download?original=true`)
    expect([original.headers.get('content-type'), original.bytes]).toEqual(['image/heic', bytes])
    const dev = await open({ profile: 'electron-dev' })
    dev.phone(ALICE).text('', { attachment: { name: 'a.png', mimeType: 'image/png', bytes } })
    const [row] = (await ask(dev, 'POST message/query', { with: ['attachment'] })).body.data
    const file = await ask(dev, `GET attachment/${row.attachments[0].guid}/download`)
    expect(file.headers.get('content-length')).toBe('4')
    expect(file.headers.get('content-disposition')).toBe('attachment; filename="a.png"')
  })

  it('fails for a file that is not on disk until it is downloaded, and oddly for an unknown one', async () => {
    const mac = await open()
    const file = { name: 'a.png', mimeType: 'image/png', bytes: Buffer.from('png'), onDisk: false }
    mac.phone(ALICE).text('', { attachment: { ...file, fetchMs: 5 } })
    mac.phone(ALICE).text('', { attachment: file, sentAt: 1_700_000_000_000 })
    const rows = (await ask(mac, 'POST message/query', { with: ['attachment'] })).body.data
    const [here, never] = rows.map((row: { attachments: { guid: string }[] }) => row.attachments[0]!.guid)
    const missing = await ask(mac, `GET attachment/${here}/download`)
    expect([missing.status, missing.body.error.message]).toEqual([500, 'Attachment does not exist in disk!'])
    expect((await ask(mac, `GET attachment/${here}/download/force`)).bytes.toString()).toBe('png')
    expect((await ask(mac, `GET attachment/${here}/download`)).status).toBe(200)
    mac.waits.forced = 5
    expect((await ask(mac, `GET attachment/${never}/download/force`)).status).toBe(500)
    expect((await ask(mac, 'GET attachment/none/download')).status).toBe(500)
    expect((await ask(mac, 'GET attachment/none/download/force')).status).toBe(400)
    mac.flags.privateApi = false
    expect((await ask(mac, 'GET attachment/none/download')).status).toBe(404)
  })

  it('links attachments late on request', async () => {
    const clock = manualClock()
    const mac = await open({ clock, lateAttachmentMs: 2000 })
    const guid = mac
      .phone(ALICE)
      .text('', { attachment: { name: 'a.png', mimeType: 'image/png', bytes: Buffer.from('x') } })
    const count = async () =>
      (await ask(mac, `GET message/${guid}?with=attachments`)).body.data.attachments.length
    expect(await count()).toBe(0)
    clock.advance(2000)
    expect(await count()).toBe(1)
  })

  it('accepts a file in chunks where the server can', async () => {
    const mac = await open({ profile: 'electron-dev' })
    mac.phone(ALICE).text('Hello')
    const piece = (chunkIndex: string, isComplete: string) =>
      ask(
        mac,
        'POST message/attachment/chunk',
        form(
          {
            chatGuid: chatOf(ALICE),
            attachmentGuid: 'x',
            name: 'a.txt',
            chunkIndex,
            totalChunks: '2',
            isComplete,
            method: PA,
          },
          { chunk: { name: 'chunk', bytes: Buffer.from(chunkIndex) } },
        ),
      )
    expect((await piece('0', 'false')).body.message).toBe('Chunk 0/1 uploaded successfully.')
    expect((await piece('1', 'true')).body.message).toBe('Attachment sent!')
    await eventually(() => expect(mac.phone(ALICE).inbox[0]?.attachments[0]?.bytes.toString()).toBe('01'))
  })
})

describe('locations, calls and API v2', () => {
  it('has locations up to macOS 13, and forgets them on restart', async () => {
    const mac = await open({ osVersion: '13.6' })
    mac.phone(ALICE).shareLocation({ coordinates: [52.5, 13.4], long_address: 'Somewhere 1', accuracy: 5 })
    const friends = async (route = 'GET icloud/findmy/friends') => (await ask(mac, route)).body.data
    expect(await friends()).toEqual([
      {
        handle: ALICE,
        coordinates: [52.5, 13.4],
        long_address: 'Somewhere 1',
        short_address: null,
        title: null,
        subtitle: null,
        last_updated: expect.any(Number),
        is_locating_in_progress: 0,
        status: 'legacy',
      },
    ])
    await mac.restart()
    expect(await friends()).toEqual([])
    expect(await friends('POST icloud/findmy/friends/refresh')).toHaveLength(1)
    mac.phone(ALICE).stopSharingLocation()
    expect(await friends()).toEqual([])
    const newer = await open({ osVersion: '14.5' })
    newer.phone(ALICE).shareLocation()
    expect((await ask(newer, 'POST icloud/findmy/friends/refresh')).body.data).toEqual([])
    newer.phone(ALICE).sendLocation()
    expect((await ask(newer, 'POST message/query', {})).body.data[0].balloonBundleId).toBe(FIND_MY_BALLOON)
  })

  it('has API v2 in the Swift server only', async () => {
    const routes = [
      'POST /api/v2/message/app',
      'GET /api/v2/icloud/findmy/status',
      'POST /api/v2/icloud/findmy/friend/request',
    ]
    for (const profile of ['electron-1.9.9', 'electron-dev', 'imessage-rs'] as const) {
      const mac = await open({ profile })
      for (const route of routes)
        expect([(await ask(mac, route, route.startsWith('POST') ? {} : undefined)).body, profile]).toEqual([
          'Not Found',
          profile,
        ])
    }
    const swift = await open({ profile: 'swift' })
    const disabled = await ask(swift, 'GET /api/v2/icloud/findmy/status')
    expect([disabled.status, disabled.body.error.type]).toEqual([403, 'Authentication Error'])
  })

  it('sends cards, and keeps their session', async () => {
    const mac = await open({ profile: 'swift' })
    mac.phone(ALICE).text('Hello')
    const balloonBundleId = 'com.apple.messages.MSMessageExtensionBalloonPlugin:TEAM:com.example.app'
    const send = (more: object) =>
      ask(mac, 'POST /api/v2/message/app', {
        chatGuid: chatOf(ALICE),
        balloonBundleId,
        url: 'https://a.test/1',
        ...more,
      })
    const sent = await send({ caption: 'Order', appName: 'Shop', summary: 'An order' })
    expect(sent.body).toMatchObject({
      message: 'App message sent!',
      data: { balloonBundleId, hasPayloadData: true },
    })
    const card = (await ask(mac, `GET /api/v2/message/app/${sent.body.data.guid}`)).body.data
    expect(card).toMatchObject({
      app_name: 'Shop',
      caption: 'Order',
      url: 'https://a.test/1',
      session_id: expect.any(String),
    })
    await send({ caption: 'Sent', sessionId: card.session_id })
    await eventually(() =>
      expect(mac.phone(ALICE).inbox.map(({ app }) => [app?.caption, app?.session_id])).toEqual([
        ['Order', card.session_id],
        ['Sent', card.session_id],
      ]),
    )
    expect((await send({ url: undefined })).status).toBe(400)
    expect((await send({ balloonBundleId: 'com.example' })).status).toBe(400)
    expect((await send({ sessionId: 'mine' })).body.error.message).toBe(
      '`sessionId` is not a UUID; omit it to start a new session',
    )
    const json = await send({ url: undefined, json: { a: 1 } })
    const read = (await ask(mac, `GET /api/v2/message/app/${json.body.data.guid}`)).body.data
    expect(read).toMatchObject({ payload_json: { a: 1 }, url: 'data:,eyJhIjoxfQ==' })
    mac.flags.appCards = false
    expect((await send({})).status).toBe(403)
  })

  it('requests and refreshes locations at a limited rate', async () => {
    const clock = manualClock()
    const mac = await open({ profile: 'swift', findMy: true, clock })
    const refresh = async () =>
      (await ask(mac, 'POST /api/v2/icloud/findmy/friend/refresh', { address: ALICE })).body
    mac.phone(ALICE).shareLocation({ coordinates: [1, 2], accuracy: 5, altitude: 30 })
    const first = await refresh()
    expect(first.data).toEqual({
      handle: ALICE,
      is_sharing_with_me: true,
      is_following_my_location: false,
      location: {
        is_locating_in_progress: false,
        status: 'legacy',
        latitude: 1,
        longitude: 2,
        horizontal_accuracy: 5,
        altitude: 30,
        last_updated: clock.now(),
      },
    })
    expect(first.metadata).toEqual({ refreshed: true })
    clock.advance(20_000)
    expect((await refresh()).metadata).toEqual({ refreshed: false, retry_after_seconds: 40 })
    clock.advance(40_000)
    mac.phone(ALICE).shareLocation()
    expect((await refresh()).data.location).not.toHaveProperty('latitude')
    clock.advance(60_000)
    mac.phone(ALICE).stopSharingLocation()
    expect((await refresh()).data).toMatchObject({ is_sharing_with_me: false, location: null })
    expect((await refresh()).error.message).toBe(`No FindMy location is known for ${ALICE} yet`)
    const asked = await ask(mac, 'POST /api/v2/icloud/findmy/friend/request', { address: BOB })
    expect(asked.body.data).toEqual({ requested: true, address: BOB })
    expect(mac.phone(BOB).person.locationRequests).toBe(1)
  })

  it('follows calls, creates links, and reports availability', async () => {
    const mac = await open({ faceTimeHelper: true })
    const uuid = mac.phone(ALICE).call(true)
    expect((await ask(mac, `POST facetime/answer/${uuid}`)).body.data.link).toContain('facetime.apple.com')
    expect((await ask(mac, 'POST facetime/session')).body.data.link).toContain('facetime.apple.com')
    mac.phone(ALICE).hangUp(uuid)
    expect(mac.emitted.map(({ type, data }) => [type, (data as { status?: string } | null)?.status])).toEqual(
      [
        ['hello-world', undefined],
        ['ft-call-status-changed', 'incoming'],
        ['ft-call-status-changed', 'disconnected'],
      ],
    )
    mac.phone(ALICE).person.focus = 'silenced'
    expect((await ask(mac, `GET handle/${at(ALICE)}/focus`)).body.data).toEqual({ status: 'silenced' })
    expect(
      (await ask(mac, `GET handle/availability/facetime?address=${at(ALICE)}`)).body.data.available,
    ).toBe(true)
  })

  it('sends scheduled messages, unless the server was down', async () => {
    const clock = manualClock()
    const mac = await open({ clock })
    mac.phone(ALICE).text('Hello')
    const later = (message: string, ms: number) =>
      ask(mac, 'POST message/schedule', {
        type: 'send-message',
        payload: { chatGuid: chatOf(ALICE), message, method: PA },
        scheduledFor: clock.now() + ms,
        schedule: { type: 'once' },
      })
    expect((await later('Soon', 1000)).body.message).toBe('Successfully created new scheduled message!')
    clock.advance(1000)
    await eventually(() => {
      clock.advance(10)
      expect(mac.phone(ALICE).texts()).toEqual(['Soon'])
    })
    const missed = (await later('Missed', 1000)).body.data.id
    await mac.restart()
    clock.advance(2000)
    expect((await ask(mac, `GET message/schedule/${missed}`)).body.data.status).toBe('error')
    expect((await ask(mac, `DELETE message/schedule/${missed}`)).status).toBe(200)
    expect((await later('Past', -1000)).status).toBe(500)
  })
})
