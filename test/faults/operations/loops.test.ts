import { describe, expect, it } from 'vitest'
import { topics } from '../../../src/core/topics.js'
import { accountOf, streamsIn, take } from '../../events/support.js'
import { createSink } from '../../support/web/sink.js'
import { ADA, createWorld, ENGINES } from '../../support/world.js'

const NOTHING = { sql: 'select 1', params: [] }

describe.each(ENGINES)('background work that fails on %s', (engine) => {
  it('is visible in /readyz and metrics, and goes on when its cause is gone', async () => {
    const [world, sink] = [await createWorld(engine), await createSink()]
    const { body } = await world.call('PUT', '/api/account/webhooks', {
      body: { webhooks: { receive: [`${sink.url}/in`] } },
    })
    expect(body).toBeDefined()
    // As damaged pages do: the courier of the next start cannot read its work.
    await world.app.ctx.db.script('alter table webhook_feeds rename to unreadable', NOTHING)
    await world.restart()
    await world.advance(10_000)
    const ready = await world.get('/readyz', null)
    expect(ready.status).toBe(503)
    expect(ready.body.reasons[0]).toMatch(/^Background work fails: webhooks, \d+ times in a row/)
    const metrics = (await world.app.server.inject('/metrics')).body
    expect(metrics).toMatch(/^trunkline_loops_failing\{loop="webhooks"\} 1$/m)
    expect(metrics).toMatch(/^trunkline_loop_failures_total\{loop="webhooks"\} [3-9]/m)

    await world.app.ctx.db.script('alter table unreadable rename to webhook_feeds', NOTHING)
    await world.advance(5000)
    await world.text(ADA, 'hello')
    await world.advance(1000)
    expect(sink.received).toHaveLength(1)
    // Housekeeping, which failed too, is tried again after a minute.
    await world.advance(60_000)
    expect((await world.get('/readyz', null)).body).toEqual({ status: 'ok' })
    await Promise.all([world.close(), sink.close()])
  }, 60_000)

  it('is called degraded, not unavailable, if requests can do without it', async () => {
    const world = await createWorld(engine)
    await world.app.ctx.db.script('alter table message_parts rename to unreadable', NOTHING)
    world.app.ctx.wakes.wake({ name: 'parts', reach: 'one' })
    await world.advance(5000)
    const ready = await world.get('/readyz', null)
    expect(ready.status).toBe(200)
    expect(ready.body.status).toBe('degraded')
    expect(ready.body.reasons[0]).toMatch(/^Background work fails: parts/)
    await world.app.ctx.db.script('alter table unreadable rename to message_parts', NOTHING)
    await world.advance(5000)
    expect((await world.get('/readyz', null)).body).toEqual({ status: 'ok' })
    await world.close()
  })

  it('is an event stream that cannot read the log, until it can', async () => {
    const world = await createWorld(engine)
    const { db, wakes } = world.app.ctx
    const accountId = await accountOf(world)
    const streams = streamsIn(
      () => world,
      () => accountId,
    )
    const { follower } = await streams.open()
    await db.script('alter table events rename to unreadable', NOTHING)
    wakes.wake(topics.events, accountId)
    const reasons = async () => (await world.get('/readyz', null)).body.reasons ?? []
    await expect.poll(reasons, { timeout: 30_000 }).toContainEqual(expect.stringMatching(/: event streams/))
    await db.script('alter table unreadable rename to events', NOTHING)
    await streams.append({})
    await world.advance(5000)
    expect(await take(follower, 1)).toMatchObject([{ event: 'contact.created' }])
    await expect.poll(reasons, { timeout: 30_000 }).toEqual([])
    follower.close()
    await world.close()
  }, 90_000)
})
