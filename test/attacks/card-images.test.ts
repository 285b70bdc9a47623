import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { IMAGES } from '../support/images.js'
import { ADA, createWorld, ENGINES, LINE, type World } from '../support/world.js'

const CARDS = 20
const MB = 1_000_000
const BIG = Buffer.concat([IMAGES.png, Buffer.alloc(9 * MB)])

/** Found: 100 cards with images of 9.9 MB took 1 GB. The type of an image is in its first bytes. */
describe.each(ENGINES)('cards whose images are being fetched on %s', (engine) => {
  let world: World
  const ends: (() => void)[] = []
  let written = () => {}
  /** Sends nearly all of the image, and the rest when every image is that far. */
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-length': BIG.length + 1 })
    response.write(BIG, () => {
      ends.push(() => void response.end('x'))
      if (ends.length === CARDS) written()
    })
  })
  beforeAll(async () => {
    world = await createWorld(engine)
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  })
  afterAll(async () => {
    await world.close()
    server.close()
  })

  it('do not have them in memory', async () => {
    setFlagsFromString('--expose-gc')
    const collect: () => void = runInNewContext('gc')
    const imageUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/big.png`
    const card = {
      appName: 'Chess',
      extensionBundleId: 'com.example.chess.messages',
      teamId: 'A1B2C3D4E5',
      layout: { caption: 'Your move', imageUrl },
      url: 'https://chess.example.com/game?id=1',
    }
    const held = () => {
      collect()
      return process.memoryUsage().arrayBuffers
    }
    const before = held()
    const allWritten = new Promise<void>((resolve) => {
      written = resolve
    })
    const sends = Array.from({ length: CARDS }, () =>
      world.post('/api/send-message', { from_number: LINE, number: ADA, app_card: card }),
    )
    await allWritten
    const more = held() - before
    for (const end of ends) end()
    expect((await Promise.all(sends)).map(({ status }) => status)).toEqual(Array(CARDS).fill(202))
    expect(more / MB).toBeLessThan(CARDS * 2)
  })
})
