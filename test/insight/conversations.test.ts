import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Sql } from '../../src/storage/engine/db.js'
import { scanConversationKeys, scanMessages } from '../../src/storage/messages/scan.js'
import { ADA, BOB, createWorld, ENGINES, EVE, type Json, LINE, type World } from '../support/world.js'

const B_LINE = '+12025550150'
/** Not a phone yet; it becomes one by being written to. */
const FAY = '+12025550177'
const SECOND_LINE = '+12025550151'

describe.each(ENGINES)('conversations and search on %s', (engine) => {
  let world: World
  let b: Awaited<ReturnType<World['addAccount']>>
  let group: string
  let confined: { token: string }

  /** One minute apart, oldest first. */
  beforeAll(async () => {
    world = await createWorld(engine)
    b = await world.addAccount('b@example.com', B_LINE)
    const accounts = (await world.get('/admin/accounts', 'admin')).body.data
    const own = accounts.find((one: Json) => one.id !== b.id)
    await world.post('/admin/lines', { account_id: own.id, number: SECOND_LINE }, 'admin')
    await world.settle()
    const minute = () => world.advance(60_000)
    await world.send({ number: ADA, content: 'Your Code is 314159' })
    await minute()
    await world.send({ number: BOB, content: 'to Bob, by SMS' })
    await minute()
    await world.send({ number: EVE, content: 'never arrives' })
    await minute()
    group = (
      await world.post('/api/send-group-message', {
        from_number: LINE,
        numbers: [ADA, FAY],
        content: 'to a group',
      })
    ).body.group_id
    await world.settle()
    await minute()
    await world.text(ADA, 'thank you', {})
    await world.settle()
    await minute()
    await world.send({ number: ADA, from_number: SECOND_LINE, content: 'from the second line' })
    await minute()
    await world.post('/api/v2/contacts', { number: ADA, first_name: 'Ada', last_name: 'Lovelace' })
    await world.post('/api/send-message', { from_number: B_LINE, number: ADA, content: 'of B' }, b.live)
    await world.settle()
    confined = (await world.post('/v3/auth/tokens', { phone_number: SECOND_LINE })).body
  })
  afterAll(() => world.close())

  const list = async (query = '', as: Parameters<World['get']>[1] = 'live') =>
    (await world.get(`/v3/conversations${query}`, as)).body
  const names = (page: Json) => page.data.map((one: Json) => `${one.line} ${one.conversation}`)

  describe('conversations', () => {
    const expected = () => [
      `${SECOND_LINE} ${ADA}`,
      `${LINE} ${ADA}`,
      `${LINE} ${group}`,
      `${LINE} ${EVE}`,
      `${LINE} ${BOB}`,
    ]

    it('are one for each line and person or group, latest activity first', async () => {
      const page = await list()
      expect(names(page)).toEqual(expected())
      expect(page.next_cursor).toBeNull()
      expect(page.data[1]).toEqual({
        conversation: ADA,
        line: LINE,
        line_id: expect.any(String),
        group_id: '',
        name: 'Ada Lovelace',
        participants: [ADA],
        last_activity_at: expect.stringMatching(/Z$/),
        awaits_reply: true,
        held_until: null,
        last_message: {
          message_handle: expect.any(String),
          is_outbound: false,
          status: 'RECEIVED',
          service: 'iMessage',
          preview: 'thank you',
          has_media: false,
          from_number: ADA,
        },
      })
      expect(page.data[2]).toMatchObject({ group_id: group, participants: [ADA, FAY], awaits_reply: false })
      expect(page.data[3].last_message).toMatchObject({ status: 'ERROR', is_outbound: true })
      expect(page.looked_back_to).toBe('2026-03-01T12:00:00.000Z')
    })

    it('come in pages that meet', async () => {
      for (const limit of [1, 2, 3]) {
        const seen: string[] = []
        let cursor: string | null = ''
        do {
          const page: Json = await list(`?limit=${limit}${cursor ? `&cursor=${cursor}` : ''}`)
          expect(page.data.length).toBeLessThanOrEqual(limit)
          seen.push(...names(page))
          cursor = page.next_cursor
        } while (cursor)
        expect(seen).toEqual(expected())
      }
    })

    it('a confined token sees those of its lines', async () => {
      expect(names(await list('', confined))).toEqual([`${SECOND_LINE} ${ADA}`])
    })

    it('a confined token reads the names of contacts it may see, and no others', async () => {
      const told = async (as: typeof confined | 'live') =>
        (await list('', as)).data.find((one: Json) => one.line === SECOND_LINE).name
      expect((await world.get(`/api/v2/contacts/${ADA}`, confined)).status).toBe(404)
      expect([await told(confined), await told('live')]).toEqual([null, 'Ada Lovelace'])
      const change = (body: object) => world.call('PUT', `/api/v2/contacts/${ADA}`, { body })
      await change({ sendblue_number: LINE, company_name: 'Engines Ltd' })
      expect(await told(confined)).toBeNull()
      await change({ sendblue_number: SECOND_LINE })
      expect(await told(confined)).toBe('Ada Lovelace')
    })

    it('another account has its own', async () => {
      expect(names(await list('', b.live))).toEqual([`${B_LINE} ${ADA}`])
      expect(names(await list('', b.test))).toEqual([])
    })

    it.each(['x', '1-2', '1-2-3', '1-2-3-x', '-1-2-3-4', '1'.repeat(201)])(
      'a cursor %s is refused',
      async (cursor) => {
        const reply = await world.get(`/v3/conversations?cursor=${cursor}`)
        expect([reply.status, reply.body.error.code]).toEqual([400, 'invalid'])
        expect(reply.body.error.message).toContain('cursor')
      },
    )

    it('a limit is kept to what is sensible', async () => {
      for (const limit of ['0', '-1', '1.5', 'x'])
        expect((await world.get(`/v3/conversations?limit=${limit}`)).status).toBe(400)
      expect((await world.get('/v3/conversations?limit=100000')).status).toBe(200)
    })
  })

  describe('search', () => {
    const search = (q: string, as: Parameters<World['get']>[1] = 'live', rest = '') =>
      world.get(`/v3/search?q=${encodeURIComponent(q)}${rest}`, as)
    const texts = async (q: string, as?: Parameters<World['get']>[1]) =>
      (await search(q, as)).body.data.map((one: Json) => one.content)

    it.each([
      ['code', ['Your Code is 314159']],
      ['text:"code is"', ['Your Code is 314159']],
      [`to:${ADA}`, ['from the second line', 'Your Code is 314159']],
      [`to:${ADA} line:${LINE}`, ['Your Code is 314159']],
      [`from:${ADA}`, ['thank you']],
      [`with:${ADA}`, ['from the second line', 'thank you', 'Your Code is 314159']],
      [`from:${SECOND_LINE}`, ['from the second line']],
      [`to:${LINE}`, ['thank you']],
      ['to:0102', ['to Bob, by SMS']],
      ['is:failed', ['never arrives']],
      ['is:inbound', ['thank you']],
      ['service:sms is:sent', ['to Bob, by SMS']],
      ['is:outbound -is:delivered -service:sms', ['never arrives']],
      ['is:failed after:2m', []],
      ['is:failed after:1h before:2m', ['never arrives']],
      ['before:5m -is:failed', ['to Bob, by SMS', 'Your Code is 314159']],
      [`line:${SECOND_LINE}`, ['from the second line']],
      ['nothing like it', []],
      ['has:media', []],
    ])('%s', async (query, expected) => {
      expect(await texts(query)).toEqual(expected)
    })

    it('finds by group', async () => {
      expect(await texts(`group:${group}`)).toEqual(['to a group'])
      expect(await texts(`-group:${group} is:outbound after:1d -is:failed to:0101`)).not.toContain(
        'to a group',
      )
    })

    it('finds everything without a question, in pages that meet, and says how far back it looked', async () => {
      const all = (await search('')).body
      expect(all.data).toHaveLength(6)
      expect(all).toMatchObject({
        looked_at: 6,
        searched_back_to: '2026-03-01T12:00:00.000Z',
        next_cursor: null,
      })
      const seen: string[] = []
      let cursor: string | null = ''
      do {
        const page: Json = (await search('', 'live', `&limit=2${cursor ? `&cursor=${cursor}` : ''}`)).body
        seen.push(...page.data.map((one: Json) => one.message_handle))
        cursor = page.next_cursor
      } while (cursor)
      expect(seen).toEqual(all.data.map((one: Json) => one.message_handle))
    })

    it('says what is wrong and where', async () => {
      for (const [query, words] of [
        ['hello is:lost', 'q: Unknown value "lost" for is:. Use failed,'],
        ['"never closed', 'q: This quotation mark is never closed (at character 1)'],
        ['from:bob', 'q: from: takes a number'],
      ]) {
        const reply = await search(query!)
        expect([reply.status, reply.body.error.code]).toEqual([400, 'invalid'])
        expect(reply.body.error.message).toContain(words)
      }
      expect((await search('x'.repeat(1001))).status).toBe(400)
      expect((await search('x', 'live', '&cursor=1-x')).status).toBe(400)
    })

    it('keeps to the account, and a confined token to its lines', async () => {
      expect(await texts('', b.live)).toEqual(['of B'])
      expect(await texts(`with:${ADA}`, b.live)).toEqual(['of B'])
      expect(await texts('', confined)).toEqual(['from the second line'])
      for (const query of [`with:${ADA}`, `line:${LINE}`, 'is:failed', `group:${group}`]) {
        const { data, looked_at } = (await search(query, confined)).body
        expect(data.filter((one: Json) => one.sendblue_number !== SECOND_LINE)).toEqual([])
        expect(looked_at).toBe(1)
      }
    })

    it('a deleted message is not found', async () => {
      const { message_handle } = await world.send({ number: BOB, content: 'delete me' })
      await world.settle()
      expect(await texts('"delete me"')).toHaveLength(1)
      await world.call('DELETE', `/api/v2/messages/${message_handle}`)
      expect(await texts('"delete me"')).toEqual([])
      expect((await list()).data.find((one: Json) => one.conversation === BOB).last_message.preview).toBe(
        'to Bob, by SMS',
      )
    })
  })

  it('one call looks at no more than 5000 messages, and the next goes on from there', async () => {
    const { db } = world.app.ctx
    const [row] = await db.all('select * from messages where content = $1', ['of B'])
    const copy = Object.fromEntries(
      Object.entries(row!).filter(([name, value]) => name !== 'id' && value !== null),
    )
    const columns = Object.fromEntries(
      Object.entries(copy).map(([name, value]) => [name, typeof value === 'number' ? 'bigint' : 'text']),
    ) as Record<string, 'text' | 'bigint'>
    const rows = Array.from({ length: 5200 }, (_, i) =>
      Object.entries(copy).map(([name, value]) => {
        if (name === 'handle' || name === 'provider_id') return `${value}-${i}`
        return name === 'created_at' ? (value as number) + 1000 + i : value!
      }),
    )
    await db.tx((sql) => sql.insertMany('messages', columns, rows))
    const first = (await world.get('/v3/search?q=nothing', b.live)).body
    expect(first).toMatchObject({ data: [], looked_at: 5000 })
    const second = (await world.get(`/v3/search?q=nothing&cursor=${first.next_cursor}`, b.live)).body
    expect(second).toMatchObject({ data: [], looked_at: 201, next_cursor: null })
    const page = await list('', b.live)
    expect(page.data).toHaveLength(1)
    const rest = await list(`?cursor=${page.next_cursor}`, b.live)
    expect(rest).toMatchObject({ data: [], next_cursor: null })
  })

  it.runIf(engine === 'sqlite')('an index leads to exactly what is looked at', async () => {
    const { db } = world.app.ctx
    const plans: string[] = []
    const explain = async (text: string, params: Parameters<Sql['all']>[1]) => {
      for (const row of await db.all(`explain query plan ${text}`, params)) plans.push(String(row.detail))
      return []
    }
    const sql = { ...db, all: explain } as unknown as Sql
    const before = { createdAt: 5, id: 5 }
    for (const [range, index] of [
      [{}, 'messages_created'],
      [{ contact: ADA }, 'messages_contact'],
      [{ groupId: 'g' }, 'messages_group'],
      [{ statuses: ['ERROR' as const, 'DECLINED' as const] }, 'messages_status'],
      [{ lineIds: ['l', 'm'] }, 'messages_line'],
    ] as const) {
      await scanMessages(sql, { accountId: 'a', before, from: 1, to: 9, ...range }, 10)
      await scanConversationKeys(sql, { accountId: 'a', before, ...range }, 10)
      const plan = plans.splice(0)
      const searches = plan.filter((line) => line.includes('messages'))
      for (const line of searches) expect(line).toMatch(new RegExp(`^SEARCH messages USING INDEX ${index} `))
      expect(searches.length).toBeGreaterThan(1)
      // Only the few that the branches left are ever sorted.
      if (searches.length === 2) expect(plan.join()).not.toContain('TEMP B-TREE')
    }
  })
})
