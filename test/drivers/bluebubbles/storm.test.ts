import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ANNA, BEN, CARA, createMacWorld, MAC, type MacWorld } from '../../support/drivers/mac-world.js'
import { JPEG } from '../../support/files.js'
import { ENGINES, type Json } from '../../support/world.js'

const HOUR = 3_600_000
const photo = { name: 'photo.jpg', mimeType: 'image/jpeg', bytes: JPEG }

/** Whatever happens to the Mac's webhook calls, the result is the same. */
describe.each(ENGINES)('lost, repeated and reordered webhook calls of a Mac, on %s', (engine) => {
  let kit: MacWorld
  beforeAll(async () => {
    kit = await createMacWorld(engine, { config: { poll_ms: HOUR } })
  })
  afterAll(() => kit.close())

  const MODES: [string, Partial<MacWorld['mac']['switches']>][] = [
    ['lost', { drop: true }],
    ['three times', { copies: 3 }],
    ['turned round', { reorder: 4 }],
    [
      'half of them lost, the rest twice',
      { copies: 2, drop: (_, data) => JSON.stringify(data).length % 2 === 0 },
    ],
    ['never again, because the server has lost its watch', { watcherDead: true }],
    ['without files at first', { emptyAttachmentsFirst: true }],
  ]
  const USUAL = {
    ...{ drop: false, copies: 1, reorder: 0, delayMs: 0, watcherDead: false, emptyAttachmentsFirst: false },
  }
  const told: Json[] = []

  it.each(MODES)('%s: no message is lost or repeated, and every status is right', async (mode, switches) => {
    Object.assign(kit.mac.switches, switches)
    const before = (await kit.inbound()).length
    const anna = kit.mac.phone(ANNA)
    anna.text(`${mode}: text`)
    kit.mac.phone(BEN).text(`${mode}: photo`, { attachment: photo })
    const sent = await kit.send({ content: `${mode}: ours` })
    await kit.advance(2000)
    const { guid } = anna.inbox.at(-1)!
    anna.tapback(guid, 'like')
    anna.text(`${mode}: reply`, { replyTo: guid })
    const group = kit.mac.phone(CARA).startGroup([BEN], { text: `${mode}: group` })
    kit.mac.phone(CARA).text(`${mode}: loud`, { group, effect: 'com.apple.MobileSMS.expressivesend.loud' })
    anna.read(guid)
    await kit.settle()
    await kit.advance(60_000)
    kit.mac.flush()
    await kit.settle()
    await kit.advance(2 * HOUR)
    Object.assign(kit.mac.switches, USUAL)

    const came = await Promise.all(
      (await kit.inbound()).slice(before).map(async ({ message_handle }) => {
        const own = await kit.world.get(`/v3/messages/${message_handle}`)
        return own.body.data.message
      }),
    )
    expect(came.map((one) => [one.content, one.send_style]).sort()).toEqual(
      [
        [`${mode}: text`, ''],
        [`${mode}: photo`, ''],
        [expect.stringMatching(/^Liked /), ''],
        [`${mode}: reply`, ''],
        [`${mode}: group`, ''],
        [`${mode}: loud`, 'loud'],
      ].sort((a, b) => (String(came.length) && contentOf(a) < contentOf(b) ? -1 : 1)),
    )
    expect(came.find((one) => one.content === `${mode}: photo`).media_url).toMatch(/\.jpg$/)
    expect(came.find((one) => one.content === `${mode}: reply`).reply_to.message_handle).toBe(
      sent.message_handle,
    )
    expect(await kit.record(sent.message_handle)).toMatchObject({ status: 'DELIVERED', service: 'iMessage' })
    const events = (await kit.world.events()).filter((one) => one.subject === sent.message_handle)
    expect(events.filter((one) => one.type === 'message.read')).toHaveLength(1)
    expect(events.filter((one) => one.type === 'message.reaction')).toHaveLength(1)
    told.push(...came)
    if (switches.watcherDead) await kit.mac.restart()
    if (switches.drop === true) await silence()
  })

  /** Three times there is news without a webhook call. */
  async function silence() {
    kit.mac.switches.drop = true
    for (const n of [1, 2, 3]) {
      kit.mac.phone(BEN).text(`Unheard ${n}`)
      await kit.advance(HOUR)
    }
    expect(await kit.line()).toMatchObject({
      state: 'DEGRADED',
      state_detail: expect.stringContaining('stopped calling'),
    })
    kit.mac.switches.drop = false
    kit.mac.phone(BEN).text('Heard')
    await kit.settle()
    expect(await kit.line()).toMatchObject({ state: 'ONLINE', state_detail: null })
    told.push(...(await kit.inbound()).slice(told.length))
  }

  it('reports nothing for a replay of all events a day later', async () => {
    const events = (await kit.world.events()).length
    const before = await kit.inbound()
    expect(before.length).toBe(told.length)
    await kit.advance(25 * HOUR)
    await kit.world.restart()
    kit.mac.replay(true)
    await kit.settle()
    await kit.advance(HOUR)
    expect(await kit.inbound()).toEqual(before)
    const after = (await kit.world.events()).filter((one) => !one.type.startsWith('line.'))
    expect(after.length).toBeLessThanOrEqual(events)
  })

  it('ignores a caller without the callback URL', async () => {
    const body = { type: 'new-message', data: { guid: 'X', text: 'I am Anna', isFromMe: false } }
    const wrong = await kit.world.post(`/callbacks/${kit.lineId}/wrong`, body, null)
    expect(wrong.status).toBe(404)
    const url = new URL(kit.mac.webhooks[0]!.url)
    const before = (await kit.inbound()).length
    // Even with the URL, a message that is not on the Mac does not count.
    expect((await kit.world.post(url.pathname, body, null)).status).toBe(200)
    expect((await kit.world.post(url.pathname, '{{{', null)).status).toBe(400)
    await kit.settle()
    expect(await kit.inbound()).toHaveLength(before)
    expect(MAC).toBe((await kit.line()).number)
  })
})

function contentOf([content]: unknown[]): string {
  return typeof content === 'string' ? content : 'Liked '
}
