import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SendResult } from '../../src/core/messages/outcome.js'
import { endIfBlocked } from '../../src/services/lines/blocks.js'
import { failOrphans } from '../../src/services/lines/lines.js'
import { findMessage } from '../../src/storage/messages/messages.js'
import { createPuppet, type Puppet } from '../support/puppet.js'
import { createWorld, ENGINES, type World } from '../support/world.js'

const NUMBER = '+12025550171'

/** A line is blocked or removed in the very moment in which a message is put on the wire. */
describe.each(ENGINES)('a message that is being sent when its line ends, on %s', (engine) => {
  let world: World
  let puppet: Puppet
  let key: { id: string; secret: string }
  let accountId: string
  let answer: (result: SendResult) => void
  beforeAll(async () => {
    puppet = createPuppet()
    world = await createWorld(engine, { drivers: [puppet] })
    accountId = (await world.post('/admin/accounts', { email: 'lines@example.com' }, 'admin')).body.id
    key = (await world.post('/admin/keys', { account_id: accountId }, 'admin')).body
    await world.post('/admin/lines', { account_id: accountId, number: NUMBER, driver: 'puppet' }, 'admin')
    await world.settle()
  })
  afterAll(() => world.close())

  async function send(number: string): Promise<string> {
    const onWire = new Promise<void>((begun) => {
      puppet.acts.send = () => {
        begun()
        return new Promise<SendResult>((resolve) => (answer = resolve))
      }
    })
    const { message_handle } = await world.send({ from_number: NUMBER, number }, key)
    await onWire
    return message_handle
  }
  const stored = async (handle: string) => (await findMessage(world.app.ctx.db, handle, accountId))!
  const accepted = { outcome: 'accepted', providerId: 'p-1', status: 'SENT' } as const

  it('is not ended as one that never left', async () => {
    const handle = await send('+12025550181')
    const { line } = puppet.on(NUMBER)
    const set = (at: number | null) =>
      world.app.ctx.db.run('update lines set blocked_at = $2 where id = $1', [line.id, at])
    await set(1)
    await endIfBlocked(world.app.ctx, line, [await stored(handle)])
    await set(null)
    expect((await stored(handle)).status).toBe('QUEUED')
    answer({ ...accepted, providerId: 'p-0' })
    await world.settle()
    expect((await stored(handle)).status).toBe('SENT')
  })

  it.each(['line_blocked', 'line_removed'])(
    'counts as sent when the carrier took it, although it was ended as %s',
    async (reason) => {
      const handle = await send(reason === 'line_blocked' ? '+12025550182' : '+12025550183')
      // As by a process that looked before the attempt was there.
      await world.app.ctx.db.run(
        `update messages set status = 'ERROR', error_code = 4000, error_message = 'x', error_reason = $2,
       next_action_at = null, version = version + 1 where handle = $1`,
        [handle, reason],
      )
      answer({ ...accepted, providerId: `p-${reason}` })
      await world.settle()
      expect(await stored(handle)).toMatchObject({ status: 'SENT', error: null })
    },
  )

  it('is left to its carrier when the line is removed', async () => {
    const handle = await send('+12025550184')
    const { line } = puppet.on(NUMBER)
    await world.app.ctx.db.run('update lines set removed_at = 1 where id = $1', [line.id])
    await failOrphans(world.app.ctx)
    expect((await stored(handle)).status).toBe('QUEUED')
    answer({ ...accepted, providerId: 'p-3' })
    await world.settle()
    expect((await stored(handle)).status).toBe('SENT')
  })
})
