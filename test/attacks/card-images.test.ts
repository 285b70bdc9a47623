import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADA, createWorld, ENGINES, LINE, type World } from '../support/world.js'
import { cardWith, type HeldImages, holdImages } from './support/held-images.js'

const CARDS = 20
const MB = 1_000_000

/** Found: 100 cards with images of 9.9 MB took 1 GB. The type of an image is in its first bytes. */
describe.each(ENGINES)('cards whose images are being fetched on %s', (engine) => {
  let world: World
  let images: HeldImages
  beforeAll(async () => {
    world = await createWorld(engine)
    images = await holdImages(9 * MB)
  })
  afterAll(async () => {
    await world.close()
    await images.close()
  })

  it('do not have them in memory', async () => {
    setFlagsFromString('--expose-gc')
    const collect: () => void = runInNewContext('gc')
    const app_card = cardWith(images.url)
    const held = () => {
      collect()
      return process.memoryUsage().arrayBuffers
    }
    const before = held()
    const sends = Array.from({ length: CARDS }, () =>
      world.post('/api/send-message', { from_number: LINE, number: ADA, app_card }),
    )
    await images.sent(CARDS)
    const more = held() - before
    images.end()
    expect(more / MB).toBeLessThan(CARDS * 2)
    expect((await Promise.all(sends)).map(({ status }) => status)).toEqual(Array(CARDS).fill(202))
  })
})
