import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDoor } from '../support/drivers/door.js'
import { ADA, BOB, ENGINES, type Json, LINE, type Who, type World } from '../support/world.js'
import { createPresenceWorld, NO_HANDLE, sidesOf } from './support.js'

describe.each(ENGINES)('presence on %s', (engine) => {
  let world: World
  let b: Awaited<ReturnType<World['addAccount']>>
  beforeAll(async () => {
    ;({ world, b } = await createPresenceWorld(engine))
    // A person who writes for the first time becomes a contact, which is an event, too.
    await text(ADA, 'Hello')
  })
  afterAll(() => world.close())

  const { onPhone, sent, received, text } = sidesOf(() => world)

  describe('reactions of a person', () => {
    const tap = (
      phone: string,
      id: string,
      reaction: unknown,
      as: Who = 'live',
      headers?: Record<string, string>,
    ) => world.post(`/sim/phones/${phone}/messages/${id}/reactions`, { reaction }, as, headers)

    it('arrive as ordinary texts and as structured events', async () => {
      const handle = await sent({ content: 'Dinner at 8?' })
      const { id } = await onPhone(ADA, handle)
      const cases = [
        ['love', 'Loved “Dinner at 8?”'],
        ['like', 'Liked “Dinner at 8?”'],
        ['dislike', 'Disliked “Dinner at 8?”'],
        ['laugh', 'Laughed at “Dinner at 8?”'],
        ['emphasize', 'Emphasized “Dinner at 8?”'],
        ['question', 'Questioned “Dinner at 8?”'],
        ['😀', 'Reacted 😀 to “Dinner at 8?”'],
        ['-😀', 'Removed 😀 from “Dinner at 8?”'],
        ['-love', 'Removed a heart from “Dinner at 8?”'],
      ] as const
      for (const [reaction, words] of cases) {
        const before = (await world.events()).length
        expect((await tap(ADA, id, reaction)).status).toBe(201)
        await world.advance(10)
        const record = await received()
        expect(record).toMatchObject({
          content: words,
          message_type: 'message',
          status: 'RECEIVED',
          number: ADA,
        })
        for (const field of ['reaction', 'reply_to', 'thread_originator'])
          expect(record).not.toHaveProperty(field)
        const news = (await world.events()).slice(before)
        expect(news.map(({ type, subject }) => [type, subject])).toEqual([
          ['message.received', record.message_handle],
          ['message.reaction', handle],
        ])
        expect(news[1].data).toEqual({
          contact: ADA,
          reaction: reaction.replace('-', ''),
          removed: reaction.startsWith('-'),
          partIndex: 0,
          handle: record.message_handle,
        })
        const { reactions } = await onPhone(ADA, handle)
        const shown = reaction.startsWith('-') ? [] : [{ by: ADA, reaction }]
        expect(reactions).toMatchObject(shown)
        expect(reactions).toHaveLength(shown.length)
      }
    })

    it('a repeat with the same key is one', async () => {
      const { id } = await onPhone(ADA, await sent({ content: 'Once' }))
      const key = { 'idempotency-key': 'tap' }
      const replies = await Promise.all([1, 2].map(() => tap(ADA, id, 'love', 'live', key)))
      expect(new Set(replies.map(({ body }) => body.id)).size).toBe(1)
    })

    it('nothing but a reaction, on a message of this phone and this account', async () => {
      const handle = await sent({ content: 'Mine' })
      const { id } = await onPhone(ADA, handle)
      expect((await tap(ADA, id, 'heart')).status).toBe(400)
      expect((await tap(BOB, id, 'love')).status).toBe(404)
      const plain = (reply: Json, value: string) => [
        reply.status,
        JSON.stringify(reply.body).replaceAll(value, 'ID'),
      ]
      expect(plain(await tap(ADA, id, 'love', b.live), id)).toEqual(
        plain(await tap(ADA, NO_HANDLE, 'love', b.live), NO_HANDLE),
      )
      expect((await tap(ADA, NO_HANDLE, 'love')).status).toBe(404)
      expect((await onPhone(ADA, handle)).reactions).toEqual([])
    })

    it('a text that only looks like a tapback is no event', async () => {
      const before = (await world.events()).length
      await text(ADA, 'Loved “Dinner at 8?”')
      expect((await world.events()).slice(before).map(({ type }) => type)).toEqual(['message.received'])
    })

    it('what a carrier reports twice is one text and one event, and one state of a card', async () => {
      const handle = await sent({ content: 'Twice' })
      const { id: providerId } = await onPhone(ADA, handle)
      const usable = [...(await world.app.ctx.directory.linesOf((await accountId())!)).values()]
      const { line } = usable.find((one) => one.line.number === LINE)!
      const card = {
        balloonBundleId: 'b',
        extensionBundleId: 'e',
        teamId: 't',
        sessionIdentifier: NO_HANDLE,
        url: 'data:,',
        revision: 0,
      }
      const common = { from: ADA, service: 'iMessage' as const, content: '', sentAt: 0 }
      const tapback = { providerId, partIndex: 0, reaction: 'love', removed: false }
      const before = (await world.events()).length
      for (let i = 0; i < 3; i++) {
        const { receive } = openDoor(world.app.ctx, line)
        await receive({ ...common, providerId: 'TAP-1', extra: { reaction: tapback } })
        await receive({ ...common, providerId: 'CARD-1', extra: { appCard: card } })
      }
      const news = (await world.events()).slice(before)
      expect(news.map(({ type }) => type)).toEqual([
        'message.received',
        'message.reaction',
        'message.received',
      ])
      expect((await world.record(news[2].subject)).app_card.revision).toBe(1)
      await openDoor(world.app.ctx, line).receive({
        ...common,
        providerId: 'CARD-2',
        extra: { appCard: card },
      })
      expect((await world.record((await world.events()).at(-1).subject)).app_card.revision).toBe(2)
    })

    const accountId = async () =>
      (
        await world.app.ctx.db.one<{ id: string }>(
          "select id from accounts where email = 'dev@trunkline.local' and world = 'live'",
        )
      )?.id
  })

  describe('in a group', () => {
    it('replies have their thread, and tapbacks go both ways', async () => {
      const people = [ADA, '+12025550106', '+12025550107']
      const say = async (fields: Json) => {
        const body = { from_number: LINE, numbers: people, ...fields }
        const answer = (await world.post('/api/send-group-message', body)).body
        await world.advance(1000)
        return answer
      }
      const root = await say({ content: 'Trip?' })
      const reply = await say({ content: 'Where to?', reply_to: { message_handle: root.message_handle } })
      expect(reply.thread_originator).toEqual({ message_handle: root.message_handle, part: '0' })
      const further = await say({ content: 'Here', reply_to: { message_handle: reply.message_handle } })
      expect((await world.record(further.message_handle)).thread_originator.message_handle).toBe(
        root.message_handle,
      )

      const body = { from_number: LINE, message_handle: root.message_handle, reaction: 'love' }
      expect((await world.post('/api/send-reaction', body)).status).toBe(200)
      const { id } = await onPhone(people[1]!, root.message_handle)
      const before = (await world.events()).length
      await world.post(`/sim/phones/${people[1]}/messages/${id}/reactions`, { reaction: '🎉' })
      await world.advance(1000)
      expect(await received()).toMatchObject({
        content: 'Reacted 🎉 to “Trip?”',
        group_id: root.group_id,
        from_number: people[1],
      })
      const news = (await world.events()).slice(before).find(({ type }) => type === 'message.reaction')
      expect(news).toMatchObject({
        subject: root.message_handle,
        data: { contact: people[1], reaction: '🎉' },
      })
      for (const person of people) {
        const { reactions } = await onPhone(person, root.message_handle)
        expect(reactions.map((one: Json) => [one.by, one.reaction]).sort()).toEqual(
          [
            [LINE, 'love'],
            [people[1], '🎉'],
          ].sort(),
        )
      }
    })
  })
})
