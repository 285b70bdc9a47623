import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { ADA, BOB, createWorld, DAN, ENGINES, LINE, type World } from '../support/world.js'
import { erase, finish, MINUTE, tablesWith } from './support.js'

const DIGITS = ADA.slice(1)

describe.each(ENGINES)('an erasure on %s', (engine) => {
  let world: World
  beforeEach(async () => {
    world = await createWorld(engine)
  })
  afterEach(() => world.close())

  const isRefused = async (as: 'live' | 'test' = 'live') =>
    (await world.send({ content: 'Again?' }, as)).error_code === 4002

  it('keeps an opt-out in force without the number, also after a restart and a second erasure, until START', async () => {
    await world.text(ADA, 'STOP')
    await world.advance(11 * MINUTE)
    expect(await isRefused()).toBe(true)
    await finish(world, (await erase(world, ADA)).id)
    expect(await tablesWith(world, DIGITS)).toEqual([])
    await world.restart()
    expect(await isRefused()).toBe(true)
    expect(await isRefused('test')).toBe(false)
    await world.text(ADA, 'STOP')
    await finish(world, (await erase(world, ADA)).id)
    expect(await isRefused()).toBe(true)
    await world.text(ADA, 'START')
    await world.settle()
    expect(await isRefused()).toBe(false)
  })

  it('never sends what waits for the person, and lets a message on the wire end first', async () => {
    await world.setLine(LINE, { config: { state: 'OFFLINE' } })
    const waiting = await world.send({ content: 'waits for its line' })
    const later = await world.send({ content: 'later', send_at: '2026-03-01T12:05:00Z' })
    const { id } = await erase(world, ADA)
    await world.settle()
    for (const { message_handle } of [waiting, later])
      expect(await world.status(message_handle)).toMatchObject({
        status: 'ERROR',
        error_message: 'The recipient was erased before the message was sent',
      })
    await world.setLine(LINE, { config: {} })
    await world.advance(6 * MINUTE)
    expect(await world.inbox(ADA)).toEqual([])
    expect((await world.get(`/admin/erasures/${id}`, 'admin')).body.state).toBe('waiting')
    await finish(world, id)
    expect((await world.get(`/api/v2/messages/${waiting.message_handle}`)).status).toBe(404)

    await world.setLine(LINE, { config: { latency_ms: 20 * MINUTE } })
    const slow = await world.send({ content: 'on the wire' })
    await world.settle()
    const second = await erase(world, ADA)
    await world.advance(5 * MINUTE)
    expect((await world.get(`/admin/erasures/${second.id}`, 'admin')).body.state).toBe('waiting')
    expect((await world.status(slow.message_handle)).status).not.toBe('ERROR')
    await world.setLine(LINE, { config: {} })
    for (let hours = 0; hours < 48; hours++) await world.advance(60 * MINUTE)
    expect((await world.get(`/admin/erasures/${second.id}`, 'admin')).body.state).toBe('done')
    expect(await tablesWith(world, DIGITS)).toEqual([])
  })

  it('leaves what comes later: it is a new fact', async () => {
    await world.text(ADA, 'before')
    await world.advance(11 * MINUTE)
    await world.send({ content: 'still young' })
    await world.advance(MINUTE)
    const { id } = await erase(world, ADA)
    await world.advance(MINUTE)
    await world.text(ADA, 'after')
    await finish(world, id)
    expect((await world.arrived(LINE, ADA)).map(({ content }) => content)).toEqual(['after'])
  })

  it('in a group, removes what the person wrote and leaves what others wrote, with a mark for the person', async () => {
    const body = { from_number: LINE, numbers: [ADA, BOB, DAN], content: 'Hello all' }
    const { group_id } = (await world.post('/api/send-group-message', body)).body
    await world.advance(MINUTE)
    for (const [phone, content] of [
      [ADA, 'Ada says'],
      [BOB, 'Bob says'],
    ])
      expect((await world.post(`/sim/phones/${phone}/messages`, { group_id, content })).status).toBeLessThan(
        300,
      )
    await world.advance(MINUTE)
    await finish(world, (await erase(world, ADA)).id)
    const texts = (await world.get(`/api/v2/messages?group_id=${group_id}`)).body.data
    const contents = texts.map(({ content }: { content: string }) => content)
    expect(contents).toContain('Hello all')
    expect(contents).toContain('Bob says')
    expect(contents).not.toContain('Ada says')
    expect(await tablesWith(world, 'Ada says')).toEqual([])
    expect(await tablesWith(world, DIGITS)).toEqual([])
    // A further message to the group goes to the others only.
    await world.post('/api/send-group-message', { from_number: LINE, group_id, content: 'Without her' })
    await world.advance(MINUTE)
    expect((await world.inbox(BOB)).map(({ content }) => content)).toContain('Without her')
    expect(await tablesWith(world, DIGITS)).toEqual([])
  })

  it('can be limited to one account with its test world', async () => {
    const other = await world.addAccount('other@example.com', '+12025550150')
    await world.send({ content: 'of the first account' })
    await world.send({ content: 'of its test world' }, 'test')
    await world.post(
      '/api/send-message',
      { from_number: '+12025550150', number: ADA, content: 'of the other account' },
      other.live,
    )
    await world.advance(11 * MINUTE)
    const first = (await world.get('/admin/accounts', 'admin')).body.data.find(
      (one: { id: string }) => one.id !== other.id,
    )
    await finish(world, (await erase(world, ADA, first.id)).id)
    expect(await tablesWith(world, 'of the first account')).toEqual([])
    expect(await tablesWith(world, 'of its test world')).toEqual([])
    expect(await tablesWith(world, 'of the other account')).toContain('messages')
  })

  it('is for admins, refuses what is not a person, and is asked for once at a time', async () => {
    const ask = (body: object, as: 'live' | 'admin' = 'admin') => world.post('/admin/erasures', body, as)
    expect((await ask({ person: ADA }, 'live')).status).toBe(403)
    for (const person of ['Ada', '', '12', 'a@b'])
      expect(await ask({ person })).toMatchObject({ status: 400, body: { error: { message: /^person: / } } })
    expect((await ask({})).status).toBe(400)
    expect((await ask({ person: ADA, account_id: 'nobody' })).status).toBe(404)
    expect(await ask({ person: LINE })).toMatchObject({ status: 409 })
    expect((await world.get('/admin/erasures/nothing', 'admin')).status).toBe(404)
    await world.send({ content: 'young' })
    await world.settle()
    const { id } = await erase(world, ADA)
    expect((await ask({ person: ADA })).status).toBe(409)
    await finish(world, id)
    expect(
      (await world.get('/admin/erasures', 'admin')).body.data.map((one: { id: string }) => one.id),
    ).toEqual([id])
    expect((await erase(world, 'ADA@Example.com')).hint).toBe('an e-mail address')
  })

  it('is in the audit log, which stays intact although the number is gone from it', async () => {
    await world.post('/api/v2/contacts', { number: ADA, first_name: 'Ada' })
    await world.call('DELETE', `/api/v2/contacts/${encodeURIComponent(ADA)}`)
    expect(await tablesWith(world, DIGITS)).toContain('audit_log')
    const { id } = await erase(world, ADA)
    await finish(world, id)
    await world.restart()
    expect(await tablesWith(world, DIGITS)).toEqual([])
    const { data } = (await world.get('/admin/audit', 'admin')).body
    const about = data.filter(({ object }: { object: string }) => object?.startsWith(id))
    expect(about.map(({ action }: { action: string }) => action).sort()).toEqual([
      'POST /admin/erasures',
      'erase a person',
    ])
    const env = { TRUNKLINE_URL: world.app.url() }
    expect(JSON.parse((await runCli(['audit', 'verify', '--json'], env)).stdout)).toMatchObject({
      intact: true,
    })
    await world.app.ctx.db.run(
      "update audit_log set object = 'erased-by-hand' where action = 'POST /api/v2/contacts'",
    )
    expect((await runCli(['audit', 'verify'], env)).stderr).toContain('was changed')
  })

  it('is asked for on the command line, and not without a yes', async () => {
    const env = { TRUNKLINE_URL: world.app.url() }
    const refused = await runCli(['erase', ADA], env)
    expect(refused).toMatchObject({ code: 2 })
    expect(refused.stderr).toContain('cannot be undone')
    const { id } = JSON.parse((await runCli(['erase', ADA, '--yes', '--json'], env)).stdout)
    await finish(world, id)
    expect(JSON.parse((await runCli(['erase', 'show', id, '--json'], env)).stdout).state).toBe('done')
    expect((await runCli(['erase', 'list'], env)).stdout).toContain('…0101')
  })
})
