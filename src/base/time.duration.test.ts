import { expect, it } from 'vitest'
import { durationMs } from './time.js'

it.each([
  ['90s', 90_000],
  ['500ms', 500],
  ['0.02s', 20],
  ['2h', 7_200_000],
  ['1d 12h', 129_600_000],
  ['1m30s', 90_000],
  ['5', 5000],
  ['0', 0],
  ['1.5', 1500],
])('%s are %d ms: without a unit seconds', (time, ms) => expect(durationMs(time)).toBe(ms))

it.each(['', ' ', '-1s', '5 apples', 'soon', '1s 2', '1sx', '1e3', `${'1s '.repeat(100)}`])(
  '%j is not a time',
  (time) => expect(durationMs(time)).toBeUndefined(),
)
