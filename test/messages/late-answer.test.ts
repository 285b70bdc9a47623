import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SendResult } from '../../src/core/messages/outcome.js'
import { createPuppet, type Puppet } from '../support/puppet.js'
import { ADA, createWorld, ENGINES, type World } from '../support/world.js'

const NUMBER = '+12025557001'

// A paused process has the carrier's answer; another one has given the send up meanwhile.
describe.each(ENGINES)('an answer to a send that another process gave up (%s)', (engine) => {
  let world: World
  let puppet: Puppet
  beforeEach(async () => {
    puppet = createPuppet()
    world = await createWorld(engine, { drivers: [puppet] })
    const { id } = (await world.get('/admin/accounts', 'admin')).body.data[0]
    await world.post('/admin/lines', { account_id: id, number: NUMBER, driver: 'puppet' }, 'admin')
    await world.settle()
  })
  afterEach(() => world.close())

  it('names the send, so that its receipt finds it', async () => {
    const { db } = world.app.ctx
    let answer = (_: SendResult) => {}
    const isSent = new Promise<void>((sent) => {
      puppet.acts.send = () => {
        sent()
        return new Promise((resolve) => {
          answer = resolve
        })
      }
    })
    const { message_handle } = await world.send({ number: ADA, from_number: NUMBER })
    await isSent
    await db.run("update attempts set state = 'given_up'")
    await db.run(
      "update messages set status = 'ERROR', error_code = 10002, error_reason = 'outcome_unknown', next_action_at = null, version = version + 1",
    )
    answer({ outcome: 'accepted', providerId: 'P1', status: 'SENT' })
    await world.settle()
    expect((await world.status(message_handle)).status).toBe('SENT')
    await puppet
      .on(NUMBER)
      .host.receipt({ providerId: 'P1', status: 'DELIVERED', at: world.app.ctx.clock.now() })
    expect((await world.status(message_handle)).status).toBe('DELIVERED')
  })
})
