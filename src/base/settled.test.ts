import { describe, expect, it } from 'vitest'
import { untilSettled } from './settled.js'

const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('waiting until all is quiet', () => {
  it('waits for what is open, however long', async () => {
    const activity = { open: 1, begun: 1 }
    let ended = false
    void (async () => {
      for (let i = 0; i < 50; i++) await turn()
      ended = true
      activity.open = 0
    })()
    await untilSettled(() => [{ open: 0, begun: 0 }, activity])
    expect(ended).toBe(true)
  })

  it('waits for the end of open work that tells it, without checks in between', async () => {
    const activity = { open: 2, begun: 2, nextEnd: () => new Promise<void>((resolve) => (end = resolve)) }
    let end = () => {}
    let checks = 0
    const settled = untilSettled(() => {
      checks++
      return [activity]
    })
    for (const left of [1, 0]) {
      for (let i = 0; i < 50; i++) await turn()
      activity.open = left
      end()
    }
    await settled
    // One at the start and one after the first end, then six quiet ones.
    expect(checks).toBe(2 + 6)
  })

  it('sees work of which every piece begins and ends between two looks', async () => {
    const activity = { open: 0, begun: 0 }
    let pieces = 0
    void (async () => {
      for (; pieces < 50; pieces++) {
        await turn()
        activity.begun++
      }
    })()
    await untilSettled(() => [activity])
    expect(pieces).toBe(50)
  })
})
