import SendblueAPI from 'sendblue'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PNG, serve } from '../support/files.js'
import { startProxy } from '../support/web/proxy.js'
import { ADA, createWorld, ENGINES, LINE, type World } from '../support/world.js'

const LIVE = { apiKey: 'dev-live-key', apiSecret: 'dev-live-secret' }
const FAY = '+12025550106'
const GUS = '+12025550107'
const HAL = '+12025550108'

describe.each(ENGINES)('groups through the published SDK on %s', (engine) => {
  let world: World
  let client: SendblueAPI
  beforeAll(async () => {
    world = await createWorld(engine)
    client = new SendblueAPI({ baseURL: world.app.url(), ...LIVE })
  })
  afterAll(() => world.close())

  const start = (content: string, ...numbers: string[]) =>
    client.groups.sendMessage({ from_number: LINE, numbers, content }).withResponse()
  const groupOf = async (handle: string) => (await client.messages.retrieve(handle)).data!.group_id!

  it('groups.sendMessage, by numbers and by group_id', async () => {
    const { data: sent, response } = await start('Hello, everyone!', ADA, FAY)
    expect(response.status).toBe(202)
    expect(sent).toMatchObject({ status: 'QUEUED', message_type: 'group', content: 'Hello, everyone!' })
    // The type says a text; the service has always sent a list here.
    expect(sent.number as unknown).toEqual([ADA, FAY])
    await world.advance(1000)
    const handle = sent.message_handle!
    expect(await client.messages.getStatus({ handle })).toMatchObject({ status: 'DELIVERED' })
    const group_id = await groupOf(handle)
    const again = await client.groups.sendMessage({
      from_number: LINE,
      group_id,
      content: 'And again',
      reply_to: { message_handle: handle },
    })
    expect(again.reply_to).toEqual({ message_handle: handle })
    await world.advance(1000)
    for (const phone of [ADA, FAY])
      expect((await world.inbox(phone)).map((one) => one.content)).toEqual(['Hello, everyone!', 'And again'])
    const listed = await client.messages.list({ group_id, message_type: 'group', order_direction: 'asc' })
    expect(listed.pagination?.total).toBe(2)
    expect(listed.data).toMatchObject([
      {
        message_handle: handle,
        participants: [ADA, FAY, LINE],
        to_number: `${ADA},${FAY}`,
        group_display_name: '',
      },
      { message_handle: again.message_handle },
    ])
  })

  it('a retry after a lost answer is the same message to the same group', async () => {
    const proxy = await startProxy(world.app.url(), ['drop-answer'])
    const behind = new SendblueAPI({ baseURL: proxy.url, ...LIVE })
    const sent = await behind.groups.sendMessage({ from_number: LINE, numbers: [GUS, HAL], content: 'Once' })
    expect(proxy.requests).toHaveLength(2)
    expect(JSON.parse(proxy.lost[0]!.split('\r\n\r\n')[1]!)).toEqual(sent)
    await world.advance(1000)
    expect((await world.inbox(HAL)).map((one) => one.content)).toEqual(['Once'])
    await proxy.close()
  })

  it('v2.groups.retrieve', async () => {
    const { data: sent } = await start('Who is here?', ADA, GUS)
    await world.advance(1000)
    const groupId = await groupOf(sent.message_handle!)
    const { status, data } = await client.v2.groups.retrieve(groupId)
    expect(status).toBe('OK')
    expect(data).toMatchObject({
      group_id: groupId,
      group_name: '',
      group_photo: null,
      latest_message_id: sent.message_handle,
      latest_comm_at: sent.date_created,
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
      worker_group_id: expect.any(String),
      participant_numbers: [ADA, GUS],
    })
    expect(data!.participants).toEqual(
      [ADA, GUS].map((phone) => ({
        participant_id: expect.any(String),
        handle: phone,
        phone,
        name: null,
        type: 'contact',
        contact_id: null,
        seat_id: null,
      })),
    )
    expect(await client.v2.groups.retrieve('none').catch((error) => error)).toBeInstanceOf(
      SendblueAPI.NotFoundError,
    )
  })

  it('groups.modify', async () => {
    const { data: sent } = await start('Three of us', ADA, FAY, GUS)
    await world.advance(1000)
    const group_id = await groupOf(sent.message_handle!)
    expect(await client.groups.modify({ group_id, modify_type: 'add_recipient', number: HAL })).toEqual({
      status: 'OK',
      message: expect.any(String),
      group_id,
      modify_type: 'add_recipient',
      number: HAL,
      error: null,
      error_message: null,
    })
    await client.groups.modify({ group_id, modify_type: 'remove_recipient', number: ADA, from_number: LINE })
    expect((await client.v2.groups.retrieve(group_id)).data!.participant_numbers).toEqual([FAY, GUS, HAL])
    expect((await world.get(`/sim/groups/${group_id}`)).body.members).toEqual([FAY, GUS, HAL, LINE])
    const before = (await world.inbox(ADA)).length
    await client.groups.sendMessage({ from_number: LINE, group_id, content: 'Without Ada' })
    await world.advance(1000)
    expect((await world.inbox(HAL)).at(-1)).toMatchObject({ content: 'Without Ada' })
    expect((await world.inbox(ADA)).length).toBe(before)
    const error = await client.groups
      .modify({ group_id: 'sb_group_none', modify_type: 'add_recipient', number: HAL })
      .catch((thrown) => thrown)
    expect(error).toBeInstanceOf(SendblueAPI.NotFoundError)
    expect(error.error).toMatchObject({ status: 'ERROR', error: 'group_not_found' })
  })

  it('v2.groups.rename and v2.groups.setPhoto', async () => {
    const { data: sent } = await start('Nameless', FAY, GUS)
    await world.advance(1000)
    const groupId = await groupOf(sent.message_handle!)
    expect(await client.v2.groups.rename(groupId, { group_name: 'Project Falcon' })).toEqual({
      status: 'OK',
      data: { group_id: groupId, group_name: 'Project Falcon', from_number: LINE },
    })
    const server = await serve((_request, response) => response.end(PNG))
    const photo = await client.v2.groups.setPhoto(groupId, { photo_url: `${server.url}/team-photo.png` })
    await server.close()
    const { url } = photo.data.group_photo!
    expect(Buffer.from(await (await fetch(url)).arrayBuffer())).toEqual(PNG)
    expect((await world.get(`/sim/groups/${groupId}`)).body).toMatchObject({
      name: 'Project Falcon',
      photo_url: url,
    })
    expect((await client.v2.groups.retrieve(groupId)).data).toMatchObject({
      group_name: 'Project Falcon',
      group_photo: photo.data.group_photo,
    })
    expect((await client.v2.groups.rename(groupId, { group_name: null })).data.group_name).toBe('')
    expect((await client.v2.groups.setPhoto(groupId, { photo_url: null })).data.group_photo).toBeNull()
    const blank = await client.v2.groups.rename(groupId, { group_name: ' ' }).catch((thrown) => thrown)
    expect(blank).toBeInstanceOf(SendblueAPI.BadRequestError)
  })

  it('what people say in a group comes in the list', async () => {
    const { body } = await world.post('/sim/groups', { by: HAL, line: LINE, members: [ADA], name: 'Theirs' })
    await world.post(`/sim/phones/${HAL}/messages`, { group_id: body.id, content: 'Hello line' })
    await world.advance(1000)
    const { data } = await client.messages.list({ is_outbound: 'false', sendblue_number: LINE, limit: 1 })
    expect(data).toMatchObject([
      {
        content: 'Hello line',
        from_number: HAL,
        message_type: 'group',
        group_id: expect.stringMatching(/^sb_group_/),
        group_display_name: 'Theirs',
        participants: [HAL, ADA, LINE],
      },
    ])
  })
})
