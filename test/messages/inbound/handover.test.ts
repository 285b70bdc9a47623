import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Line } from '../../../src/core/lines/line.js'
import type { Inbound } from '../../../src/drivers/inbound.js'
import { createInboundDoor } from '../../../src/services/messages/inbound/inbound.js'
import { findLineByNumber } from '../../../src/storage/lines/lines.js'
import { createSmsc, type Smsc } from '../../peers/smsc.js'
import { leaseOf, openDoor } from '../../support/drivers/door.js'
import { addSmppLine, eventually, textFrom } from '../../support/drivers/smpp.js'
import { ADA, createWorld, ENGINES, type World } from '../../support/world.js'

describe.each(ENGINES)('an inbound message while its line changes hands, on %s', (engine) => {
  let world: World
  let smsc: Smsc
  let n = 0
  beforeAll(async () => {
    world = await createWorld(engine, { realTime: true, isReal: true })
    smsc = await createSmsc()
  })
  afterAll(async () => {
    await world?.close()
    await smsc?.close()
  })

  /** A line of a test's own, whose worker sees a new epoch only with its next lease renewal. */
  async function newLine(): Promise<Line> {
    const number = `+131055502${10 + n++}`
    await addSmppLine(world, smsc, number)
    return (await findLineByNumber(world.app.ctx.db, 'live', number))!
  }
  const text = (fields: Partial<Inbound> = {}): Inbound => ({
    from: ADA,
    service: 'SMS',
    content: `text ${++n}`,
    sentAt: 0,
    ...fields,
  })
  const stored = async (content: string) => {
    const rows = await world.app.ctx.db.all('select 1 from messages where content = $1', [content])
    return rows.length
  }
  /** What another process does when it takes the line. */
  const takeOver = async ({ id }: Line) => {
    await world.app.ctx.db.run('update line_leases set epoch = epoch + 1 where line_id = $1', [id])
  }

  it('a process that lost the line stores nothing of what it still receives', async () => {
    const line = await newLine()
    const door = openDoor(world.app.ctx, line)
    await takeOver(line)
    const late = [
      text({ providerId: 'LATE-1' }),
      text(),
      text({ part: { ref: '1', n: 1, total: 2 } }),
      text({ from: '+12025559876', content: 'STOP' }),
    ]
    for (const message of late) await expect(door.receive(message)).rejects.toThrow()
    for (const { content } of late) expect(await stored(content)).toBe(0)
    expect(await world.app.ctx.db.all('select 1 from message_parts where line_id = $1', [line.id])).toEqual(
      [],
    )
  })

  it('its late acknowledgement does not make the redelivery to the new holder a new message', async () => {
    const line = await newLine()
    const { ctx } = world.app
    const lease = leaseOf(ctx, line)
    const old = createInboundDoor(ctx, { line, lease })
    const message = text()
    await old.receive(message)
    await takeOver(line)
    await old.acknowledged(message)
    const next = createInboundDoor(ctx, { line, lease: { ...lease, epoch: lease.epoch + 1 } })
    await next.receive({ ...message })
    expect(await stored(message.content)).toBe(1)
  })

  it('two connections bring one message without an id at once: it is stored once', async () => {
    const line = await newLine()
    for (let round = 0; round < 10; round++) {
      const message = text()
      const doors = [1, 2, 3].map(() => openDoor(world.app.ctx, line))
      await Promise.all(doors.map((door) => door.receive({ ...message })))
      expect(await stored(message.content)).toBe(1)
    }
  })

  it('a door that closes waits until its last message is stored, and takes no further one', async () => {
    const door = openDoor(world.app.ctx, await newLine())
    const last = text()
    void door.receive(last)
    await door.close()
    expect(await stored(last.content)).toBe(1)
    await expect(door.receive(text())).rejects.toThrow()
  })

  it('a text that the SMSC sends while it takes our unbind comes again, and is stored once', async () => {
    const line = await newLine()
    const content = `crossing ${n}`
    const crossing = new Promise<number>((resolve) => {
      smsc.options.onUnbind = () => {
        smsc.options.onUnbind = undefined
        void smsc.bring(textFrom(ADA, content)).then(({ status }) => resolve(status))
      }
    })
    // The line connects anew with its new settings.
    const change = { config: { ...line.config, enquire_ms: 20_000 } }
    await world.call('PATCH', `/admin/lines/${line.id}`, { as: 'admin', body: change })
    expect(await crossing).not.toBe(0)
    await eventually(() => expect(smsc.heard.at(-1)?.command).toBe('bind_transceiver'))
    await eventually(async () => expect((await smsc.bring(textFrom(ADA, content))).status).toBe(0))
    expect(await stored(content)).toBe(1)
  })
})
