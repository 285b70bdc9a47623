import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSmsc, type Smsc } from '../peers/smsc.js'
import { dumpOf } from '../support/dump.js'
import { eventually } from '../support/server.js'
import { ADA, BOB, CLEO, createWorld, ENGINES, type Json, type World } from '../support/world.js'

describe.each(ENGINES)('a line that is changed while it works, on %s', (engine) => {
  let world: World
  let account: string
  const peers: Smsc[] = []
  beforeAll(async () => {
    world = await createWorld(engine, { realTime: true, isReal: true })
    account = (await world.get('/admin/accounts', 'admin')).body.data[0].id
  })
  afterAll(async () => {
    await world?.close()
    for (const peer of peers) await peer.close()
  })

  async function peer(options: Parameters<typeof createSmsc>[0] = {}) {
    const smsc = await createSmsc(options)
    peers.push(smsc)
    return smsc
  }
  const textsAt = (smsc: Smsc) =>
    smsc.submitted.map(({ pdu }) => `${pdu.destination} ${pdu.shortMessage?.toString('latin1')}`)
  const send = (from: string, number: string, content: string) =>
    world.post('/api/send-message', { from_number: from, number, content }).then(({ body }) => body)
  const statusOf = (handle: string, right: (status: Json) => boolean) =>
    eventually(() => world.status(handle), right, 5000, 5)
  const config = (smsc: Smsc, fields: object = {}) => ({
    host: '127.0.0.1',
    port: smsc.port,
    system_id: 'me',
    password: 'sesame1',
    ...fields,
  })
  let n = 0
  async function add(given: object) {
    const body = {
      account_id: account,
      number: `+131055501${60 + n++}`,
      driver: 'smpp',
      config: given,
      pace: 0,
    }
    const reply = await world.post('/admin/lines', body, 'admin')
    expect(reply.status, JSON.stringify(reply.body)).toBe(201)
    return reply.body
  }
  const change = async (id: string, body: object) => {
    const reply = await world.call('PATCH', `/admin/lines/${id}`, { as: 'admin', body })
    expect(reply.status, JSON.stringify(reply.body)).toBe(200)
  }
  const passwords = (smsc: Smsc) =>
    smsc.heard.filter(({ command }) => command.startsWith('bind_')).map(({ password }) => password)

  it('what waits while the carrier is down goes to where the line points then: all of it, once, in order', async () => {
    const [down, up] = [await peer(), await peer()]
    const port = down.port
    await down.close()
    const line = await add({ ...config(up), port })
    await eventually(
      async () => (await world.get(`/admin/lines/${line.id}`, 'admin')).body.state,
      (state) => state === 'OFFLINE',
    )
    const handles: string[] = []
    for (let i = 0; i < 5; i++)
      for (const to of [ADA, BOB, CLEO])
        handles.push((await send(line.number, to, `number ${i}`)).message_handle)
    await change(line.id, { config: { ...line.config, port: up.port, password: 'sesame1' } })
    for (const handle of handles) await statusOf(handle, ({ status }) => status === 'SENT')
    const texts = textsAt(up)
    expect(texts).toHaveLength(15)
    for (const to of [ADA, BOB, CLEO])
      expect(texts.filter((text) => text.startsWith(to.slice(1)))).toEqual(
        [0, 1, 2, 3, 4].map((i) => `${to.slice(1)} number ${i}`),
      )
    expect(passwords(up)).toEqual(['sesame1'])
  })

  it('what is on the wire gets its answer first, and what comes after goes the new way', async () => {
    const [old, fresh] = [await peer({ submit: () => ({ answer: 0, afterMs: 150 }) }), await peer()]
    const line = await add(config(old, { window: 2 }))
    const handles = []
    for (let i = 0; i < 6; i++)
      handles.push((await send(line.number, [ADA, BOB][i % 2]!, `text ${i}`)).message_handle)
    await eventually(
      async () => old.submitted.length,
      (count) => count > 0,
      60_000,
      5,
    )
    await change(line.id, { config: { ...line.config, port: fresh.port, password: 'sesame2' } })
    for (const handle of handles) await statusOf(handle, ({ status }) => status === 'SENT')
    const all = [...textsAt(old), ...textsAt(fresh)]
    expect(all.slice().sort()).toEqual(
      [0, 1, 2, 3, 4, 5].map((i) => `${[ADA, BOB][i % 2]!.slice(1)} text ${i}`).sort(),
    )
    for (const to of [ADA, BOB]) {
      const own = all.filter((text) => text.startsWith(to.slice(1)))
      expect(own).toEqual(own.slice().sort())
    }
    expect(textsAt(old).length).toBeGreaterThan(0)
    expect([passwords(old), passwords(fresh)]).toEqual([['sesame1'], ['sesame2']])
  })

  it('what the old carrier never answers for is not sent by the new one', async () => {
    const [old, fresh] = [await peer({ submit: () => 'silence' }), await peer()]
    const line = await add(config(old))
    const { message_handle: doubtful } = await send(line.number, ADA, 'perhaps')
    await eventually(
      async () => old.submitted.length,
      (count) => count === 1,
      60_000,
      5,
    )
    const { message_handle: next } = await send(line.number, BOB, 'for certain')
    await eventually(
      async () => old.submitted.length,
      (count) => count === 2,
      60_000,
      5,
    )
    await change(line.id, { config: { ...line.config, port: fresh.port, password: 'sesame1' } })
    await world.app.ctx.lines.tended()
    const { message_handle: later } = await send(line.number, CLEO, 'afterwards')
    await statusOf(later, ({ status }) => status === 'SENT')
    expect(textsAt(fresh)).toEqual([`${CLEO.slice(1)} afterwards`])
    for (const handle of [doubtful, next]) expect((await world.status(handle)).status).not.toBe('SENT')
    expect(old.submitted).toHaveLength(2)
  })

  it('is tried out at the carrier itself, with what is stored and with what would be', async () => {
    const smsc = await peer({ bind: ({ password }) => (password === 'sesame1' ? 0 : 0x0e) })
    const line = await add(config(smsc))
    const test = async (given?: object) => {
      const body = given ? { config: { ...line.config, ...given } } : {}
      return (await world.post(`/admin/lines/${line.id}/test`, body, 'admin')).body
    }
    expect(await test()).toMatchObject({ ok: true })
    for (const [given, advice] of [
      [{ password: 'sesame9' }, /password/],
      [{ port: 1, password: 'sesame1' }, /port/],
    ] as const) {
      const tested = await test(given)
      expect(tested.ok).toBe(false)
      expect(tested.findings.at(-1)).toMatchObject({ ok: false, advice: expect.stringMatching(advice) })
      expect(JSON.stringify(tested)).not.toContain('sesame')
    }
  })

  it('only the password, or only the rate: connected anew, nothing lost', async () => {
    const smsc = await peer()
    const line = await add(config(smsc))
    await eventually(
      async () => smsc.binds(),
      (count) => count === 1,
    )
    const handles: string[] = []
    for (let i = 0; i < 8; i++) {
      handles.push((await send(line.number, ADA, `text ${i}`)).message_handle)
      if (i === 2) await change(line.id, { config: { ...line.config, password: 'sesame2' } })
      if (i === 5) await change(line.id, { config: { ...line.config, rate: 1000 } })
    }
    for (const handle of handles) await statusOf(handle, ({ status }) => status === 'SENT')
    expect(textsAt(smsc)).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map((i) => `${ADA.slice(1)} text ${i}`))
    expect(passwords(smsc)).toEqual(['sesame1', 'sesame2', 'sesame2'])
    expect(await dumpOf(world.app)).not.toContain('sesame')
    expect(world.logs.join('\n')).not.toContain('sesame')
  })
})
