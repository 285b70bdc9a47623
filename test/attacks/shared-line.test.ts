import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { deleteMedia, findMedia } from '../../src/storage/media/media.js'
import { PNG, serve } from '../support/files.js'
import { createWorld, ENGINES, type Json, SHARED_LINE, type Who, type World } from '../support/world.js'

let used = 0
const fresh = () => `+1303557${String(1000 + used++).padStart(4, '0')}`

describe.each(ENGINES)('a shared line of several accounts on %s', (engine) => {
  let world: World
  let second: Who
  let third: Who
  const ids: string[] = []
  beforeAll(async () => {
    world = await createWorld(engine)
    const lines = (await world.get('/admin/lines', 'admin')).body.data
    const shared = lines.find((line: Json) => line.number === SHARED_LINE && line.world === 'live')
    ids.push((await world.get('/admin/accounts', 'admin')).body.data[0].id)
    for (const n of [1, 2]) {
      const account = await world.addAccount(`shared-${n}@example.com`, `+1202555017${n}`)
      await world.post(`/admin/lines/${shared.id}/members`, { account_id: account.id }, 'admin')
      ids.push(account.id)
      if (n === 1) second = account.live
      else third = account.live
    }
    await world.settle()
  })
  afterAll(() => world.close())

  const everyone = () => ['live', second, third] as Who[]
  const register = (phone_number: string, as?: Who) =>
    world.post('/v3/verified-contacts', { phone_number }, as)
  const states = (number: string) =>
    Promise.all(
      everyone().map(
        async (as) =>
          (await world.get(`/v3/verified-contacts/${number}`, as)).body.data?.contact.verification_status,
      ),
    )
  const send = async (number: string, as: Who, from: string = SHARED_LINE) => {
    const sent = await world.send({ from_number: from, number }, as)
    await world.advance(1000)
    return world.status(sent.message_handle, as)
  }
  const write = async (number: string, content: string) => {
    await world.text(number, content, { to: SHARED_LINE })
    await world.advance(1000)
  }
  const received = (number: string) =>
    Promise.all(
      everyone().map(async (as) =>
        (
          await world.get(
            `/api/v2/messages?is_outbound=false&sendblue_number=${encodeURIComponent(SHARED_LINE)}&number=${encodeURIComponent(number)}&order_direction=asc`,
            as,
          )
        ).body.data.map((message: Json) => message.content),
      ),
    )
  const consentEvents = (number: string) =>
    Promise.all(
      ids.map(async (id) =>
        (
          await world.app.ctx.db.all<{ type: string }>(
            "select type from events where account_id = $1 and subject = $2 and type like 'contact.opted%' order by seq",
            [id, number],
          )
        ).map(({ type }) => type),
      ),
    )

  it('a text verifies every pending registration, and without a conversation reaches each of them', async () => {
    const number = fresh()
    await register(number)
    await register(number, third)
    await write(number, 'Hi')
    expect(await states(number)).toEqual(['verified', undefined, 'verified'])
    expect(await received(number)).toEqual([['Hi'], [], ['Hi']])
    await world.advance(1000)
    await write(number, 'Still here')
    expect(await received(number)).toEqual([['Hi', 'Still here'], [], ['Hi', 'Still here']])
  })

  it('each account that gets a picture has a copy of its own, within its own budget', async () => {
    const files = await serve((_request, response) => void response.end(PNG))
    const [first, , last] = ids as [string, string, string]
    const limit = (media: number | null) =>
      world.call('PATCH', `/admin/accounts/${first}`, { as: 'admin', body: { budgets: { media } } })
    const urls = (number: string) =>
      Promise.all(
        (['live', third] as Who[]).map(async (as) => {
          const path = `/api/v2/messages?is_outbound=false&number=${encodeURIComponent(number)}`
          return (await world.get(path, as)).body.data[0].media_url as string
        }),
      )
    const picture = async () => {
      const number = fresh()
      await register(number)
      await register(number, third)
      await world.text(number, 'Look', { to: SHARED_LINE, media_url: `${files.url}/photo` })
      await world.advance(1000)
      return urls(number)
    }
    const owners = async (shown: string[]) => {
      const names = shown.map((url) => url.match(/media\/(\w{22})\.png$/)?.[1] ?? '')
      const found = names.map((name) => findMedia(world.app.ctx.db, name))
      return (await Promise.all(found)).map((media) => media?.accountId)
    }
    const both = await picture()
    expect(await owners(both)).toEqual([first, last])
    // What one account has no room for, the other gets all the same.
    await limit(1)
    const one = await picture()
    expect([one[0], await owners(one)]).toEqual([`${files.url}/photo`, [undefined, last]])
    await limit(null)
    // One account loses its copy; the other's stays.
    await world.app.ctx.db.tx((sql) => deleteMedia(sql, [both[0]!.match(/(\w{22})\.png/)![1]!]))
    expect((await Promise.all(both.map((url) => fetch(url)))).map(({ status }) => status)).toEqual([404, 200])
    await files.close()
  })

  it("a registration takes no neighbour's conversation away, and is verified all the same", async () => {
    const number = fresh()
    await send(number, second)
    await register(number, third)
    await write(number, 'for the second')
    expect(await received(number)).toEqual([[], ['for the second'], []])
    expect(await states(number)).toEqual([undefined, 'verified', 'verified'])
    await send(number, third)
    await write(number, 'for the third')
    expect(await received(number)).toEqual([[], ['for the second'], ['for the third']])
  })

  it('a refused message is no turn: the answer goes where the last accepted message came from', async () => {
    const number = fresh()
    await send(number, second)
    await world.post('/api/v2/contacts/opt-out', { number }, third)
    expect((await send(number, third)).status).toBe('ERROR')
    await write(number, 'for the second')
    expect(await received(number)).toEqual([[], ['for the second'], []])
  })

  it('STOP blocks the sender for every account of the line, START lifts exactly that, and each is told', async () => {
    const number = fresh()
    await world.post('/api/v2/contacts/opt-out', { number }, third)
    await send(number, second)
    await write(number, 'STOP')
    expect(await received(number)).toEqual([[], ['STOP'], []])
    for (const as of everyone()) expect((await send(number, as)).status).toBe('ERROR')
    const out = ['contact.opted_out']
    expect(await consentEvents(number)).toEqual([out, out, []])
    expect((await send(number, second, '+12025550171')).status, 'the account that got it').toBe('ERROR')
    expect((await send(number, 'live', '+12025550100')).status, 'a line of its own').toBe('DELIVERED')
    await write(number, 'STOP')
    await write(number, 'START')
    const both = ['contact.opted_out', 'contact.opted_in']
    expect(await consentEvents(number)).toEqual([both, both, []])
    expect((await send(number, 'live')).status).toBe('DELIVERED')
    expect((await send(number, second)).status).toBe('DELIVERED')
    expect((await send(number, third)).status, 'opted out by itself').toBe('ERROR')
    const replies = (await world.inbox(number, second)).map((message) => message.content)
    expect(replies.filter((text) => /unsubscribed|no more|STOP|START/i.test(text))).toHaveLength(2)
  })

  it('a loop of one account holds its own conversation, and no conversation of a neighbour', async () => {
    await world.setLine(SHARED_LINE, { loop_limit: 4 })
    const number = fresh()
    for (let n = 0; n < 3; n++) {
      await send(number, second)
      await write(number, `machine ${n}`)
    }
    const held = () => world.get('/admin/conversations/held', 'admin')
    expect((await held()).body.data).toMatchObject([{ conversation: number, account_id: ids[1] }])
    // More than one transaction releases.
    const waiting: string[] = []
    for (let n = 0; n < 101; n++)
      waiting.push((await world.send({ from_number: SHARED_LINE, number }, second)).message_handle)
    await world.advance(1000)
    expect((await world.record(waiting[0]!, second)).status).toBe('REGISTERED')
    expect((await send(number, third)).status).toBe('DELIVERED')
    const body = { line_id: (await held()).body.data[0].line_id, conversation: number }
    const released = await world.post('/admin/conversations/release', body, 'admin')
    expect([released.status, released.body.messages]).toEqual([200, 101])
    await world.advance(30_000)
    for (const handle of [waiting[0]!, waiting.at(-1)!])
      expect((await world.status(handle, second)).status).toBe('DELIVERED')
    expect((await world.post('/admin/conversations/release', body, 'admin')).status).toBe(404)
    await world.setLine(SHARED_LINE, { loop_limit: null })
  })

  it('each account has its share of the daily limit, whatever a neighbour sends', async () => {
    await world.setLine(SHARED_LINE, { daily_limit: 6 })
    const sent: string[] = []
    for (let n = 0; n < 8; n++) {
      const { message_handle } = await world.send({ from_number: SHARED_LINE, number: fresh() }, second)
      sent.push(message_handle)
    }
    await world.advance(3000)
    const states = await Promise.all(sent.map(async (handle) => (await world.status(handle, second)).status))
    expect([...states].sort()).toEqual(['DELIVERED', 'DELIVERED', ...Array(6).fill('QUEUED')])
    for (const as of ['live', 'live', third, third] as Who[])
      expect((await send(fresh(), as)).status).toBe('DELIVERED')
    const waiting = sent[states.indexOf('QUEUED')]
    const { data } = (await world.get(`/v3/messages/${waiting}/why`, second)).body
    expect(data.summary).toBe(
      "Your share of the shared line's daily limit, 2 messages, is used up for today.",
    )
    await world.setLine(SHARED_LINE, { daily_limit: 0 })
  })

  it('finds the last message by its person, not by its messages', async () => {
    const { db } = world.app.ctx
    if (engine !== 'sqlite') return
    const plan = await db.all<{ detail: string }>(
      "explain query plan select account_id from line_turns where line_id = 'x' and contact = 'y' order by handle desc limit 1",
    )
    expect(plan[0]!.detail).toMatch(/SEARCH line_turns USING PRIMARY KEY \(line_id=\? AND contact=\?\)/)
  })
})
