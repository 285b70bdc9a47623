import { durationMs } from '../base/time.js'

/** A time like `'500ms'`, `'90s'`, `'2h'` or `'1d 12h'`. */
export type Duration = string

/** A bare number is refused: some read it as seconds and some as milliseconds. */
export function milliseconds(time: Duration): number {
  const ms = typeof time === 'string' && /[a-z]\s*$/.test(time) ? durationMs(time) : undefined
  if (ms === undefined)
    throw new TypeError(`Not a time with a unit: ${JSON.stringify(time)}. Write "500ms", "90s" or "2h".`)
  return ms
}
