import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSink, type Sink } from '../support/web/sink.js'
import { ADA, BOB, createWorld, ENGINES, type Json, LINE, type World } from '../support/world.js'

const [FAY, GUS] = ['+12025550106', '+12025562099']

const PEOPLE = Array.from({ length: 20 }, (_, n) => `+120255620${String(n).padStart(2, '0')}`)
const STYLES = ['confetti', 'lasers', 'invisible']
const SECOND = 1000

/**
 * Messages of every kind at once, with every mixture of what a caller may add. What is written together must not
 * mix: each message is stored, sent, logged, counted and told as it was asked for, and nobody else's.
 */
describe.each(ENGINES)('everything at once on %s', (engine) => {
  let world: World
  let sink: Sink
  let seats: string[]
  let dice = 12345
  /** Equal numbers in every run. */
  const chance = (n: number) => {
    dice = (Math.imul(dice, 1103515245) + 12345) & 0x7fffffff
    return (dice >>> 8) % n
  }
  const asked: { handle: string; body: Json; group: boolean }[] = []

  beforeAll(async () => {
    sink = await createSink()
    world = await createWorld(engine, { line: { pace: 0 } })
    const [account] = (await world.get('/admin/accounts', 'admin')).body.data
    seats = await Promise.all(
      ['one', 'two'].map(async (name) => {
        const draft = { account_id: account.id, email: `${name}@example.com`, subject: name }
        return (await world.post('/admin/seats', draft, 'admin')).body.id
      }),
    )
  })
  afterAll(async () => {
    await world.close()
    await sink.close()
  })

  function draft(n: number): { path: string; body: Json; group: boolean } {
    const group = chance(8) === 0
    const to = group ? { numbers: [ADA, FAY, GUS].slice(0, 2 + chance(2)) } : { number: PEOPLE[chance(20)] }
    const later = new Date(world.app.ctx.clock.now() + (1 + chance(30)) * 60 * SECOND).toISOString()
    const body = {
      from_number: LINE,
      content: `${'long '.repeat(chance(4) === 0 ? 60 : 0)}message ${n}`,
      ...to,
      ...(chance(3) === 0 ? { seat_id: seats[chance(2)] } : {}),
      ...(chance(2) === 0 ? { status_callback: `${sink.url}/${chance(3)}` } : {}),
      ...(chance(4) === 0 ? { send_style: STYLES[chance(3)] } : {}),
      ...(!group && chance(7) === 0 ? { send_at: later } : {}),
    }
    return { path: group ? '/api/send-group-message' : '/api/send-message', body, group }
  }

  async function send({ path, body, group }: ReturnType<typeof draft>) {
    const reply = await world.post(path, body)
    expect(reply.status, JSON.stringify(reply.body)).toBe(202)
    asked.push({ handle: reply.body.message_handle, body, group })
  }

  const rows = () => world.app.ctx.db.all<Json>('select * from messages order by id')

  it('is accepted, with texts that arrive and messages that are deleted in between', async () => {
    for (let wave = 0; wave < 3; wave++) {
      await Promise.all([
        ...Array.from({ length: 100 }, (_, n) => send(draft(wave * 100 + n))),
        ...[ADA, BOB, FAY].map((person) => world.text(person, `wave ${wave}`)),
      ])
      await Promise.all(
        asked.slice(-3).map(({ handle }) => world.call('DELETE', `/api/v2/messages/${handle}`)),
      )
      await world.advance(SECOND)
    }
    await world.advance(3600 * SECOND)
    expect(new Set(asked.map(({ handle }) => handle)).size).toBe(300)
  })

  it('each is stored as it was asked for', async () => {
    const byHandle = new Map((await rows()).map((row) => [row.handle, row]))
    for (const { handle, body, group } of asked) {
      const row = byHandle.get(handle)!
      expect(row, JSON.stringify(body)).toMatchObject({
        // The text of a deleted message is erased once it is no longer needed.
        content: row.deleted_at === null ? body.content : '',
        seat_id: body.seat_id ?? null,
        sender_email: body.seat_id ? `${body.seat_id === seats[0] ? 'one' : 'two'}@example.com` : null,
        status_callback: body.status_callback ?? null,
        send_style: body.send_style ?? '',
        is_outbound: 1,
        line_number: LINE,
        reply_to: null,
        ...(group ? { group_id: expect.any(String) } : { contact: body.number, group_id: null }),
      })
      if (body.send_at && row.status === 'DELIVERED')
        expect(row.sent_at).toBeGreaterThanOrEqual(Date.parse(body.send_at))
    }
    const inbound = [...byHandle.values()].filter((row) => row.is_outbound === 0)
    expect(inbound.map(({ contact, content }) => `${contact} ${content}`).sort()).toEqual(
      [0, 1, 2].flatMap((wave) => [ADA, BOB, FAY].map((person) => `${person} wave ${wave}`)).sort(),
    )
  })

  it('each arrives once, and those to one person in the order in which they were stored', async () => {
    // Deleting a scheduled message cancels it.
    const stored = (await rows()).filter((row) => row.is_outbound === 1 && row.status === 'DELIVERED')
    const texts = new Map(asked.map(({ handle, body }) => [handle, body.content]))
    for (const person of PEOPLE) {
      const mine = stored
        .filter((row) => row.contact === person && row.group_id === null)
        .map(({ handle }) => texts.get(handle))
      const seen = (await world.inbox(person)).map(({ content }) => content)
      expect([...seen].sort()).toEqual([...mine].sort())
      const timed = new Set(asked.filter(({ body }) => body.send_at).map(({ body }) => body.content))
      expect(seen.filter((content) => !timed.has(content))).toEqual(
        mine.filter((content) => !timed.has(content)),
      )
    }
  })

  it('the log has no gap, and says of each what became of it', async () => {
    const events = await world.events()
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1))
    const stored = new Map((await rows()).map((row) => [row.handle, row]))
    for (const { handle, body } of asked) {
      const own = events.filter((event) => event.subject === handle && event.type !== 'message.deleted')
      const statuses = own.map(({ data }) => data.status)
      const expected = [...(body.send_at ? ['REGISTERED'] : []), 'QUEUED', 'SENT', 'DELIVERED']
      const ended = stored.get(handle)!
      if (ended.deleted_at !== null && body.send_at) continue
      expect(statuses, handle).toEqual(expected)
      expect(own[0].type).toBe('message.created')
      expect(statuses.at(-1)).toBe(ended.status)
    }
  })

  it('callbacks hear what the log says, in its order, and of nobody else', async () => {
    const events = await world.events()
    const deleted = new Set((await rows()).filter((row) => row.deleted_at !== null).map((row) => row.handle))
    for (const { handle, body } of asked) {
      const heard = sink.received.filter((post) => post.body.message_handle === handle)
      expect(heard.every((post) => `${sink.url}${post.path}` === body.status_callback)).toBe(true)
      expect(heard.every((post) => post.body.content === body.content)).toBe(true)
      const log = events.filter((event) => event.subject === handle && event.data.status)
      const statuses = heard.map((post) => post.body.status)
      if (!body.status_callback) expect(statuses).toEqual([])
      else if (deleted.has(handle))
        expect(log.map(({ data }) => data.status)).toEqual(expect.arrayContaining(statuses))
      else expect(statuses).toEqual(log.map(({ data }) => data.status))
    }
  })

  it.each([
    '',
    '&is_outbound=true',
    '&is_outbound=false',
    '&status=DELIVERED',
    '&status=QUEUED',
    '&service=iMessage',
    '&service=SMS',
    `&number=${encodeURIComponent(PEOPLE[3]!)}`,
  ])('totals are counts: list%s', async (query) => {
    const filter = new URLSearchParams(query)
    const wanted = (await rows()).filter(
      (row) =>
        row.deleted_at === null &&
        (!filter.has('is_outbound') || String(row.is_outbound === 1) === filter.get('is_outbound')) &&
        (!filter.has('status') || row.status === filter.get('status')) &&
        (!filter.has('service') || row.service === filter.get('service')) &&
        (!filter.has('number') || row.contact === filter.get('number')),
    )
    await world.advance(10 * SECOND)
    const { body } = await world.get(`/api/v2/messages?limit=1${query}`)
    expect(body.pagination.total).toBe(wanted.length)
  })
})
