import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formOf, upload } from '../media/support.js'
import { PNG } from '../support/files.js'
import { populate } from '../support/populate.js'
import { createSink, type Sink } from '../support/web/sink.js'
import { ADA, BOB, createWorld, DAN, ENGINES, type Json, LINE, type World } from '../support/world.js'
import { erase, filesWith, finish, MINUTE, tablesWith } from './support.js'

const DIGITS = ADA.slice(1)
const MARK = 'Plugh-Xyzzy'

describe.each(ENGINES)('an erased person on %s', (engine) => {
  let world: World
  let sink: Sink
  beforeAll(async () => {
    world = await createWorld(engine)
    sink = await createSink()
    // A receiver that returns what it got: the log of deliveries keeps answers.
    sink.answer(({ text }, reply) => void reply.writeHead(200).end(text))
    await world.call('PUT', '/v3/requests/bodies', { body: { minutes: 60 } })
    await populate(world, LINE, sink.url)
    await world.send({ content: `${MARK} in the test world` }, 'test')
    await world.text(ADA, `${MARK} from the test world`, {}, 'test')
    const other = await world.addAccount('other@example.com', '+12025550150')
    await world.post(
      '/api/send-message',
      { from_number: '+12025550150', number: ADA, content: `${MARK} from another account` },
      other.live,
    )
    await world.call('DELETE', `/admin/accounts/${other.id}`, { as: 'admin' })
  })
  afterAll(async () => {
    await sink.close()
    await world.close()
  })

  it('is in no table and no file of the database any more, and neither is a text', async () => {
    const photo = (await upload(world, formOf(PNG))).body.media_url
    const shared = (await upload(world, formOf(PNG))).body.media_url
    const send = async (fields: Json, headers?: Record<string, string>) =>
      expect((await world.send(fields, 'live', headers)).message_handle).toBeTypeOf('string')
    await send({ content: `${MARK} to her`, media_url: photo }, { 'idempotency-key': `to-${ADA}` })
    await send({ content: `${MARK} long `.repeat(900), media_url: shared })
    await send({ number: BOB, content: `Call ${ADA}, please`, media_url: shared })
    const media = { name: 'a.png', base64: PNG.toString('base64') }
    await world.text(ADA, `${MARK} from her`, { media })
    await world.post('/api/v2/contacts', { number: ADA, first_name: `${MARK} Ada`, tags: [ADA] })
    await world.call('PUT', `/api/v2/contacts/${encodeURIComponent(ADA)}`, { body: { last_name: MARK } })
    await world.post('/api/v2/totp/secrets', { label: `Ada ${ADA}` })
    const body = { from_number: LINE, numbers: [ADA, BOB, DAN], content: 'Hello all' }
    const group = (await world.post('/api/send-group-message', body)).body
    await world.advance(MINUTE)
    await world.app.ctx.requestLog.flush()
    const before = await tablesWith(world, DIGITS)
    for (const table of [
      'messages',
      'contacts',
      'events',
      'audit_log',
      'calls',
      'replays',
      'phones',
      'requests',
    ])
      expect(before).toContain(table)
    expect(await tablesWith(world, MARK)).toContain('webhook_deliveries')
    if (engine === 'sqlite') expect(filesWith(world, MARK)).not.toEqual([])

    const { id, hint, state } = await erase(world, ADA)
    expect({ hint, state }).toEqual({ hint: '…0101', state: 'running' })
    const report = await finish(world, id)

    expect(await tablesWith(world, DIGITS)).toEqual([])
    expect(await tablesWith(world, MARK)).toEqual([])
    if (engine === 'sqlite') {
      expect(filesWith(world, MARK)).toEqual([])
      expect(filesWith(world, DIGITS)).toEqual([])
    } else {
      const samples =
        "select 1 as found from pg_stats where schemaname = 'public' and most_common_vals::text like $1"
      expect(await world.app.ctx.db.all(samples, [`%${DIGITS}%`])).toEqual([])
    }
    expect(report.counts).toMatchObject({
      contacts: expect.any(Number),
      messages: expect.any(Number),
      media: 2,
    })
    expect(JSON.stringify(report)).not.toContain(DIGITS)
    expect(world.logs.join('\n')).not.toContain(DIGITS)
    expect((await fetch(photo)).status).toBe(404)
    expect((await fetch(shared)).status).toBe(200)
    const members = (await world.get(`/api/v2/groups/${group.group_id}`)).body
    expect(JSON.stringify(members)).toMatch(/erased-/)
    expect(JSON.stringify(members)).toContain(BOB)
  })
})
