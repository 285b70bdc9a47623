import { getDefaultHighWaterMark, setDefaultHighWaterMark } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { createEventStream } from '../../src/api/http/sse.js'

const usual = getDefaultHighWaterMark(false)
afterEach(() => setDefaultHighWaterMark(false, usual))

// Node 22 raised the mark below which a stream asks for more from 16 to 64 KiB, and a stream asks only once.
it.each([16, 64])('a stream goes on when its reader has caught up, with a mark of %i KiB', async (mark) => {
  setDefaultHighWaterMark(false, mark * 1024)
  const stream = createEventStream(() => {})
  for (let i = 0; i < 40; i++) stream.write(Buffer.alloc(1024))
  let isReady = false
  void stream.ready().then(() => {
    isReady = true
  })
  for (let i = 0; i < 20; i++) {
    stream.body.read(1024)
    await setImmediate()
  }
  expect(isReady).toBe(false)
  while (stream.body.read() !== null) await setImmediate()
  await setImmediate()
  expect(isReady).toBe(true)
})
