import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BEN, createMacWorld, MAC, type MacWorld } from '../../support/drivers/mac-world.js'
import { type FileServer, JPEG, serve } from '../../support/files.js'
import { ENGINES } from '../../support/world.js'

const MINUTE = 60_000

/** The worker gives up on a send after 36 minutes; a message that left later could be sent twice. */
describe.each(ENGINES)('slow uploads to the Mac, on %s', (engine) => {
  let kit: MacWorld
  let files: FileServer
  beforeAll(async () => {
    files = await serve((_request, response) => void response.end(JPEG))
    kit = await createMacWorld(engine, { config: { poll_ms: 60 * MINUTE } })
    // Creates the chat.
    await kit.send({ number: BEN, content: 'Opened' })
    await kit.advance(5000)
  })
  afterAll(async () => {
    await kit.close()
    await files.close()
  })

  it('restarts the upload within the time limit, and sends the message once', async () => {
    const heard = (path: string) => kit.mac.heard.filter((one) => one.path.endsWith(path)).length
    kit.mac.fault({ route: 'POST /api/v1/attachment/upload', kind: 'delay', ms: 11 * MINUTE, times: 3 })
    const sent = await kit.world.post('/api/send-carousel', {
      from_number: MAC,
      number: BEN,
      media_urls: [1, 2, 3].map((name) => `${files.url}/${name}.jpg`),
    })
    for (const n of [1, 2, 3]) {
      await kit.until(() => heard('/attachment/upload') === n)
      await kit.advance(11 * MINUTE)
    }
    const status = async () => (await kit.record(sent.body.message_handle)).status
    await kit.until(async () => (await status()) === 'DELIVERED')
    expect([heard('/attachment/upload'), heard('/message/multipart')]).toEqual([6, 1])
  })
})
