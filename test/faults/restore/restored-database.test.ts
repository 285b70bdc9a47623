import { cpSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, inject, it } from 'vitest'
import { createDatabaseNamed, onServer } from '../../support/template.js'
import { createSink } from '../../support/web/sink.js'
import { ADA, BOB, createWorld, ENGINES, type Json, START, type World } from '../../support/world.js'

const HOUR = 3_600_000

describe.each(ENGINES)('a database that is put back to an earlier state, on %s', (engine) => {
  let world: World
  const leftovers: (() => unknown)[] = []
  afterEach(async () => {
    await world.close()
    for (const remove of leftovers.splice(0)) await remove()
  })

  /** Restarts and remembers the data. Returns how to put it back at another restart, as an operator would by hand. */
  async function snapshot(): Promise<() => Promise<void>> {
    if (engine === 'sqlite') {
      const copy = `${world.config.data}-copy`
      leftovers.push(() => rmSync(copy, { recursive: true, force: true }))
      await world.restart(undefined, () => cpSync(world.config.data, copy, { recursive: true }))
      return async () => {
        // A start refuses the older copy until the operator deletes the mark.
        rmSync(join(world.config.data, 'trunkline.mark'))
        for (const name of ['trunkline.db', 'trunkline.db-wal', 'trunkline.db-shm']) {
          rmSync(join(world.config.data, name), { force: true })
          if (existsSync(join(copy, name))) cpSync(join(copy, name), join(world.config.data, name))
        }
      }
    }
    const admin = inject('postgresUrl')
    const [name, original] = [`copy_${Date.now()}`, new URL(world.config.databaseUrl!).pathname.slice(1)]
    await world.restart(undefined, () => createDatabaseNamed(admin, name, original))
    return async () => {
      await onServer(admin, `drop database ${original} with (force)`)
      await onServer(admin, `alter database ${name} rename to ${original}`)
    }
  }

  const texts = async (phone: string) => (await world.inbox(phone)).map(({ content }: Json) => content)
  const inDoubt = async () => (await world.get('/admin/recovery', 'admin')).body
  const decide = async (body: Json) => (await world.post('/admin/recovery', body, 'admin')).body.decided

  it('sends no message that waited then without the operator, and numbers no event twice', async () => {
    world = await createWorld(engine, { line: { pace: 1 } })
    const sink = await createSink()
    leftovers.push(() => sink.close())
    await world.post('/api/account/webhooks', { webhooks: { contact_created: [sink.url] } })
    for (const content of ['one', 'two', 'three', 'four']) await world.send({ content })
    const soon = new Date(START + HOUR).toISOString()
    await world.send({ number: BOB, content: 'later', send_at: soon })
    await world.advance(300)
    const putBack = await snapshot()
    expect(await inDoubt()).toMatchObject({ incarnation: 1, is_held: false, messages: 0 })
    await world.advance(2 * HOUR)
    // The same events before and after: contact_created carries its event_id.
    await world.post('/api/v2/contacts', { number: '+12025550171' })
    await world.advance(1000)
    expect([await texts(ADA), await texts(BOB)]).toEqual([['one', 'two', 'three', 'four'], ['later']])
    const lost = (await world.events()).at(-1).seq

    await world.restart(undefined, putBack)
    await world.advance(HOUR)
    expect([await texts(ADA), await texts(BOB)]).toEqual([['one'], []])
    expect(await inDoubt()).toMatchObject({ incarnation: 2, is_held: true, messages: 4 })
    expect(world.logs.join('\n')).toContain('Decide with: trunkline recover')
    // New messages pass the ones in doubt.
    await world.send({ content: 'new' })
    await world.post('/api/v2/contacts', { number: '+12025550172' })
    await world.advance(5000)
    expect(await texts(ADA)).toEqual(['one', 'new'])
    const ids = sink.received.map(({ body }) => body.event_id)
    expect(new Set(ids).size).toBe(2)
    const { incarnation_id } = await inDoubt()
    expect(ids[1]).toContain(`_${incarnation_id}_`)
    expect(sink.received.map(({ headers }) => headers['webhook-id'])).toEqual(ids)
    const logged = (await world.get('/v3/webhook-deliveries')).body.data
    expect(logged.map((one: Json) => one.webhook_id)).toContain(ids[1])
    expect((await world.events()).at(-1).seq).toBeGreaterThan(lost)

    // Still so after an ordinary restart.
    await world.restart()
    await world.advance(5000)
    expect(await inDoubt()).toMatchObject({ incarnation: 2, messages: 4 })
    expect(await decide({ action: 'give_up', before: new Date(START + 60_000).toISOString() })).toBe(3)
    expect(await inDoubt()).toMatchObject({ is_held: true, messages: 1 })
    expect(await decide({ action: 'resend' })).toBe(1)
    await world.advance(5000)
    expect([await texts(ADA), await texts(BOB)]).toEqual([['one', 'new'], ['later']])
    expect(await inDoubt()).toMatchObject({ is_held: false, messages: 0 })
    const audit = (await world.get('/admin/audit', 'admin')).body.data
    expect(audit.map((row: Json) => row.action)).toContain('POST /admin/recovery')
  })

  it('sends them in their order when the operator says so, also one that was being sent', async () => {
    world = await createWorld(engine, { line: { pace: 1, config: { fault: 'silence', fault_times: 1 } } })
    const handles: string[] = []
    for (const content of ['one', 'two', 'three'])
      handles.push((await world.send({ content })).message_handle)
    await world.settle()
    const putBack = await snapshot()
    await world.advance(120_000)
    expect(await texts(ADA)).toHaveLength(3)
    await world.restart(undefined, putBack)
    await world.advance(60_000)
    expect(await texts(ADA)).toEqual([])
    expect(await inDoubt()).toMatchObject({ messages: 3, lines: [{ messages: 3, tried: 1 }] })
    expect(await decide({ action: 'resend' })).toBe(3)
    await world.advance(120_000)
    expect(await texts(ADA)).toEqual(['one', 'two', 'three'])
    for (const handle of handles) expect((await world.status(handle)).status).toBe('DELIVERED')
  })

  it('refuses a decision that says nothing', async () => {
    world = await createWorld(engine)
    expect((await world.post('/admin/recovery', { action: 'maybe' }, 'admin')).status).toBe(400)
    expect((await world.post('/admin/recovery', { action: 'give_up', before: 'x' }, 'admin')).status).toBe(
      400,
    )
    expect((await world.post('/admin/recovery', { action: 'resend' }, 'live')).status).toBe(403)
    expect(await decide({ action: 'resend' })).toBe(0)
  })
})
