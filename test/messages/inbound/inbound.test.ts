import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Line } from '../../../src/core/lines/line.js'
import type { Inbound } from '../../../src/drivers/inbound.js'
import { openPostgres } from '../../../src/storage/engine/postgres.js'
import { findLineByNumber } from '../../../src/storage/lines/lines.js'
import { openDoor } from '../../support/drivers/door.js'
import {
  ADA,
  BOB,
  createWorld,
  ENGINES,
  EVE,
  type Json,
  LINE,
  SHARED_LINE,
  type World,
} from '../../support/world.js'

/** A carrier may repeat, reorder and echo: one message is one message, and ours are never inbound. */
describe.each(ENGINES)('the inbound door on %s', (engine) => {
  let world: World
  let line: Line
  let n = 0
  beforeAll(async () => {
    world = await createWorld(engine)
    line = (await findLineByNumber(world.app.ctx.db, 'live', LINE))!
  })
  afterAll(() => world.close())

  /** A text that no other test has. */
  const fresh = (text = 'text') => `${text} ${++n}`
  const text = (fields: Partial<Inbound> = {}): Inbound => ({
    from: ADA,
    service: 'SMS',
    content: fresh(),
    sentAt: world.app.ctx.clock.now(),
    ...fields,
  })
  const received = async (content: string, as?: 'live') => {
    const rows = await world.app.ctx.db.all<{ handle: string; content: string }>(
      'select handle, content, extra, contact from messages where is_outbound = 0 and content = $1',
      [content],
    )
    // The log has each of them, once.
    const log = (await world.events(as)).filter((event) => event.type === 'message.received')
    for (const { handle } of rows) expect(log.filter((event) => event.subject === handle)).toHaveLength(1)
    return rows
  }
  const inbound = async () => {
    const { data } = (await world.get('/api/v2/messages?is_outbound=false&limit=100')).body
    return data as Json[]
  }
  const metric = async (result: string) => {
    const { body } = await world.get('/metrics', 'admin')
    const found = new RegExp(`received_total\\{result="${result}"\\} (\\d+)`).exec(body as string)
    return Number(found?.[1] ?? 0)
  }
  const temper = (config: Json) => world.setLine(LINE, { config: { latency_ms: 0, ...config } })

  describe('repeats', () => {
    it('the same id at once: fifty copies are one message, and each is acknowledged', async () => {
      const door = openDoor(world.app.ctx, line)
      const message = text({ providerId: 'REPEAT-1' })
      await Promise.all(Array.from({ length: 50 }, () => door.receive({ ...message })))
      await door.receive({ ...message, content: 'even with another text' })
      expect(await received(message.content)).toHaveLength(1)
      expect(await received('even with another text')).toHaveLength(0)
    })

    it.runIf(engine === 'postgres')('fifty copies at two processes', async () => {
      const other = await openPostgres(world.config.databaseUrl!)
      try {
        for (let round = 0; round < 5; round++) {
          const doors = [world.app.ctx, { ...world.app.ctx, db: other }].flatMap((ctx) => [
            openDoor(ctx, line),
            openDoor(ctx, line),
          ])
          const message = text({ providerId: `RACE-${round}`, from: `+1202555${7000 + round}` })
          await Promise.all(
            Array.from({ length: 50 }, (_, i) => doors[i % doors.length]!.receive({ ...message })),
          )
          expect(await received(message.content)).toHaveLength(1)
        }
      } finally {
        await other.close()
      }
    })

    it('after a restart, after deletion, 17 hours later, and on a line that replaced the old one', async () => {
      const message = text({ providerId: 'REPEAT-2' })
      await openDoor(world.app.ctx, line).receive(message)
      await world.restart()
      await openDoor(world.app.ctx, line).receive({ ...message })
      const { handle } = (await received(message.content))[0]!
      expect((await world.call('DELETE', `/api/v2/messages/${handle}`)).status).toBe(200)
      await world.advance(17 * 3_600_000)
      await openDoor(world.app.ctx, line).receive({ ...message })
      const copies = "select handle, content from messages where provider_id = 'REPEAT-2'"
      expect(await world.app.ctx.db.all(copies)).toEqual([{ handle, content: '' }])

      const other = await world.addAccount('moved@example.com', '+12025550188')
      const old = (await findLineByNumber(world.app.ctx.db, 'live', '+12025550188'))!
      const moved = text({ providerId: 'MOVED-1' })
      await world.settle()
      await openDoor(world.app.ctx, old).receive(moved)
      await world.call('DELETE', `/admin/lines/${old.id}`, { as: 'admin' })
      await world.post('/admin/lines', { account_id: other.id, number: '+12025550188' }, 'admin')
      const next = (await findLineByNumber(world.app.ctx.db, 'live', '+12025550188'))!
      expect(next.id).not.toBe(old.id)
      await world.settle()
      await openDoor(world.app.ctx, next).receive({ ...moved })
      expect(
        await world.app.ctx.db.all('select 1 from messages where content = $1', [moved.content]),
      ).toHaveLength(1)
    })

    it('one text under two ids, as some gateways bring it: sender, text and time of sending tell', async () => {
      await temper({ duplicate: 'new-id' })
      const content = fresh('Test 12')
      await world.text(ADA, content)
      await world.settle()
      expect(await received(content)).toHaveLength(1)
      // The person says the same again a second later, and that is another message.
      await world.advance(1000)
      await world.text(ADA, content)
      await world.settle()
      expect(await received(content)).toHaveLength(2)
      // And even the second id, days later, is no news.
      const [first] = await world.app.ctx.db.all<{ provider_id: string; sent_at: number }>(
        'select provider_id, sent_at from messages where content = $1 order by id',
        [content],
      )
      await world.advance(3 * 24 * 3_600_000)
      await openDoor(world.app.ctx, line).receive(
        text({ content, sentAt: first!.sent_at, providerId: 'THIRD-ID', unstableId: true }),
      )
      expect(await received(content)).toHaveLength(2)
    })

    it('every delivery doubled, in a burst of different and equal texts: each is there once, in order', async () => {
      await temper({ duplicate: 'same-id' })
      const burst = ['Dump', 'https://example.com/a', 'yes', 'yes', 'ok?'].map((one) => `${fresh()} ${one}`)
      for (const content of burst) await world.text(EVE, content)
      await world.settle()
      const { data } = (
        await world.get(`/api/v2/messages?is_outbound=false&from_number=${encodeURIComponent(EVE)}&limit=100`)
      ).body
      expect(data.map((one: Json) => one.content).reverse()).toEqual(burst)
    })

    it('two equal texts of a person in the same moment are two messages', async () => {
      await temper({})
      const content = fresh('yes')
      await Promise.all([world.text(ADA, content), world.text(ADA, content)])
      await world.settle()
      expect(await received(content)).toHaveLength(2)
    })
  })

  describe('messages without an id', () => {
    const arrive = async (session: string, message: Inbound) => {
      const delivery = { ...message, session }
      const door = openDoor(world.app.ctx, line)
      await door.receive(delivery)
      return () => door.acknowledged(delivery)
    }

    it('the thanks got lost: over the next connection it is the same; after thanks an equal one is new', async () => {
      const message = text()
      await arrive('bind-1', message)
      const thanks = await arrive('bind-2', message)
      expect(await received(message.content)).toHaveLength(1)
      await thanks()
      await arrive('bind-3', message)
      expect(await received(message.content)).toHaveLength(2)
    })

    it('two equal ones over the same connection are two, before any thanks; and both come again once each', async () => {
      const message = text()
      await Promise.all([arrive('bind-1', message), arrive('bind-1', message)])
      expect(await received(message.content)).toHaveLength(2)
      await Promise.all([arrive('bind-2', message), arrive('bind-2', message)])
      expect(await received(message.content)).toHaveLength(2)
      await arrive('bind-2', message)
      expect(await received(message.content)).toHaveLength(3)
    })

    it('the note of the thanks got lost: the time of a carrier that has one tells an equal text from a repeat', async () => {
      const message = { ...text(), stamped: true }
      await arrive('bind-1', message)
      await arrive('bind-2', message)
      expect(await received(message.content), 'the same time: the same message').toHaveLength(1)
      await arrive('bind-2', { ...message, sentAt: message.sentAt + 1 })
      await arrive('bind-3', { ...message, sentAt: message.sentAt + 2 })
      expect(await received(message.content), 'said again').toHaveLength(3)
    })

    it('is not confused by a lost note of the thanks for longer than an hour', async () => {
      const message = text()
      await arrive('bind-1', message)
      await world.advance(3_600_001)
      await arrive('bind-2', message)
      expect(await received(message.content)).toHaveLength(2)
    })

    it('through a whole simulated carrier, with two genuine equal texts', async () => {
      await temper({ ids: false })
      const content = fresh('yes')
      await world.text(ADA, content)
      await world.settle()
      await world.text(ADA, content)
      await world.settle()
      expect(await received(content)).toHaveLength(2)
      expect(
        await world.app.ctx.db.all("select 1 from unthanked_messages where session not like 'bind%'"),
      ).toEqual([])
    })
  })

  describe('echoes', () => {
    it.each(['reflect', 'mirror', 'same-id', 'ref'])('%s: our own message is not inbound', async (echo) => {
      await temper({ echo })
      const before = { echoes: await metric('echo'), inbound: (await inbound()).length }
      const content = fresh(`agent says (${echo})`)
      const { message_handle } = await world.send({ content })
      await world.advance(1000)
      expect((await world.record(message_handle)).status).toBe('DELIVERED')
      expect(await inbound()).toHaveLength(before.inbound)
      expect(await metric('echo')).toBe(before.echoes + 1)
      const log = world.logs.filter((one) => one.includes('came back'))
      expect(log.at(-1)).toContain('"proof"')
      expect(log.join()).not.toContain(content)
      expect(log.join()).not.toContain(ADA)
      // The person honestly says the same: heard, also when it is read back to us.
      await world.text(ADA, content)
      await world.settle()
      expect(await received(content)).toHaveLength(1)
    })

    it.each(['reflect', 'mirror', 'same-id'])('%s: nor is it in a group', async (echo) => {
      await temper({ echo })
      const content = fresh('to all')
      const sent = await world.post('/api/send-group-message', {
        from_number: LINE,
        numbers: [ADA, EVE],
        content,
      })
      expect(sent.status).toBe(202)
      await world.advance(1000)
      expect(await received(content)).toHaveLength(0)
      expect(await world.app.ctx.db.all("select 1 from messages where content like '%\ufffd%'")).toEqual([])
    })

    it('a mirrored copy takes one send with it: said twice and mirrored twice is nothing, a third is the person', async () => {
      await temper({})
      const content = fresh('ping')
      const mark = n
      await world.send({ content })
      await world.send({ content })
      await world.advance(1000)
      const door = openDoor(world.app.ctx, line)
      for (const copy of ['A', 'B', 'A', 'B'])
        await door.receive(text({ content, providerId: `MIRROR-${copy}-${mark}`, mayBeEcho: true }))
      expect(await received(content)).toHaveLength(0)
      await door.receive(text({ content, providerId: `MIRROR-C-${n}`, mayBeEcho: true }))
      expect(await received(content)).toHaveLength(1)
    })

    it('and only for ten minutes, only the same text, only in the same conversation', async () => {
      const content = fresh('pong')
      await world.send({ content })
      await world.advance(1000)
      const door = openDoor(world.app.ctx, line)
      await door.receive(text({ content, from: EVE, providerId: `ELSE-1-${n}`, mayBeEcho: true }))
      await door.receive(text({ content: `${content}!`, providerId: `ELSE-2-${n}`, mayBeEcho: true }))
      await world.advance(600_001)
      await door.receive(text({ content, providerId: `ELSE-3-${n}`, mayBeEcho: true }))
      expect(await received(content)).toHaveLength(2)
      expect(await received(`${content}!`)).toHaveLength(1)
    })

    it('a message that waited an hour for its turn is recognised when it goes out', async () => {
      await temper({ fault: 'unreachable', fault_times: 1, echo: 'mirror' })
      await world.setPhone(ADA, { power: true })
      const content = fresh('late')
      await temper({ state: 'OFFLINE' })
      await world.send({ content })
      await world.advance(3_600_000)
      await temper({ echo: 'mirror' })
      await world.advance(1000)
      expect((await world.inbox(ADA)).some((one: Json) => one.content === content)).toBe(true)
      expect(await received(content)).toHaveLength(0)
      expect(await world.app.ctx.db.all("select 1 from messages where content like '%\ufffd%'")).toEqual([])
    })

    it('self-chats: a pair of rows for each text, ours are dropped and the person is heard once', async () => {
      await temper({})
      const door = openDoor(world.app.ctx, line)
      const own = '+12025550177'
      await world.addAccount('self@example.com', own)
      const ours = fresh('Do you want to report this issue?')
      await world.send({ number: own, content: ours })
      await world.advance(1000)
      // The two rows of our own message, without any mark on the second.
      await door.receive(text({ content: ours, from: own, providerId: `SELF-1-${n}`, fromMe: true }))
      await door.receive(text({ content: ours, from: own, providerId: `SELF-2-${n}` }))
      expect(await received(ours)).toHaveLength(0)
      // The two rows of what the owner writes to themselves.
      const theirs = fresh('Yes, do')
      await door.receive(text({ content: theirs, from: own, providerId: `SELF-3-${n}`, fromMe: true }))
      await door.receive(text({ content: theirs, from: own, providerId: `SELF-4-${n}` }))
      expect(await received(theirs)).toHaveLength(1)
    })

    it('between two lines of ours: what the other line really sent is heard, even if it is the same text', async () => {
      const content = fresh('same to you')
      const own = '+12025550178'
      const other = await world.addAccount('other-line@example.com', own)
      await world.send({ number: own, content })
      await world.post('/api/send-message', { from_number: own, number: LINE, content }, other.live)
      await world.advance(1000)
      await openDoor(world.app.ctx, line).receive(text({ content, from: own, providerId: `OWN-${n}` }))
      expect(await received(content)).toHaveLength(1)
    })

    it("what a person types on the line's own device is not inbound either", async () => {
      const message = text({ providerId: 'TYPED-1', fromMe: true })
      await openDoor(world.app.ctx, line).receive(message)
      expect(await received(message.content)).toHaveLength(0)
    })
  })

  describe('long texts in parts', () => {
    const whole = 'first part, second part, third part'
    const partsOf = (ref: string, content: string, ids = true): Inbound[] => {
      const size = Math.ceil(content.length / 3)
      return [1, 2, 3].map((k) =>
        text({
          content: content.slice((k - 1) * size, k * size),
          part: { ref, n: k, total: 3 },
          ...(ids ? { providerId: `${ref}-${k}-${content.length}-${n}` } : {}),
        }),
      )
    }

    it('all orders of three parts, with repeats, alone or together: assembled once', async () => {
      const orders = fc.tuple(
        fc.shuffledSubarray([0, 1, 2], { minLength: 3 }),
        fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 4 }),
        fc.boolean(),
        fc.boolean(),
      )
      await fc.assert(
        fc.asyncProperty(orders, async ([order, repeats, ids, together]) => {
          const content = `${fresh()} ${whole}`
          const parts = partsOf(`R${n}`, content, ids)
          const door = openDoor(world.app.ctx, line)
          const deliveries = [
            ...order.slice(0, 2),
            ...repeats.filter((k) => k !== order[2]),
            order[2]!,
            ...repeats,
          ]
          if (together) await Promise.all(deliveries.map((k) => door.receive({ ...parts[k]! })))
          else for (const k of deliveries) await door.receive({ ...parts[k]! })
          expect(await received(content)).toHaveLength(1)
        }),
        { numRuns: 20 },
      )
      expect(await world.app.ctx.db.all('select 1 from message_parts where due_at is not null')).toEqual([])
    })

    it('one that never comes: after five minutes the rest is stored, once, and says what is missing', async () => {
      const parts = partsOf('LOST', `${fresh()} ${whole}`)
      const door = openDoor(world.app.ctx, line)
      await door.receive(parts[2]!)
      await world.restart()
      await openDoor(world.app.ctx, line).receive(parts[0]!)
      const content = `${parts[0]!.content}…${parts[2]!.content}`
      await world.advance(290_000)
      expect(await received(content)).toHaveLength(0)
      await world.advance(10_000)
      expect(await received(content)).toHaveLength(1)
      const record = (await inbound()).find((one) => one.content === content)
      expect(record).toMatchObject({ status: 'RECEIVED', partial: { received: [1, 3], expected: 3 } })
      await openDoor(world.app.ctx, line).receive({ ...parts[0]! })
      await world.advance(600_000)
      expect(await received(content)).toHaveLength(1)
      expect((await inbound()).filter((one) => one.partial)).toHaveLength(1)
    })

    it('a ref that is used anew: what waited is stored as it is, and the new text gets its own', async () => {
      const door = openDoor(world.app.ctx, line)
      const old = partsOf('7', `${fresh('old')} ${whole}`, false)
      const next = partsOf('7', `${fresh('new')} ${whole}`, false)
      await door.receive(old[0]!)
      for (const part of next) await door.receive(part)
      expect(await received(`${old[0]!.content}…`)).toHaveLength(1)
      expect(await received(next.map((part) => part.content).join(''))).toHaveLength(1)
    })

    it.each(['forward', 'backward', 'doubled'])('from a phone, %s', async (part_order) => {
      await temper({ part_chars: 10, part_order })
      const content = `${fresh()} a text of several parts`
      await world.text(ADA, content)
      await world.settle()
      expect(await received(content)).toHaveLength(1)
      expect((await received(content))[0]).toMatchObject({ contact: ADA })
    })

    it('a STOP in parts counts when it is whole', async () => {
      await temper({ part_chars: 6, part_order: 'backward' })
      await world.text(BOB, 'unsubscribe')
      await world.settle()
      expect(await world.send({ number: BOB })).toMatchObject({ error_code: 4002 })
      await temper({})
      await world.text(BOB, 'START')
      await world.advance(1000)
    })
  })

  describe('receipts of a carrier that', () => {
    it.each([
      ['early', ['QUEUED', 'SENT', 'DELIVERED']],
      ['late', ['QUEUED', 'SENT', 'DELIVERED']],
      ['double', ['QUEUED', 'SENT', 'DELIVERED']],
      ['shuffled', ['QUEUED', 'ACCEPTED', 'SENT', 'DELIVERED']],
    ])('is %s', async (receipts, expected) => {
      await temper({ receipts })
      const { message_handle } = await world.send({ content: fresh(receipts) })
      await world.advance(1000)
      if (receipts === 'late') {
        expect((await world.record(message_handle)).status).toBe('SENT')
        await world.advance(3_600_000)
      }
      const log = (await world.events()).filter((event) => event.subject === message_handle)
      expect(log.map((event) => event.data.status)).toEqual(expected)
      expect((await world.record(message_handle)).status).toBe('DELIVERED')
    })
  })

  describe('contacts', () => {
    const number = '+12025557301'
    const contact = async () => (await world.get(`/api/v2/contacts/${number}`)).body.contact

    it('an unknown number that writes in is a contact, once, and the log says so', async () => {
      await temper({})
      await Promise.all([world.text(number, 'hi'), world.text(number, 'it is me')])
      await world.settle()
      expect(await contact()).toMatchObject({ phone: number, first_name: '', sendblue_number: LINE })
      const created = (await world.events()).filter(
        (event) => event.type === 'contact.created' && event.data.phone === number,
      )
      expect(created).toHaveLength(1)
    })

    it('and whoever creates it then describes it for the first time; after that it exists', async () => {
      const { contact_id } = await contact()
      const made = await world.post('/api/v2/contacts', { number, first_name: 'Nora' })
      expect(made.status).toBe(200)
      expect(made.body.contact).toMatchObject({ first_name: 'Nora' })
      expect((await contact()).contact_id).toBe(contact_id)
      expect((await world.post('/api/v2/contacts', { number, first_name: 'Nina' })).status).toBe(409)
      await world.text(number, 'still me')
      await world.settle()
      expect(await contact()).toMatchObject({ first_name: 'Nora' })
    })

    it('what people say in a group makes nobody a contact', async () => {
      const stranger = '+12025557302'
      const group = await world.post('/api/send-group-message', {
        from_number: LINE,
        numbers: [ADA, stranger],
        content: fresh('hello group'),
      })
      await world.advance(1000)
      await world.text(stranger, 'hello back', { to: undefined, group_id: group.body.group_id })
      await world.settle()
      expect((await inbound()).some((one) => one.content === 'hello back')).toBe(true)
      expect((await world.get(`/api/v2/contacts/${stranger}`)).status).toBe(404)
    })

    it("a stranger on a shared line of several accounts is nobody's contact", async () => {
      expect(SHARED_LINE).not.toBe(LINE)
      const { n: before } = (await world.app.ctx.db.one<{ n: number }>('select count(*) as n from contacts'))!
      const other = await world.addAccount('shared-too@example.com', '+12025550189')
      const lines = (await world.get('/admin/lines', 'admin')).body.data
      const shared = lines.find((one: Json) => one.number === SHARED_LINE && one.world === 'live')
      await world.post(`/admin/lines/${shared.id}/members`, { account_id: other.id }, 'admin')
      await world.text('+12025557303', 'anybody?', { to: SHARED_LINE })
      await world.settle()
      expect(await world.app.ctx.db.one('select count(*) as n from contacts')).toEqual({ n: before })
    })
  })
})
