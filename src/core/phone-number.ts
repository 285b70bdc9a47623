import { parsePhoneNumberFromString } from 'libphonenumber-js/max'

const E164 = /^\+[1-9]\d{6,14}$/

/**
 * Normalises to E.164. Accepts a `+` that a query string turned into a space, and the usual separators. Refuses a
 * number without a country code: a wrong guess would text a stranger. Whether a well-formed number exists is for the
 * carrier to say.
 */
export function toE164(input: string): string | undefined {
  if (E164.test(input)) return input
  const digits = input.trim().replace(/[\s().-]/g, '')
  const text = /^\s\d/.test(input) ? `+${digits}` : digits
  return E164.test(text) ? text : undefined
}

/** Like `toE164`, and also accepts North American numbers without a country code. */
export function toE164FromUS(input: string): string | undefined {
  const direct = toE164(input)
  if (direct || !/^[\d\s().+-]+$/.test(input)) return direct
  const parsed = parsePhoneNumberFromString(input.trim(), 'US')
  if (!parsed?.isValid() || parsed.ext || parsed.countryCallingCode !== '1') return undefined
  return toE164(parsed.number)
}

/** The number as people write it, with spaces. */
export function displayPhone(number: string): string {
  return parsePhoneNumberFromString(number)?.formatInternational() ?? number
}

/** Compares the last digits, because carriers write numbers with and without the country code. */
export function isSameSubscriber(a: string, b: string): boolean {
  const end = (text: string) => text.replace(/\D/g, '').slice(-7)
  return a === b || (end(a) !== '' && end(a) === end(b))
}

/**
 * The number of somebody who wrote to a line, in E.164. A network may leave out the country code of its own country;
 * names and short codes stay as they are.
 */
export function fromNational(sender: string, line: string): string {
  const direct = toE164(sender)
  if (direct || !/^[\d\s().+-]+$/.test(sender)) return direct ?? sender
  const country = parsePhoneNumberFromString(line)?.country
  const parsed = country ? parsePhoneNumberFromString(sender, country) : undefined
  return parsed?.isPossible() ? (toE164(parsed.number) ?? sender) : sender
}
