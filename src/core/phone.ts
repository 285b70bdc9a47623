import { isPossiblePhoneNumber } from 'libphonenumber-js/min'

const E164 = /^\+[1-9]\d{6,14}$/
/** Parsing against number plans costs 15 µs; a send must not pay it again for a number it just saw. */
const CACHE_LIMIT = 20_000
const known = new Map<string, boolean>()

/**
 * E.164 from what callers really send: a `+` that a query string turned into a space, and the usual
 * separators. A number without its country code is refused: guessing a country would text a stranger.
 */
export function toE164(input: string): string | undefined {
  let text = input
  if (!E164.test(text)) {
    text = text.trim().replace(/[\s().-]/g, '')
    if (/^\s\d/.test(input)) text = `+${text}`
    if (!E164.test(text)) return undefined
  }
  return isPossible(text) ? text : undefined
}

function isPossible(number: string): boolean {
  let possible = known.get(number)
  if (possible === undefined) {
    possible = isPossiblePhoneNumber(number)
    if (known.size >= CACHE_LIMIT) known.clear()
    known.set(number, possible)
  }
  return possible
}

/** For logs: enough to recognise a number, not enough to call it. */
export function maskNumber(number: string): string {
  return number.length > 4 ? `…${number.slice(-4)}` : '…'
}
