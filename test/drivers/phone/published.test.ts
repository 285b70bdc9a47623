import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ANNA, createPairedWorld, type PairedWorld, SIM } from '../../support/drivers/paired-world.js'
import { ENGINES, type Json } from '../../support/world.js'
import {
  EXTERNAL_EVENT,
  faultsOf,
  POSTED,
  PULLED,
  REGISTERED,
  REGISTRATION,
  REPORTS,
  SETTINGS,
  WEBHOOK,
} from '../smsgate/published.js'

/** Both sides of the protocol between SMSGate and its server, against what others wrote. */
describe.each(ENGINES)('the protocol of a phone that dials in, on %s', (engine) => {
  let on: PairedWorld
  beforeAll(async () => {
    on = await createPairedWorld(engine)
  })
  afterAll(() => on.close())

  it('has the shapes that the app and its documents tell of', async () => {
    const said = new Map<string, Json[]>()
    const phone = on.phone({
      watch: (name, json) => void said.set(name, [...(said.get(name) ?? []), json]),
    })
    await phone.register((await on.pair()).code)
    await on.eventually(async () => expect((await on.line()).state).toBe('ONLINE'))
    const handle = await on.send('Hello')
    await on.eventually(async () => expect((await on.world.record(handle)).status).toBe('SENT'))
    await phone.text(ANNA, 'Hi', { sim: null })
    const bytes = Buffer.from('x')
    await phone.mms(ANNA, 'Look', [{ partId: 1, name: 'a.png', contentType: 'image/png', bytes }])
    await phone.rest()
    const shapes: Record<string, object> = {
      'POST /device asks': REGISTRATION,
      'POST /device answers': REGISTERED,
      'GET /message answers': PULLED,
      'PATCH /message asks': REPORTS,
      'GET /settings answers': { ...SETTINGS, required: ['gateway', 'messages', 'webhooks'] },
      'GET /webhooks answers': { type: 'array', items: WEBHOOK, minItems: 2 },
      'sms:received': POSTED['sms:received'],
      'mms:downloaded': POSTED['mms:downloaded'],
      event: EXTERNAL_EVENT,
    }
    expect([...said.keys()].sort()).toEqual(Object.keys(shapes).sort())
    for (const [name, values] of said)
      for (const value of values) expect([name, faultsOf(shapes[name]!, value)]).toEqual([name, []])
    expect(said.get('GET /message answers')!.flat()).not.toEqual([])
    expect(await on.world.arrived(SIM, ANNA)).toHaveLength(2)
  })
})
