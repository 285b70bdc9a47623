import { parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { toE164 } from '../../core/phone-number.js'
import { UsageError } from '../args.js'
import { Refusal } from './refusal.js'

/** To whom an agent may write. */
export interface Guard {
  isListed(handle: string): boolean
  /** Whether people who have written to the line are allowed, too. */
  allowsWriters: boolean
}

const PREFIX = /^\+[1-9]\d{0,14}\*$/
const EMAIL = /^[^\s@]+@[^\s@]+$/

/** Entries are numbers, prefixes of numbers with a star, e-mail addresses (in groups), or a star for everyone. */
export function createGuard(entries: readonly string[], allowsWriters: boolean): Guard {
  const exact = new Set<string>()
  const prefixes: string[] = []
  for (const entry of entries.map((one) => one.trim()).filter((one) => one !== '')) {
    if (entry === '*' || PREFIX.test(entry)) {
      prefixes.push(entry.slice(0, -1))
      continue
    }
    const handle = EMAIL.test(entry) ? entry.toLowerCase() : toE164(entry)
    if (handle === undefined)
      throw new UsageError(
        `--allow must be a number like +12025550101, a prefix like +1202*, or *, not "${entry}"`,
      )
    exact.add(handle)
  }
  return {
    allowsWriters,
    isListed: (handle) => exact.has(handle) || prefixes.some((prefix) => handle.startsWith(prefix)),
  }
}

export function notAllowed(handle: string, { allowsWriters }: Guard): Refusal {
  const also = allowsWriters ? ', and has not written to this line first' : ''
  return new Refusal(
    'recipient_not_allowed',
    `Not sent: ${handle} is not on the list of allowed recipients${also}.`,
    `Do not try another spelling or a group. Ask the user to write to the line from ${handle}, or to start this server with --allow ${handle}.`,
    { recipient: handle },
  )
}

/**
 * E.164 in one spelling, without the extra digits of some countries that would make one person two. The guard, the
 * caps and the send all use this spelling.
 */
export function phoneOf(field: string, text: string): string {
  const given = toE164(text)
  const number = given && toE164(parsePhoneNumberFromString(given)?.number ?? given)
  if (number === undefined)
    throw new Refusal(
      'invalid_input',
      `${field}: "${text}" is not a phone number with its country code.`,
      `Give ${field} in E.164, like +12025550101. Do not guess a country code: ask the user.`,
    )
  return number
}
