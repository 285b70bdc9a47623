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
