import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { DiallingPhone } from '../../peers/smsgate/dialling.js'
import { ANNA, createPairedWorld, type PairedWorld, SIM } from '../../support/drivers/paired-world.js'
import { ENGINES } from '../../support/world.js'

const BOB = '+12025558202'
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

describe.each(ENGINES)('texts in from a phone that dials in, on %s', (engine) => {
  let on: PairedWorld
  let phone: DiallingPhone
  beforeEach(async () => {
    on = await createPairedWorld(engine)
  })
  afterEach(() => on.close())
  const join = async (options: Parameters<PairedWorld['phone']>[0] = {}) => {
    phone = on.phone(options)
    await phone.register((await on.pair()).code)
    await on.eventually(async () => expect((await on.line()).state).toBe('ONLINE'))
  }
  const arrived = async (from = ANNA) => (await on.world.arrived(SIM, from)).map(({ content }) => content)
  const offline = async (days: number) => {
    phone.offline()
    await on.world.advance(days * DAY_MS)
    await on.eventually(async () => expect((await on.line()).state).toBe('OFFLINE'), 10_000)
  }

  it('an MMS brings its files, one message for each, and once', async () => {
    await join()
    const row = await phone.mms(ANNA, 'Two pictures', [
      { partId: 1, name: 'a.png', contentType: 'image/png', bytes: PNG },
      { partId: 2, name: 'b.png', contentType: 'image/png', bytes: PNG },
      { partId: 3, name: 'smil.xml', contentType: 'application/smil', bytes: Buffer.from('<smil/>') },
    ])
    expect(await phone.tell(row)).toBe(true)
    await on.eventually(async () => {
      const all = await on.world.arrived(SIM, ANNA)
      expect(all.map(({ content }) => content)).toEqual(['Two pictures', ''])
      for (const { media_url } of all) expect(media_url).not.toBe('')
    })
    const [first] = await on.world.arrived(SIM, ANNA)
    const { pathname, search } = new URL(first.media_url)
    const file = await fetch(`${on.world.app.url()}${pathname}${search}`)
    expect(Buffer.from(await file.arrayBuffer())).toEqual(PNG)
  })

  it('a phone that was off for days brings what it received meanwhile, and nothing twice', async () => {
    await join()
    await phone.text(ANNA, 'Before')
    await offline(4)
    phone.miss(ANNA, 'While the app did not run')
    await on.world.advance(DAY_MS)
    const handle = await on.send('Waits')
    phone.online()
    await on.eventually(async () => expect((await on.world.record(handle)).status).toBe('SENT'))
    await on.eventually(async () => expect(await arrived()).toEqual(['Before', 'While the app did not run']))
    expect(phone.queue.aired.map(({ text }) => text)).toEqual(['Waits'])
    expect(phone.events.filter(({ name }) => name === 'MessagesExportRequested')).toHaveLength(1)
  })

  it('a version of the app that reads its whole inbox again brings nothing twice', async () => {
    await join({ repeatsInbox: true })
    await phone.text(ANNA, 'Before')
    await phone.text(BOB, 'Before')
    await offline(3)
    // The app tried for two days, while Trunkline was away.
    phone.miss(BOB, 'Given up')
    phone.online()
    await on.eventually(async () => expect(await arrived(BOB)).toEqual(['Before', 'Given up']))
    await phone.rest()
    expect(await arrived()).toEqual(['Before'])
    expect(await arrived(BOB)).toEqual(['Before', 'Given up'])
  })

  it('texts from before the phone was paired are not asked for', async () => {
    phone = on.phone()
    phone.miss(ANNA, 'Private')
    await on.world.advance(HOUR_MS)
    await phone.register((await on.pair()).code)
    await on.eventually(async () => expect((await on.line()).state).toBe('ONLINE'))
    await offline(2)
    phone.miss(ANNA, 'For the line')
    phone.online()
    await on.eventually(async () => expect(await arrived()).toEqual(['For the line']))
  })

  it('a short silence is no reason to read the inbox', async () => {
    await join()
    phone.offline()
    await on.world.advance(HOUR_MS / 2)
    phone.online()
    const handle = await on.send('Hello')
    await on.eventually(async () => expect((await on.world.record(handle)).status).toBe('SENT'))
    expect(phone.events.map(({ name }) => name)).not.toContain('MessagesExportRequested')
  })

  it.each([9, -9])('a clock that is wrong by %i hours changes neither states nor texts', async (hours) => {
    await join({ now: () => on.now() + hours * HOUR_MS })
    phone.queue.become('Delivered')
    const handle = await on.send('What time is it?')
    await on.eventually(async () => expect((await on.world.record(handle)).status).toBe('DELIVERED'))
    await phone.text(ANNA, 'One', { at: on.now() })
    await on.world.advance(1000)
    await phone.text(ANNA, 'Two', { at: on.now() })
    // A phone that stamps texts by its own clock.
    await on.world.advance(1000)
    await phone.text(ANNA, 'Three')
    expect(await arrived()).toEqual(['One', 'Two', 'Three'])
    const { date_sent, date_updated } = await on.world.record(handle)
    for (const time of [date_sent, date_updated]) {
      expect(Date.parse(time)).toBeLessThanOrEqual(on.now())
      expect(Date.parse(time)).toBeGreaterThan(on.now() - HOUR_MS)
    }
  })
})
