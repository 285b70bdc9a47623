import { afterEach, describe, expect, it } from 'vitest'
import type { SendResult } from '../../../src/core/messages/outcome.js'
import { openPostgres } from '../../../src/storage/engine/postgres.js'
import { forgetIdentity } from '../../support/database-faults/restored.js'
import { createPuppet } from '../../support/puppet.js'
import { createSink } from '../../support/web/sink.js'
import { ADA, createWorld, ENGINES, LINE, START, type World } from '../../support/world.js'

const OWN = '+12025550188'

/** A database that lost its last commits, as after the promotion of an asynchronous standby, uses their ids again. */
describe.each(ENGINES)('a process whose database lost commits, on %s', (engine) => {
  let world: World
  const leftovers: (() => unknown)[] = []
  afterEach(async () => {
    await world.close()
    for (const remove of leftovers.splice(0)) await remove()
  })

  it.each(['answer', 'answer after a receipt', 'refusal'])(
    'stores the %s to a lost message in no other message that has its id now',
    async (kind) => {
      const puppet = createPuppet()
      let answer: (result: SendResult) => void = () => {}
      puppet.acts.send = () =>
        new Promise((resolve) => {
          answer = resolve
        })
      world = await createWorld(engine, { drivers: [puppet] })
      const { db } = world.app.ctx
      const [account] = (await world.get('/admin/accounts', 'admin')).body.data
      await world.post('/admin/lines', { account_id: account.id, number: OWN, driver: 'puppet' }, 'admin')
      const later = { from_number: OWN, send_at: new Date(START + 3_600_000).toISOString() }
      const { message_handle: other } = await world.send({ ...later, content: 'other' })
      const { message_handle: lost } = await world.send({ from_number: OWN, content: 'lost' })
      await world.settle()
      expect(puppet.sent).toHaveLength(1)
      const { ref } = puppet.sent[0]!
      const { id, version } = (await db.one<{ id: number; version: number }>(
        'select id, version from messages where handle = $1',
        [lost],
      ))!
      await db.tx(async (sql) => {
        await sql.run('delete from attempts where message_id = $1', [id])
        await sql.run('delete from messages where id = $1', [id])
        const sequence = "pg_get_serial_sequence('messages', 'id')"
        if (engine === 'postgres') await sql.one(`select setval(${sequence}, $1, false)`, [id])
        await sql.run(
          `update messages set id = ${engine === 'postgres' ? 'default' : id}, version = $2, due_at = null,
             status = 'QUEUED', next_action_at = $3 where handle = $1`,
          [other, version, START + 60_000],
        )
      })
      const accepted = { outcome: 'accepted', providerId: `p-${ref}`, status: 'ACCEPTED' } as const
      const receipt = () =>
        puppet.on(OWN).host.receipt({ providerId: `p-${ref}`, status: 'DELIVERED', at: START })
      if (kind === 'answer after a receipt') await receipt()
      answer(kind === 'refusal' ? { outcome: 'refused', code: 'no', detail: 'no' } : accepted)
      await world.settle()
      if (kind === 'answer') await receipt()
      await world.settle()
      expect(world.logs.join('\n')).toContain('a sent message is no longer in the database')
      const row = await db.one('select status, provider_id from messages where handle = $1', [other])
      expect(row).toEqual({ status: 'QUEUED', provider_id: null })
      expect(await db.all('select ref from attempts where provider_id = $1', [`p-${ref}`])).toEqual([])

      // The other message then goes its own way.
      await world.restart(START + 120_000)
      expect(puppet.sent.map(({ content }) => content)).toEqual(['lost', 'other'])
      answer({ ...accepted, providerId: 'own' })
      await world.settle()
      expect((await world.record(other)).status).not.toBe('ERROR')
      const attempts = await world.app.ctx.db.all('select provider_id from attempts where message_id = $1', [
        id,
      ])
      expect(attempts).toEqual([{ provider_id: 'own' }])
    },
  )

  it("stores a receiver's answer in no other delivery that has the id now", async () => {
    world = await createWorld(engine)
    const { db } = world.app.ctx
    const sink = await createSink()
    leftovers.push(() => sink.close())
    let reply: (() => void) | undefined
    sink.answer((_, response) => {
      reply = () => response.writeHead(200).end()
    })
    await world.post('/api/account/webhooks', { webhooks: { contact_created: [sink.url] } })
    await world.post('/api/v2/contacts', { number: '+12025550171' })
    while (!reply) await new Promise((resolve) => setImmediate(resolve))
    await db.run('update webhook_deliveries set event_seq = event_seq + 1000000')
    reply()
    await world.settle()
    expect(await db.all('select state, attempts from webhook_deliveries')).toEqual([
      { state: 'pending', attempts: 0 },
    ])
  })

  it.runIf(engine === 'postgres')(
    'sends nothing from its memory after another process has noticed it, and lost its lines and webhook shards',
    async () => {
      world = await createWorld(engine, { line: { pace: 1 } })
      const { db } = world.app.ctx
      const sink = await createSink()
      leftovers.push(() => sink.close())
      await world.post('/api/account/webhooks', { webhooks: { outbound: [sink.url] } })
      for (const content of ['one', 'two', 'three']) await world.send({ from_number: LINE, content })
      await world.advance(300)
      const sum = async (table: string) =>
        (await db.one<{ epochs: number; n: number }>(
          `select sum(epoch) as epochs, count(*) as n from ${table}`,
        ))!
      const [lines, shards] = [await sum('line_leases'), await sum('webhook_shards')]
      expect(shards.n).toBeGreaterThan(0)

      await forgetIdentity(world)
      const other = await openPostgres(world.config.databaseUrl!)
      await other.noticeIncarnation(START)
      expect(other.incarnations).toHaveLength(2)
      await other.close()
      expect((await sum('line_leases')).epochs).toBe(lines.epochs + lines.n)
      expect((await sum('webhook_shards')).epochs).toBe(shards.epochs + shards.n)
      await world.advance(60_000)
      expect((await world.inbox(ADA)).map(({ content }) => content)).toEqual(['one'])
      expect((await world.get('/admin/recovery', 'admin')).body.messages).toBe(2)
    },
  )
})
