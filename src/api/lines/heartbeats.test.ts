import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createHeartbeats, HEARTBEAT_MS } from './heartbeats.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('beats for each stream in its own time, until the stream is removed', () => {
  const beats: string[] = []
  const stream = (name: string) => ({ comment: () => void beats.push(name) })
  const heartbeats = createHeartbeats()
  const remove = heartbeats.add(stream('first'))
  vi.advanceTimersByTime(10_000)
  heartbeats.add(stream('second'))
  vi.advanceTimersByTime(HEARTBEAT_MS - 10_000)
  expect(beats).toEqual(['first'])
  vi.advanceTimersByTime(HEARTBEAT_MS)
  expect(beats).toEqual(['first', 'second', 'first'])
  remove()
  vi.advanceTimersByTime(HEARTBEAT_MS)
  expect(beats).toEqual(['first', 'second', 'first', 'second'])
  heartbeats.stop()
  vi.advanceTimersByTime(HEARTBEAT_MS)
  expect(beats).toHaveLength(4)
})
