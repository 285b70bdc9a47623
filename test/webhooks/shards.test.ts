import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { topics } from '../../src/core/topics.js'
import { shardOf } from '../../src/core/webhooks/webhook.js'
import { createDeliverers } from '../../src/services/webhooks/delivery.js'
import { DELIVERIES, type Delivery } from '../../src/storage/webhooks/deliveries.js'
import { outOfOrder } from '../faults/webhook-ledger.js'
import { createSink, type Sink } from '../support/web/sink.js'
import { ADA, createWorld, ENGINES, type World } from '../support/world.js'

interface ShardRow {
  node: string
  shard: number
  epoch: number
  free: boolean
}

/** Only PostgreSQL has several processes, and so leases for the accounts' webhooks. */
describe.skipIf(!ENGINES.includes('postgres'))('webhooks of an account that changes hands', () => {
  let world: World
  let sink: Sink
  beforeAll(async () => {
    world = await createWorld('postgres', { realTime: true })
    sink = await createSink()
    const webhooks = { receive: [`${sink.url}/in`], outbound: [`${sink.url}/out`] }
    await world.call('PUT', '/api/account/webhooks', { body: { webhooks } })
  })
  afterAll(async () => {
    await world?.close()
    await sink?.close()
  })

  const waiting = async (): Promise<Delivery> => {
    const found = () => world.app.ctx.db.one('select * from webhook_deliveries where next_at is not null')
    await expect.poll(found, { timeout: 30_000 }).toBeTruthy()
    return DELIVERIES.read((await found())!)
  }
  const shards = () =>
    world.app.ctx.db.all<ShardRow>(
      'select node_id as node, shard, epoch, expires_at = 0 as free from webhook_shards where shard < 8 order by shard',
    )

  it('a process that lost the shard posts nothing more, and its late result changes nothing', async () => {
    const { ctx } = world.app
    let isAnswered = false
    sink.answer(() => (isAnswered ? 200 : 503))
    await world.text(ADA, 'Hello?')
    await expect.poll(() => sink.received.length, { timeout: 30_000 }).toBe(1)
    isAnswered = true
    const delivery = await waiting()
    const { node, shard, epoch } = (await shards())[shardOf(delivery.accountId)]!

    const lose = () => {}
    // Its lease has ended by its own clock: nothing leaves.
    const late = createDeliverers(ctx, node)({ shard, epoch, isHeld: () => false, lose })
    await expect(late.post(delivery, () => true)).rejects.toThrow()
    expect(sink.received).toHaveLength(1)

    // The post was out already when another process got the shard.
    const before = await waiting()
    const fenced = createDeliverers(ctx, node)({ shard, epoch: epoch - 1, isHeld: () => true, lose })
    const answer = await fenced.post(before, () => true)
    expect(await answer!.record()).toBeNull()
    expect((await waiting()).attempts).toBe(before.attempts)
    const held = createDeliverers(ctx, node)({ shard, epoch, isHeld: () => true, lose })
    expect(await (await held.post(before, () => true))!.record()).toBeNull()
    const open = await ctx.db.all('select 1 from webhook_deliveries where next_at is not null')
    expect(open).toEqual([])
  })

  it('a process that lost the shard and took it again begins anew; its answer from before changes nothing', async () => {
    const { db, wakes } = world.app.ctx
    sink.received.splice(0)
    let refuse = () => {}
    sink.answer((_post, reply) => {
      if (sink.received.length > 1) return 200
      refuse = () => void reply.writeHead(404).end()
      return undefined
    })
    await world.text(ADA, 'Twice')
    await expect.poll(() => sink.received.length, { timeout: 30_000 }).toBe(1)
    const { id, accountId } = await waiting()
    // What another process leaves that took the shard and released it.
    await db.run(
      "update webhook_shards set node_id = 'other', epoch = epoch + 1, expires_at = 0 where shard = $1",
      [shardOf(accountId)],
    )
    wakes.wake(topics.nodes)
    const state = async () =>
      (await db.one('select state from webhook_deliveries where id = $1', [id]))!.state
    await expect.poll(state, { timeout: 30_000 }).toBe('delivered')
    refuse()
    await world.settle()
    expect(await state()).toBe('delivered')
    expect(new Set(sink.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(sink.received).toHaveLength(2)
  })

  it('a process whose result is refused posts nothing newer about the message before it begins anew', async () => {
    const { db } = world.app.ctx
    sink.received.splice(0)
    let letGo = () => {}
    sink.answer((_post, reply) => {
      if (sink.received.length > 1) return 200
      letGo = () => void reply.writeHead(200).end()
      return undefined
    })
    await world.send({ content: 'Three statuses' })
    const open = async () =>
      (await db.all('select 1 from webhook_deliveries where next_at is not null')).length
    await expect.poll(open, { timeout: 30_000 }).toBe(3)
    await expect.poll(() => sink.received.length, { timeout: 30_000 }).toBe(1)
    // As after the promotion of a standby: the process has its lease by its own clock, with an epoch that is over.
    await db.run('update webhook_shards set epoch = epoch + 1')
    letGo()
    await expect.poll(open, { timeout: 30_000 }).toBe(0)
    expect(outOfOrder(sink.received)).toEqual([])
    expect(sink.received.map(({ body }) => body.status)).toEqual(['QUEUED', 'QUEUED', 'SENT', 'DELIVERED'])
  })

  it('a shard is given away only when its posts under way are stored', async () => {
    const { db, wakes } = world.app.ctx
    sink.received.splice(0)
    let letGo = () => {}
    sink.answer((_post, reply) => {
      letGo = () => void reply.writeHead(200).end()
    })
    await world.text(ADA, 'A slow one')
    await expect.poll(() => sink.received.length, { timeout: 30_000 }).toBe(1)
    const busy = shardOf((await waiting()).accountId)
    // So many older processes that this one keeps no shard.
    for (let i = 0; i < 8; i++)
      await db.run('insert into nodes (id, started_at, seen_at) values ($1, 0, 9000000000000)', [`old-${i}`])
    wakes.wake(topics.nodes)
    const free = async () => (await shards()).filter((one) => one.free).length
    await expect.poll(free, { timeout: 30_000 }).toBe(7)
    expect((await shards())[busy]!.free).toBe(false)
    letGo()
    await expect.poll(free, { timeout: 30_000 }).toBe(8)
    expect(await db.all('select 1 from webhook_deliveries where next_at is not null')).toEqual([])
    expect(sink.received).toHaveLength(1)
  })
})
