import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SendResult } from '../../src/core/messages/outcome.js'
import { createPuppet, type Puppet } from '../support/puppet.js'
import { createWorld, ENGINES, type Json, type World } from '../support/world.js'

const NUMBER = '+12025550171'
const LEASE_MS = 1200

/** A send that takes longer than a lease lasts, while its line is changed or its process stops. */
describe.each(ENGINES)('waiting for a slow carrier on %s', (engine) => {
  let world: World
  let puppet: Puppet
  let lineId: string
  let answer: () => void
  let handle: string
  beforeEach(async () => {
    puppet = createPuppet()
    const env = { TRUNKLINE_LEASE_MS: String(LEASE_MS), TRUNKLINE_DRAIN_MS: '20000' }
    world = await createWorld(engine, { drivers: [puppet], env })
    const { id } = (await world.post('/admin/accounts', { email: 'lines@example.com' }, 'admin')).body
    const line = { account_id: id, number: NUMBER, driver: 'puppet' }
    lineId = (await world.post('/admin/lines', line, 'admin')).body.id
    await world.settle()
    const onWire = new Promise<void>((begun) => {
      puppet.acts.send = ({ ref }) => {
        begun()
        return new Promise<SendResult>((resolve) => {
          answer = () => resolve({ outcome: 'accepted', providerId: `p-${ref}`, status: 'SENT' })
        })
      }
    })
    const key = (await world.post('/admin/keys', { account_id: id }, 'admin')).body
    handle = (await world.send({ from_number: NUMBER }, key)).message_handle
    await onWire
  })
  afterEach(async () => {
    answer()
    await world.close()
  })

  const leases = () => world.app.ctx.db.all<Json>('select * from line_leases order by line_id')
  const attempts = () => world.app.ctx.db.all<Json>('select state, epoch from attempts')
  const seen = async () => (await world.app.ctx.db.one<Json>('select max(seen_at) as at from nodes')).at
  /** Waits until the node's leases, as they are now, would have run out without the beats of the node. */
  const outlive = async () => {
    const first = await seen()
    await expect.poll(seen).toBeGreaterThan(first + LEASE_MS)
  }

  it('a change of the line costs the process none of its lines', async () => {
    const before = await leases()
    await world.call('PATCH', `/admin/lines/${lineId}`, { as: 'admin', body: { pace: 3 } })
    await outlive()
    const after = await leases()
    expect(after.map((lease) => [lease.line_id, lease.epoch])).toEqual(
      before.map((lease) => [lease.line_id, lease.epoch]),
    )
    expect(await attempts()).toMatchObject([{ state: 'on_wire' }])
    answer()
    await expect.poll(attempts).toMatchObject([{ state: 'accepted' }])
    const sent = await world.app.ctx.db.one<Json>('select status from messages where handle = $1', [handle])
    expect(sent.status).toBe('SENT')
    expect(puppet.sent).toHaveLength(1)
  })

  it('a stop keeps the lines until the last send has ended', async () => {
    const stopping = world.restart()
    await outlive()
    expect(await attempts()).toMatchObject([{ state: 'on_wire' }])
    answer()
    await stopping
    expect(await attempts()).toMatchObject([{ state: 'accepted' }])
    expect(puppet.sent).toHaveLength(1)
  })
})
