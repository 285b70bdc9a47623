import { afterEach, describe, expect, it } from 'vitest'
import {
  ADA,
  BOB,
  CLEO,
  createWorld,
  DAN,
  ENGINES,
  EVE,
  type Json,
  LINE,
  type World,
} from '../support/world.js'

describe.each(ENGINES)('sending on %s', (engine) => {
  let world: World
  afterEach(() => world.close())

  it('accepts a message, delivers it and says so', async () => {
    world = await createWorld(engine)
    const accepted = await world.post('/api/send-message', {
      from_number: LINE,
      number: ADA,
      content: 'Hello Ada',
    })
    expect(accepted.status).toBe(202)
    expect(accepted.body).toMatchObject({
      status: 'QUEUED',
      number: ADA,
      to_number: ADA,
      from_number: LINE,
      sendblue_number: LINE,
      content: 'Hello Ada',
      is_outbound: true,
      group_id: '',
      participants: [],
      error_code: null,
      was_downgraded: null,
      service: 'iMessage',
    })
    const handle = accepted.body.message_handle
    await world.settle()
    expect(await world.status(handle)).toMatchObject({ status: 'SENT', was_downgraded: false })
    await world.advance(1000)
    expect(await world.status(handle)).toMatchObject({ status: 'DELIVERED', service: 'iMessage' })
    expect(await world.inbox(ADA)).toMatchObject([
      { content: 'Hello Ada', line: LINE, message_handle: handle },
    ])
    expect((await world.events()).map((event) => [event.seq, event.type, event.data.status])).toEqual([
      [1, 'message.created', 'QUEUED'],
      [2, 'message.updated', 'SENT'],
      [3, 'message.updated', 'DELIVERED'],
    ])
  })

  it('falls back from iMessage to RCS and to SMS by what the recipient has', async () => {
    world = await createWorld(engine)
    const outcomes: Record<string, Json> = {}
    for (const number of [ADA, BOB, CLEO, DAN, EVE])
      outcomes[number] = (await world.send({ number })).message_handle
    await world.advance(1000)
    const of = async (number: string) => world.record(outcomes[number])
    expect(await of(ADA)).toMatchObject({ status: 'DELIVERED', service: 'iMessage', was_downgraded: false })
    expect(await of(BOB)).toMatchObject({ status: 'SENT', service: 'SMS', was_downgraded: true })
    expect(await of(CLEO)).toMatchObject({ status: 'DELIVERED', service: 'RCS', was_downgraded: true })
    expect(await of(DAN)).toMatchObject({ status: 'SENT', service: 'iMessage' })
    expect(await of(EVE)).toMatchObject({ status: 'ERROR', error_code: 10001, error_reason: 'refused' })
    expect((await of(EVE)).error_detail).toContain('sim.refused')
    await world.setPhone(DAN, { power: true })
    await world.advance(1000)
    expect(await of(DAN)).toMatchObject({ status: 'DELIVERED' })
  })

  it('answers only when the storage has confirmed the commit', async () => {
    world = await createWorld(engine)
    const { db } = world.app.ctx
    const { write } = db
    let confirm = () => {}
    const held = new Promise<void>((resolve) => {
      confirm = resolve
    })
    // The commit happens; only its confirmation is kept back.
    db.write = async (fn) => {
      await write(fn)
      await held
    }
    let answered = false
    const sending = world.send().then((answer) => {
      answered = true
      return answer
    })
    await world.settle()
    expect(answered).toBe(false)
    db.write = write
    confirm()
    expect(await sending).toMatchObject({ status: 'QUEUED' })
  })
})
