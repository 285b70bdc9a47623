import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADA, BOB, CLEO, ENGINES, type Json, LINE, type Who, type World } from '../support/world.js'
import { B_LINE, createPresenceWorld, NO_HANDLE, SMS_LINE, sidesOf } from './support.js'

describe.each(ENGINES)('presence on %s', (engine) => {
  let world: World
  let bHandle: string
  beforeAll(async () => {
    ;({ world, bHandle } = await createPresenceWorld(engine))
  })
  afterAll(() => world.close())

  const { screen, onPhone, sent, received, text } = sidesOf(() => world)

  describe('sending reactions', () => {
    const react = (fields: Json, as: Who = 'live', headers?: Record<string, string>) =>
      world.post('/api/send-reaction', { from_number: LINE, ...fields }, as, headers)

    it("shows on the phone, on the person's message and on ours, and goes away again", async () => {
      const { id, record } = await text(ADA, 'React to me')
      const ours = await sent({ content: 'Or to me', media_url: 'https://example.com/me.png' })
      const reactionsOf = async (own: string) =>
        (await screen(ADA)).data.find((one: Json) => one.id === own).reactions
      const { status, body } = await react({ message_handle: record.message_handle, reaction: 'love' })
      expect(status).toBe(200)
      expect(body).toEqual({
        status: 'OK',
        message: expect.any(String),
        message_handle: record.message_handle,
        reaction: 'love',
      })
      expect(await reactionsOf(id)).toEqual([
        { by: LINE, reaction: 'love', part_index: 0, at: expect.stringMatching(/Z$/) },
      ])
      await react({ message_handle: ours, reaction: '🎉', part_index: 1 })
      expect((await onPhone(ADA, ours)).reactions).toMatchObject([
        { by: LINE, reaction: '🎉', part_index: 1 },
      ])

      await react({ message_handle: record.message_handle, reaction: 'laugh' })
      expect(await reactionsOf(id)).toMatchObject([{ reaction: 'laugh' }])
      const other = await react({ message_handle: record.message_handle, reaction: '-love' })
      expect([other.status, other.body.reaction]).toEqual([200, '-love'])
      expect(await reactionsOf(id)).toMatchObject([{ reaction: 'laugh' }])
      await react({ message_handle: record.message_handle, reaction: '-laugh' })
      expect(await reactionsOf(id)).toEqual([])
      await react({ message_handle: ours, reaction: '-🎉', part_index: 1 })
      expect((await onPhone(ADA, ours)).reactions).toEqual([])
      expect((await received()).content).toBe('React to me')
    })

    it.each<[string, Json, number, RegExp]>([
      ['no from_number', { from_number: undefined }, 400, /missing required parameter: from_number/],
      ['a from_number that is none', { from_number: 'me' }, 400, /^from_number: /],
      ['no message_handle', { message_handle: undefined }, 400, /missing required parameter: message_handle/],
      ['an empty message_handle', { message_handle: '' }, 400, /^message_handle: /],
      ['no reaction', { reaction: undefined }, 400, /missing required parameter: reaction/],
      ['a number as reaction', { reaction: 5 }, 400, /^reaction: /],
      ['part_index -1', { part_index: -1 }, 400, /^part_index: /],
      ['part_index 1.5', { part_index: 1.5 }, 400, /^part_index: /],
      ['part_index "0"', { part_index: '0' }, 400, /^part_index: /],
      ['part_index 1e9', { part_index: 1e9 }, 400, /^part_index: /],
      [
        'a line that is not registered',
        { from_number: '+12025550177' },
        404,
        /This phone number is not defined/,
      ],
      ['an unknown message', { message_handle: 'nope' }, 404, /message_handle/],
      ['SQL as message', { message_handle: "' or 1=1 --" }, 404, /message_handle/],
      ['a line without reactions', { from_number: SMS_LINE }, 400, /^from_number: /],
    ])('refuses %s', async (_name, fields, status, words) => {
      const message_handle = await sent()
      const reply = await react({ message_handle, reaction: 'love', ...fields })
      expect([reply.status, reply.body.message]).toEqual([status, expect.stringMatching(words)])
      expect(reply.body).toMatchObject({ status: 'ERROR', error_message: reply.body.message })
      expect((await onPhone(ADA, message_handle)).reactions).toEqual([])
    })

    it.each(['Love', 'heart', '', '-', '😀😀', 'a', '--love', 'love '])(
      'refuses %j as INVALID_REACTION',
      async (reaction) => {
        const message_handle = await sent()
        const { status, body } = await react({ message_handle, reaction })
        expect(status).toBe(400)
        expect(body).toEqual({
          status: 'ERROR',
          message: expect.stringMatching(/^reaction: /),
          error_code: 'INVALID_REACTION',
          error_message: body.message,
        })
      },
    )

    it('an SMS target is 422, and so is one that has not been sent', async () => {
      const { record } = await text(BOB, 'By SMS')
      expect((await react({ message_handle: record.message_handle, reaction: 'love' })).status).toBe(422)
      const toBob = await sent({ number: BOB })
      expect((await react({ message_handle: toBob, reaction: 'love' })).status).toBe(422)
      const toCleo = await sent({ number: CLEO })
      expect((await react({ message_handle: toCleo, reaction: 'love' })).status).toBe(422)
      await world.setLine(LINE, { config: { fault: 'refuse', fault_times: 1 } })
      const failed = await sent()
      await world.setLine(LINE, { config: {} })
      expect((await react({ message_handle: failed, reaction: 'love' })).status).toBe(422)
    })

    it("another account's message and line are absent ones", async () => {
      const same = async (ask: (value: string) => Promise<Json>, theirs: string, absent: string) => {
        const plain = async (value: string) => {
          const { status, body } = await ask(value)
          return [status, JSON.stringify(body).replaceAll(value, '<asked>')]
        }
        expect(await plain(theirs)).toEqual(await plain(absent))
      }
      const mine = await sent()
      await same((message_handle) => react({ message_handle, reaction: 'love' }), bHandle, NO_HANDLE)
      await same(
        (from_number) => react({ from_number, message_handle: mine, reaction: 'love' }),
        B_LINE,
        '+12025550159',
      )
      const elsewhere = { from_number: SMS_LINE, number: BOB }
      const otherLine = await sent(elsewhere)
      await same((message_handle) => react({ message_handle, reaction: 'love' }), otherLine, NO_HANDLE)
    })

    it('a repeat with the same Idempotency-Key does not bring back what was taken away since', async () => {
      const message_handle = await sent()
      const key = { 'idempotency-key': 'love-1' }
      await react({ message_handle, reaction: 'love' }, 'live', key)
      await react({ message_handle, reaction: '-love' })
      const repeat = await react({ message_handle, reaction: 'love' }, 'live', key)
      expect([repeat.status, repeat.headers['x-idempotent-replay']]).toEqual([200, 'true'])
      expect((await onPhone(ADA, message_handle)).reactions).toEqual([])
      const clash = await react({ message_handle, reaction: 'like' }, 'live', key)
      expect(clash.status).toBe(422)
    })

    it('two at once leave one', async () => {
      const message_handle = await sent()
      const replies = await Promise.all(
        ['love', 'like', 'love'].map((reaction) => react({ message_handle, reaction })),
      )
      expect(replies.map(({ status }) => status)).toEqual([200, 200, 200])
      expect((await onPhone(ADA, message_handle)).reactions).toHaveLength(1)
    })
  })
})
