import { readdirSync, readFileSync, statSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { findLineByNumber } from '../../src/storage/lines/lines.js'
import { openDoor } from '../support/drivers/door.js'
import { dumpOf } from '../support/dump.js'
import { createSink, type Received, type Sink } from '../support/web/sink.js'
import { ADA, BOB, createWorld, DAN, ENGINES, LINE, type World } from '../support/world.js'

const MARK = 'Plugh-Xyzzy'
const MINUTE = 60_000

describe.each(ENGINES)('traces of a deleted message on %s', (engine) => {
  let world: World
  let sink: Sink
  beforeAll(async () => {
    world = await createWorld(engine)
    sink = await createSink()
    // A receiver that returns what it got: the log of deliveries keeps answers.
    sink.answer(({ text }, reply) => void reply.writeHead(200).end(text))
    await world.call('PUT', '/api/account/webhooks', {
      body: { webhooks: { receive: [`${sink.url}/in`], outbound: [`${sink.url}/out`] } },
    })
  })
  afterAll(async () => {
    await sink.close()
    await world.close()
  })

  const remove = async (handle: string) =>
    expect((await world.call('DELETE', `/api/v2/messages/${handle}`)).status).toBe(200)
  /** What the people who got the messages have on their phones is theirs; everything else is ours. */
  const forgetPhones = async () => {
    await world.app.ctx.db.run('delete from phone_messages')
    await world.app.ctx.db.run("delete from replays where path like '/sim/%'")
  }
  const filesWith = (mark: string) =>
    (readdirSync(world.config.data, { recursive: true }) as string[])
      .map((name) => join(world.config.data, name))
      .filter((path) => statSync(path).isFile() && readFileSync(path).includes(mark))
      .map((path) => path.split('/').at(-1))
  const rowOf = (handle: string) =>
    world.app.ctx.db.one('select content, media_url, extra from messages where handle = $1', [handle])

  it('its text leaves the rows, the webhook log and the bytes of every file', async () => {
    const fields = { content: `${MARK} out`, media_url: `https://files.example.com/${MARK}.png` }
    const plain = await world.send({ ...fields, status_callback: `${sink.url}/callback` }, 'live', {
      'idempotency-key': 'answer-kept-for-two-days',
    })
    // Long enough for pages of its own in the database file.
    const long = await world.send({ number: BOB, content: `${MARK} `.repeat(1000) })
    const body = { from_number: LINE, numbers: [ADA, BOB], content: `${MARK} to a group` }
    const group = (await world.post('/api/send-group-message', body)).body
    await world.text(ADA, `${MARK} in`)
    await world.advance(MINUTE)
    const inbound = (await world.arrived(LINE, ADA))[0]
    expect(sink.received.filter(({ text }) => text.includes(MARK)).length).toBeGreaterThan(4)
    expect(await dumpOf(world.app)).toContain(MARK)
    if (engine === 'sqlite') expect(filesWith(MARK)).toContain('trunkline.db-wal')
    for (const { message_handle } of [plain, long, group, inbound]) await remove(message_handle)
    await world.advance(11 * MINUTE)
    await forgetPhones()
    expect(await dumpOf(world.app)).not.toContain(MARK)
    expect(world.logs.join('\n')).not.toContain(MARK)
    expect(await rowOf(plain.message_handle)).toEqual({ content: '', media_url: '', extra: null })
    expect(await world.app.ctx.db.scrub()).toBe(true)
    if (engine === 'sqlite') expect(filesWith(MARK)).toEqual([])
  })

  it('a message older than ten minutes is erased at once, and the log of the database emptied within a minute', async () => {
    const { message_handle } = await world.send({ content: 'an old message' })
    await world.advance(11 * MINUTE)
    await forgetPhones()
    await remove(message_handle)
    await world.settle()
    expect(await rowOf(message_handle)).toMatchObject({ content: '' })
    await world.advance(MINUTE)
    if (engine === 'sqlite') expect(filesWith('an old message')).toEqual([])
  })

  it('a younger one keeps its text while a retry or a copy may need it, and one that waits until it is sent', async () => {
    await world.setLine(LINE, { config: { state: 'OFFLINE' } })
    const { message_handle } = await world.send({ number: DAN, content: 'waits for its line' })
    await remove(message_handle)
    await world.advance(30 * MINUTE)
    expect(await rowOf(message_handle)).toMatchObject({ content: 'waits for its line' })
    await world.setLine(LINE, { config: {} })
    await world.advance(5 * MINUTE)
    expect(await rowOf(message_handle)).toMatchObject({ content: 'waits for its line' })
    await world.advance(24 * 60 * MINUTE)
    expect(await rowOf(message_handle)).toMatchObject({ content: '' })
  })

  it('of a message that was deleted at once, a retry or a copy from the carrier is recognised for ten minutes', async () => {
    const { ctx } = world.app
    const body = { from_number: LINE, number: BOB, content: 'deleted at once' }
    const retry = () => world.post('/api/send-message', body, 'live', { 'x-stainless-retry-count': '1' })
    const copiesStored = async () => {
      const door = openDoor(ctx, (await findLineByNumber(ctx.db, 'live', LINE))!)
      const copy = { from: BOB, service: 'SMS', content: body.content, sentAt: ctx.clock.now() } as const
      await door.receive({ ...copy, providerId: `copy-${ctx.clock.now()}`, mayBeEcho: true })
      return (await world.arrived(LINE, BOB)).filter(({ content }) => content === body.content).length
    }
    const { message_handle } = await world.send(body)
    await world.advance(MINUTE)
    await remove(message_handle)
    await world.advance(8 * MINUTE)
    expect(await rowOf(message_handle)).toMatchObject({ content: body.content })
    expect((await retry()).body.message_handle).toBe(message_handle)
    expect(await copiesStored()).toBe(0)
    await world.advance(2 * MINUTE)
    expect(await rowOf(message_handle)).toMatchObject({ content: '' })
    expect((await retry()).body.message_handle).not.toBe(message_handle)
    await world.advance(MINUTE)
  })

  it('an answer that arrives after the deletion is not kept', async () => {
    const held: [Received, ServerResponse][] = []
    sink.answer((post, reply) => void held.push([post, reply]))
    const { message_handle } = await world.send({ number: BOB, content: 'posted while deleted' })
    await vi.waitUntil(() => held.length > 0, { timeout: 60_000 })
    await remove(message_handle)
    for (const [{ text }, reply] of held) reply.writeHead(200).end(text)
    sink.answer(() => 200)
    await world.advance(1000)
    const answers = await world.app.ctx.db.all(
      `select answer from webhook_attempts where delivery_id in (select id from webhook_deliveries where subject = $1)`,
      [message_handle],
    )
    expect(answers).toEqual(held.map(() => ({ answer: null })))
  })
})
