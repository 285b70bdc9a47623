import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDoor } from '../support/drivers/door.js'
import { ADA, createWorld, ENGINES, type Json, LINE, SHARED_LINE, type World } from '../support/world.js'

describe.each(ENGINES)('reply threads on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  afterAll(() => world.close())

  const accountId = async () =>
    (await world.app.ctx.db.one<{ id: string }>(
      "select id from accounts where email = 'dev@trunkline.local' and world = 'live'",
    ))!.id
  const sent = async (fields: Json) => {
    const answer = await world.send(fields)
    await world.advance(1000)
    return answer
  }
  const screen = async () => (await world.get(`/sim/phones/${ADA}/inbox?limit=1000`)).body.data
  const onPhone = async (handle: string) =>
    (await screen()).find((one: Json) => one.message_handle === handle)
  const received = async (content: string) =>
    (await world.get('/api/v2/messages?is_outbound=false')).body.data.find(
      (one: Json) => one.content === content,
    )
  const replied = async (content: string, id: string, fields: Json = {}) => {
    const { id: own } = await world.text(ADA, content, { reply_to: id, ...fields })
    await world.advance(10)
    return { id: own, record: await received(content) }
  }

  it('a reply carries its parent and the first message of its thread, in answer, record and status', async () => {
    const root = await sent({ content: 'root' })
    expect(root).not.toHaveProperty('reply_to')
    expect(root).not.toHaveProperty('thread_originator')
    const first = await sent({ content: 'first', reply_to: { message_handle: root.message_handle } })
    expect(first.reply_to).toEqual({ message_handle: root.message_handle })
    expect(first.thread_originator).toEqual({ message_handle: root.message_handle, part: '0' })
    const second = await sent({ content: 'second', reply_to: { message_handle: first.message_handle } })
    expect(second.reply_to).toEqual({ message_handle: first.message_handle })
    expect(second.thread_originator).toEqual({ message_handle: root.message_handle, part: '0' })
    const record = await world.record(second.message_handle)
    expect(record).toMatchObject({ reply_to: second.reply_to, thread_originator: second.thread_originator })
    expect(await world.status(second.message_handle)).toMatchObject({
      thread_originator: second.thread_originator,
    })
    expect(await onPhone(second.message_handle)).toMatchObject({
      reply_to: (await onPhone(first.message_handle)).id,
    })
  })

  it('a known part of the parent is said', async () => {
    const root = await sent({ content: 'parts', media_url: 'https://example.com/a.png' })
    const { message_handle } = root
    const reply = await sent({ content: 'x', reply_to: { message_handle, part_index: 1 } })
    expect(reply.reply_to).toEqual({ message_handle, part_index: 1 })
    expect(reply.thread_originator).toEqual({ message_handle, part: '1', part_index: 1 })
    expect(await onPhone(reply.message_handle)).toMatchObject({ reply_to_part: 1 })
  })

  it('a part beyond the known ones is refused, in replies and reactions', async () => {
    const both = await sent({ content: 'parts', media_url: 'https://example.com/a.png' })
    const text = await sent({ content: 'one part' })
    const media_urls = ['https://example.com/a.png', 'https://example.com/b.png', 'https://example.com/c']
    const carousel = (await world.post('/api/send-carousel', { number: ADA, from_number: LINE, media_urls }))
      .body
    await world.advance(1000)
    for (const [{ message_handle }, parts, known] of [
      [both, 2, '2 parts, numbers 0 to 1'],
      [text, 1, 'one part, number 0'],
      [carousel, 3, '3 parts, numbers 0 to 2'],
    ] as const) {
      const reply = (part_index: number) => world.send({ reply_to: { message_handle, part_index } })
      const react = (part_index: number) =>
        world.post('/api/send-reaction', { from_number: LINE, message_handle, reaction: 'love', part_index })
      expect((await reply(parts - 1)).status).toBe('QUEUED')
      expect((await react(parts - 1)).status).toBe(200)
      expect((await reply(parts)).message).toContain(`reply_to.part_index: the message has ${known}.`)
      const refused = await react(parts)
      expect([refused.status, refused.body.message]).toEqual([
        400,
        `part_index: the message has ${known}. Omit part_index for the first.`,
      ])
    }
  })

  it('a person answers, and the thread goes on in both directions', async () => {
    const root = await sent({ content: 'Dinner?' })
    const { id, record } = await replied('Where?', (await onPhone(root.message_handle)).id)
    expect(record).toMatchObject({
      reply_to: { message_handle: root.message_handle },
      thread_originator: { message_handle: root.message_handle, part: '0' },
    })
    expect(record.thread_originator).not.toHaveProperty('part_index')
    const ours = await sent({ content: 'Here', reply_to: { message_handle: record.message_handle } })
    expect(ours.thread_originator.message_handle).toBe(root.message_handle)
    expect(await onPhone(ours.message_handle)).toMatchObject({ reply_to: id })
    const further = await replied('Fine', (await onPhone(ours.message_handle)).id, { reply_to_part: 0 })
    expect(further.record).toMatchObject({
      reply_to: { message_handle: ours.message_handle, part_index: 0 },
      thread_originator: { message_handle: root.message_handle },
    })
  })

  it("a person answers their own message: the thread is the person's", async () => {
    const { id } = await world.text(ADA, 'Anyone?')
    await world.advance(10)
    const { record } = await replied('Hello?', id)
    const first = await received('Anyone?')
    expect(record.thread_originator.message_handle).toBe(first.message_handle)
    expect(first).not.toHaveProperty('thread_originator')
  })

  it('messages and their answers that arrive together find each other', async () => {
    const { ctx } = world.app
    const line = (await ctx.directory.linesOf(await accountId())).get(LINE)!.line
    const { receive } = openDoor(ctx, line)
    const common = { from: ADA, service: 'iMessage' as const, sentAt: 0 }
    await Promise.all([
      receive({ ...common, providerId: 'T-0', content: 'alone in its batch' }),
      receive({ ...common, providerId: 'T-1', content: 'together 1' }),
      receive({ ...common, providerId: 'T-2', content: 'together 2', replyTo: { providerId: 'T-1' } }),
      receive({ ...common, providerId: 'T-3', content: 'together 3', replyTo: { providerId: 'T-2' } }),
    ])
    const [one, two, three] = await Promise.all([1, 2, 3].map((n) => received(`together ${n}`)))
    expect(two.reply_to.message_handle).toBe(one.message_handle)
    expect(three.reply_to.message_handle).toBe(two.message_handle)
    expect(three.thread_originator.message_handle).toBe(one.message_handle)
  })

  it('a reply to something nobody knows is an ordinary message', async () => {
    const { record } = await replied('To nothing', 'NO-SUCH-ID')
    expect(record).not.toHaveProperty('reply_to')
    expect(record).not.toHaveProperty('thread_originator')
  })

  it("on a shared line, a reply to another account's message does not name it", async () => {
    const b = await world.addAccount('b@example.com', '+12025550150')
    const lines = (await world.get('/admin/lines', 'admin')).body.data
    const shared = lines.find((line: Json) => line.number === SHARED_LINE && line.world === 'live')
    await world.post(`/admin/lines/${shared.id}/members`, { account_id: b.id }, 'admin')
    const theirs = await world.send({ from_number: SHARED_LINE, content: 'theirs' }, b.live)
    await world.advance(1000)
    const id = (await world.inbox(ADA, b.live)).find((one) => one.message_handle === theirs.message_handle).id
    await sent({ from_number: SHARED_LINE, content: 'ours, later' })
    await world.text(ADA, 'to whom', { to: SHARED_LINE, reply_to: id }, b.live)
    await world.advance(1000)
    const record = await received('to whom')
    expect(record).toMatchObject({ sendblue_number: SHARED_LINE })
    expect(JSON.stringify(record)).not.toContain(theirs.message_handle)
  })

  it('a repeat of a reply is recognised', async () => {
    const root = await sent({ content: 'again' })
    const body = {
      from_number: LINE,
      number: ADA,
      content: 'yes',
      reply_to: { message_handle: root.message_handle },
    }
    const first = (await world.post('/api/send-message', body)).body
    const retry = (await world.post('/api/send-message', body, 'live', { 'x-stainless-retry-count': '1' }))
      .body
    expect(retry).toMatchObject({
      message_handle: first.message_handle,
      thread_originator: first.thread_originator,
    })
  })
})
