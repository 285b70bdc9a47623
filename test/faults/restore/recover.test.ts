import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Param } from '../../../src/storage/engine/db.js'
import { countInDoubt, listInDoubt, listLinesInDoubt } from '../../../src/storage/messages/recovery.js'
import { runCli } from '../../support/cli.js'
import { forgetIdentity } from '../../support/database-faults/restored.js'
import { ADA, BOB, createWorld, ENGINES, type Json, LINE, START, type World } from '../../support/world.js'

describe.each(ENGINES)('messages that are held after a restore, on %s', (engine) => {
  let world: World
  let handles: string[]
  beforeEach(async () => {
    world = await createWorld(engine, { line: { config: { state: 'OFFLINE' } } })
    handles = []
    for (const content of ['one', 'two', 'three'])
      handles.push((await world.send({ content })).message_handle)
    const soon = new Date(START + 60_000).toISOString()
    handles.push((await world.send({ number: BOB, content: 'soon', send_at: soon })).message_handle)
    await world.restart(START + 120_000, () => forgetIdentity(world))
    await world.setLine(LINE, { config: {}, pace: 1 })
    await world.advance(30_000)
  })
  afterEach(() => world.close())

  const texts = async (phone = ADA) => (await world.inbox(phone)).map(({ content }: Json) => content)
  const ready = async () => (await world.get('/readyz', null)).body
  const gauge = async () =>
    Number(/^trunkline_messages_in_doubt (\d+)/m.exec((await world.get('/metrics', 'admin')).body)?.[1])
  async function recover(...args: string[]) {
    const ran = await runCli(['recover', ...args], { TRUNKLINE_URL: world.app.url() })
    expect(ran, args.join(' ')).toMatchObject({ code: 0 })
    return args.includes('--json') ? JSON.parse(ran.stdout) : ran
  }

  it('are shown to the operator wherever he looks, with the command that decides', async () => {
    expect([await texts(), await texts(BOB)]).toEqual([[], []])
    expect(await ready()).toEqual({
      status: 'degraded',
      reasons: [expect.stringMatching(/^4 messages are held: .*trunkline recover/)],
    })
    expect(await gauge()).toBe(4)
    expect(world.logs.join('\n')).toMatch(/4 messages are held: .*trunkline recover/)
    const place = world.config.databaseUrl
      ? ['--database-url', world.config.databaseUrl]
      : ['--data', world.config.data]
    const checked = await runCli(['doctor', '--json', ...place], { TRUNKLINE_URL: world.app.url() })
    const { findings } = JSON.parse(checked.stdout)
    expect(findings).toContainEqual(
      expect.objectContaining({ check: 'messages in doubt', result: 'warn', advice: expect.any(String) }),
    )
    expect(findings.find(({ check }: Json) => check === 'server').detail).toContain('4 messages are held')
    const why = (await world.get(`/v3/messages/${handles[0]}/why`)).body.data
    expect(why).toMatchObject({
      verdict: 'held_after_restore',
      next_step: expect.stringContaining('trunkline recover'),
    })
    const shown = await recover()
    expect(shown.stderr).toMatch(/4 messages waited .*--resend-unsent sends them, --give-up ends them unsent/)
    expect(shown.stdout).toContain(LINE)

    // A new message is not in doubt, and does not wait for the ones that are.
    const { message_handle } = await world.send({ content: 'new' })
    expect((await world.get(`/v3/messages/${message_handle}/why`)).body.data.verdict).not.toBe(
      'queued_behind',
    )
    await world.advance(5000)
    expect(await texts()).toEqual(['new'])
  })

  it('stay held with --hold, are given up with --give-up and go out with --resend-unsent, by time', async () => {
    expect(await recover('--hold', '--json')).toEqual({ action: 'hold', held: 4 })
    await world.advance(60_000)
    expect([await texts(), await texts(BOB)]).toEqual([[], []])

    const before = new Date(START + 30_000).toISOString()
    expect(await recover('--give-up', '--before', before, '--json')).toEqual({
      action: 'give_up',
      messages: 3,
      left: 1,
    })
    await world.advance(60_000)
    expect([await texts(), await texts(BOB)]).toEqual([[], []])
    expect(await world.status(handles[0]!)).toMatchObject({
      status: 'ERROR',
      error_code: 10002,
      error_message: expect.stringContaining('may have been sent before, and it was not sent again'),
    })
    expect(await recover('--resend-unsent', '--json')).toEqual({ action: 'resend', messages: 1, left: 0 })
    await world.advance(60_000)
    expect([await texts(), await texts(BOB)]).toEqual([[], ['soon']])
    expect((await recover()).stderr).toContain('No message is in doubt')
    await world.restart()
    expect([await ready(), await gauge()]).toEqual([{ status: 'ok' }, 0])
  })

  it('are held again when the operator stops a resend, and so is what waits beside them', async () => {
    const early = new Date(START - 1).toISOString()
    expect(await recover('--resend-unsent', '--before', early, '--json')).toMatchObject({ messages: 0 })
    expect(await recover('--resend-unsent', '--json')).toMatchObject({ messages: 4, left: 0 })
    await world.advance(1500)
    const sent = [...(await texts()), ...(await texts(BOB))]
    expect(sent.length).toBeGreaterThan(0)
    expect(sent.length).toBeLessThan(4)
    await world.send({ number: BOB, content: 'beside' })
    expect((await recover('--hold', '--json')).held).toBeGreaterThan(0)
    await world.advance(60_000)
    const held = 5 - sent.length
    const { body } = await world.get('/admin/recovery', 'admin')
    expect(body.messages).toBe(held)
    expect([...(await texts()), ...(await texts(BOB))]).toHaveLength(sent.length)
    expect(await recover('--resend-unsent', '--json')).toMatchObject({ messages: held, left: 0 })
    await world.advance(60_000)
    expect([...(await texts()), ...(await texts(BOB))].sort()).toEqual(
      ['one', 'two', 'three', 'soon', 'beside'].sort(),
    )
  })

  it.runIf(engine === 'sqlite')('are found by the indexes of waiting messages', async () => {
    const { db } = world.app.ctx
    const plans: string[] = []
    async function explain(text: string, params: readonly Param[] = []) {
      for (const row of await db.all(`explain query plan ${text}`, params)) plans.push(String(row.detail))
      return []
    }
    const sql = {
      ...db,
      all: explain,
      one: async (...args: Parameters<typeof explain>) => void explain(...args),
    }
    await listLinesInDoubt(sql as never)
    await countInDoubt(sql as never)
    await listInDoubt(sql as never, START, 10)
    await world.settle()
    const reads = plans.filter((plan) => /\bmessages\b/.test(plan))
    expect(reads.length).toBeGreaterThan(5)
    for (const plan of reads) expect(plan).toMatch(/USING INDEX messages_(queue|due)/)
  })

  it('wait on while the command is not understood', async () => {
    const refused = async (...args: string[]) =>
      (await runCli(['recover', ...args], { TRUNKLINE_URL: world.app.url() })).stderr
    expect(await refused('--resend-unsent', '--give-up')).toContain('only one of --resend-unsent')
    expect(await refused('--before', '2026-03-01T09:00:00Z')).toContain('--before needs one of')
    expect(await refused('--give-up', '--before', 'noon')).toContain('before')
    expect((await world.post('/admin/recovery', { action: 'maybe' }, 'admin')).status).toBe(400)
    expect((await world.post('/admin/recovery', { action: 'resend' }, 'live')).status).toBe(403)
    expect((await world.get('/admin/recovery', 'admin')).body.messages).toBe(4)
  })
})
