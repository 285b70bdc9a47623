import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSink, type Sink } from '../support/web/sink.js'
import { createWorld, ENGINES, type Json, LINE, type Who, type World } from '../support/world.js'

describe.each(ENGINES)('test runs on one world on %s', (engine) => {
  let world: World
  let sink: Sink
  let last = 0
  beforeAll(async () => {
    world = await createWorld(engine)
    sink = await createSink()
    const webhooks = { receive: [`${sink.url}/in`], outbound: [`${sink.url}/out`] }
    await world.call('PUT', '/api/account/webhooks', { body: { webhooks } })
  })
  afterAll(async () => {
    await world.close()
    await sink.close()
  })

  const someone = () => `+1202555${6000 + last++}`
  const as = (run: string) => ({ 'x-run-id': run })
  const list = async (query: string, who?: Who) => (await world.get(`/api/v2/messages?${query}`, who)).body
  const contents = async (query: string) =>
    (await list(`${query}&order_direction=asc`)).data.map((one: Json) => one.content)
  const inbox = async (number: string, query: string) =>
    (await world.get(`/sim/phones/${encodeURIComponent(number)}/inbox?${query}`)).body

  it('everything that happens to a message says whose run it is', async () => {
    const number = someone()
    const sent = await world.send({ number, content: 'One' }, 'live', as('run-1'))
    expect(sent).toMatchObject({ run_id: 'run-1' })
    await world.send({ number, content: 'Two', run_id: 'run-2' })
    await world.send({ number, content: 'None' })
    await world.advance(1000)
    expect(await contents('run=run-1')).toEqual(['One'])
    expect(await contents('run=run-2')).toEqual(['Two'])
    expect((await list('run=run-1')).pagination.total).toBe(1)
    expect((await list(`run=run-1&number=${encodeURIComponent(number)}`)).pagination.total).toBe(1)
    expect((await list('run=run-1&status=ERROR')).pagination.total).toBe(0)
    expect(await world.record(sent.message_handle)).toMatchObject({ run_id: 'run-1' })
    const [none] = (await list('order_direction=desc&limit=1')).data
    expect(none).not.toHaveProperty('run_id')
    expect((await inbox(number, 'run=run-2')).data).toMatchObject([{ content: 'Two', run_id: 'run-2' }])
    expect((await inbox(number, 'run=run-1&match=T')).matched).toBeNull()
    expect((await inbox(number, 'run=run-2&match=T')).matched).toMatchObject({ content: 'Two' })
    const events = (await world.events()).filter(({ subject }) => subject === sent.message_handle)
    expect(events.length).toBeGreaterThan(2)
    for (const { data } of events) expect(data.run).toBe('run-1')
    const deliveries = (await world.get('/v3/webhook-deliveries?run=run-1')).body.data
    expect(deliveries.length).toBeGreaterThan(1)
    for (const delivery of deliveries) expect(JSON.stringify(delivery)).toContain(sent.message_handle)
  })

  it('waiting sees only what is of the run', async () => {
    const number = someone()
    const answer = inbox(number, 'wait=30s&run=waiting')
    await world.send({ number, content: 'Of another' }, 'live', as('other'))
    await world.advance(1000)
    await world.send({ number, content: 'Of this' }, 'live', as('waiting'))
    await world.advance(1000)
    expect((await answer).matched).toMatchObject({ content: 'Of this' })
  })

  it('a reply is of the run of its conversation, unless it says otherwise', async () => {
    const number = someone()
    await world.send({ number, content: 'Question' }, 'live', as('talk'))
    await world.advance(1000)
    await world.text(number, 'Answer')
    await world.text(number, 'Elsewhere', { run_id: 'elsewhere' })
    await world.advance(1000)
    expect(await contents('run=talk')).toEqual(['Question', 'Answer'])
    expect(await contents('run=elsewhere')).toEqual(['Elsewhere'])
    await world.text(number, 'STOP', { run_id: 'talk' })
    await world.advance(5000)
    expect((await contents('run=talk')).length).toBe(4)
  })

  it('a phone is of the run that made it, and what it first says, too', async () => {
    const number = someone()
    const made = await world.post('/sim/phones', { number, name: 'Zoe' }, 'live', as('maker'))
    expect(made.body).toMatchObject({ number, run_id: 'maker' })
    await world.setPhone(number, { imessage: false })
    expect((await world.get(`/sim/phones/${number}`)).body.run_id).toBe('maker')
    await world.text(number, 'Hello')
    await world.advance(1000)
    expect(await contents('run=maker')).toEqual(['Hello'])
  })

  it('groups, carousels and scheduled messages have it, too', async () => {
    const numbers = [someone(), someone()]
    const post = (path: string, body: Json) => world.post(path, body, 'live', as('kinds'))
    await post('/api/send-group-message', { numbers, from_number: LINE, content: 'Group' })
    await world.send({ content: 'Later', send_at: '2026-03-02T00:00:00Z' }, 'live', as('kinds'))
    await world.advance(5000)
    expect((await contents('run=kinds')).sort()).toEqual(['Group', 'Later'])
    expect((await inbox(numbers[0]!, 'run=kinds')).data).toMatchObject([{ content: 'Group' }])
  })

  it('one run is removed, and the others notice nothing', async () => {
    const [mine, yours, made] = [someone(), someone(), someone()]
    await world.post('/sim/phones', { number: made }, 'live', as('mine'))
    for (const [run, number] of [
      ['mine', mine],
      ['mine', made],
      ['yours', yours],
      ['yours', mine],
    ] as const)
      await world.send({ number, content: `${run} to ${number}` }, 'live', as(run))
    await world.advance(1000)
    await world.text(mine, 'Back to yours')
    await world.advance(1000)
    const before = await list('limit=1000')
    const under = (await world.send({ number: yours, content: 'Under way' }, 'live', as('yours')))
      .message_handle
    const reset = await world.post('/sim/reset', { run: 'mine' })
    expect(reset.status).toBe(200)
    await world.advance(60_000)
    expect(await contents('run=mine')).toEqual([])
    expect(await contents('run=yours')).toHaveLength(4)
    expect((await world.status(under)).status).toBe('DELIVERED')
    const after = await list('limit=1000')
    expect(after.pagination.total).toBe(before.pagination.total - 2 + 1)
    expect(after.data).toHaveLength(after.pagination.total)
    expect((await inbox(mine, '')).data.map((one: Json) => one.run_id)).toEqual(['yours', 'yours'])
    expect((await world.get(`/sim/phones/${made}`)).status).toBe(404)
    expect((await world.get(`/sim/phones/${mine}`)).status).toBe(200)
    expect((await world.get('/v3/webhook-deliveries?run=mine')).body.data).toEqual([])
    expect((await world.events()).some(({ type }) => type === 'world.reset')).toBe(false)
  })

  it('a run that is removed while it is under way leaves nothing behind', async () => {
    for (const turns of [0, 1, 2, 4, 8]) {
      const numbers = Array.from({ length: 10 }, someone)
      const total = (await list('limit=1')).pagination.total
      await Promise.all(numbers.map((number) => world.send({ number }, 'live', as('gone'))))
      for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
      await world.post('/sim/reset', { run: 'gone' })
      await world.advance(3_600_000)
      expect(await contents('run=gone')).toEqual([])
      for (const number of numbers) expect((await inbox(number, '')).data).toEqual([])
      const after = await list('limit=1000')
      expect([after.pagination.total, after.data.length]).toEqual([total, total])
      // The totals by status, too.
      const sums = await Promise.all(
        ['QUEUED', 'SENT', 'DELIVERED', 'ERROR', 'RECEIVED', 'REGISTERED', 'PENDING', 'CANCELED'].map(
          async (status) => (await list(`status=${status}&limit=1`)).pagination?.total ?? 0,
        ),
      )
      expect(sums.reduce((sum, n) => sum + n, 0)).toBe(total)
    }
  })

  it('is of one account alone', async () => {
    const b = await world.addAccount(`runs-${engine}@example.com`, '+12025550152')
    const number = someone()
    await world.send({ from_number: '+12025550152', number, content: 'B' }, b.live, as('same-name'))
    await world.send({ number, content: 'A' }, 'live', as('same-name'))
    await world.advance(1000)
    expect((await list('run=same-name')).data).toMatchObject([{ content: 'A' }])
    await world.post('/sim/reset', { run: 'same-name' })
    expect((await list('run=same-name', b.live)).data).toMatchObject([{ content: 'B' }])
    expect(await world.inbox(number, b.live)).toHaveLength(1)
  })

  it('has 1 to 64 letters, digits or . _ : -', async () => {
    const body = { from_number: LINE, number: someone(), content: 'x' }
    for (const run of ['', 'a b', 'é', 'x'.repeat(65), '/']) {
      const field = await world.post('/api/send-message', { ...body, run_id: run })
      expect([run, field.status]).toEqual([run, 400])
      expect((await world.post('/sim/reset', { run })).status).toBe(400)
    }
    for (const run of ['a b', 'x'.repeat(65), '/'])
      expect((await world.post('/api/send-message', body, 'live', as(run))).status).toBe(400)
    expect((await world.post('/api/send-message', { ...body, run_id: 7 })).status).toBe(400)
    const both = await world.post('/api/send-message', { ...body, run_id: 'one' }, 'live', as('two'))
    expect(both.status).toBe(400)
    expect((await world.get('/api/v2/messages?run=a%20b')).status).toBe(400)
    const longest = await world.post('/api/send-message', body, 'live', as('aZ09._:-'.repeat(8)))
    expect(longest.status).toBe(202)
  })
})
