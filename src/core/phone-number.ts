import { parsePhoneNumberFromString } from 'libphonenumber-js/max'

const E164 = /^\+[1-9]\d{6,14}$/
/** The one numbering plan whose numbers all have the same shape; others vary in length by country and region. */
const NORTH_AMERICA = /^\+1[2-9]\d{2}[2-9]\d{6}$/

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
  return text.startsWith('+1') && !NORTH_AMERICA.test(text) ? undefined : text
}

/** The same for fields that also take North American numbers as people write them, without a country code. */
export function toE164FromUS(input: string): string | undefined {
  const direct = toE164(input)
  if (direct || !/^[\d\s().+-]+$/.test(input)) return direct
  const parsed = parsePhoneNumberFromString(input.trim(), 'US')
  if (!parsed?.isValid() || parsed.ext || parsed.countryCallingCode !== '1') return undefined
  return toE164(parsed.number)
}

/** Carriers write numbers with and without their country: the last digits tell whose it is. */
export function isSameSubscriber(a: string, b: string): boolean {
  const end = (text: string) => text.replace(/\D/g, '').slice(-7)
  return a === b || (end(a) !== '' && end(a) === end(b))
}
