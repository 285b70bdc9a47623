import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Outbound } from '../../src/drivers/contract.js'
import { createPhoneNetwork } from '../../src/services/sim/phones.js'
import { findLine } from '../../src/storage/lines/lines.js'
import { ADA, createWorld, ENGINES, type World } from '../support/world.js'

// A process that stood still between its claim and the write to the phone wakes after another process has looked for
// the message, found nothing and sent it again.
describe.each(ENGINES)('a send of an earlier epoch of its line (%s)', (engine) => {
  let world: World
  beforeEach(async () => {
    world = await createWorld(engine)
  })
  afterEach(() => world.close())

  async function takeAgain() {
    const { db } = world.app.ctx
    const { ref, lineId, accountId } = (await db.one<{ ref: string; lineId: string; accountId: string }>(
      `select a.ref, a.line_id as "lineId", m.account_id as "accountId"
       from attempts a join messages m on m.id = a.message_id`,
    ))!
    const message = { ref, accountId, to: ADA, content: 'hello', mediaUrl: '', service: 'SMS' } as Outbound
    const whole = {
      ...message,
      handle: ref,
      sendStyle: '',
      replyTo: null,
      group: null,
      extra: null,
    } as Outbound
    return createPhoneNetwork(world.app.ctx).take((await findLine(db, lineId))!, whole, 0)
  }

  it('does not reach the phone', async () => {
    const { db } = world.app.ctx
    await world.send({ number: ADA })
    await world.advance(10_000)
    const lose = () => db.run('delete from phone_messages')
    await lose()
    // In the epoch of its attempt a message is taken.
    await takeAgain()
    await world.advance(10_000)
    expect(await world.inbox(ADA)).toHaveLength(1)
    await lose()
    await db.run('update line_leases set epoch = epoch + 1')
    await expect(takeAgain()).rejects.toThrow('begun anew')
    await world.advance(10_000)
    expect(await world.inbox(ADA)).toEqual([])
  })
})
