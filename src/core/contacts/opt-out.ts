import type { NewEvent } from '../events/event.js'

/** Words that, as a whole message, end or renew consent, or ask for help (from the carriers' lists). */
const STOP = new Set([
  'stop',
  'stopall',
  'stop all',
  'unsubscribe',
  'optout',
  'opt out',
  'revoke',
  'arret',
  'arrêt',
])
/** Words that also occur in conversations: they count only without any other word. */
const STOP_ALONE = new Set(['cancel', 'end', 'quit'])
const START = new Set(['start', 'unstop', 'yes', 'subscribe', 'optin', 'opt in'])
const HELP = new Set(['help', 'info', 'aide'])
/** Polite words to ignore: "Stop. Thank you" opts out like "STOP". */
const COURTESY = /\b(please|pls|plz|thank you|thankyou|thanks|thank u|thx|ty|kindly|now)\b/g

type ConsentWord = 'stop' | 'start' | 'help' | undefined

/** Whole-message match: "Stop." and "stop, thanks" opt out, "stop by later" does not. */
export function consentWord(content: string): ConsentWord {
  if (content.length > 40) return undefined
  // Emoji contain invisible characters.
  const text = plain(content.toLowerCase().replace(/[\p{P}\p{S}\p{Cf}]|\ufe0f/gu, ' '))
  if (STOP.has(text) || STOP_ALONE.has(text) || STOP.has(plain(text.replace(COURTESY, ' ')))) return 'stop'
  if (START.has(text)) return 'start'
  if (HELP.has(text)) return 'help'
  return undefined
}

function plain(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/** Default answers to STOP and START. */
export const STOP_TEXT =
  'You are unsubscribed and will get no more messages from this number. Reply START to subscribe again.'
export const START_TEXT = 'You are subscribed again. Reply STOP to unsubscribe.'

/** A person's STOP or START has changed whether an account may write to them. */
export function consentEvent(
  accountId: string,
  line: { number: string },
  contact: string,
  optedOut: boolean,
  at: number,
): NewEvent {
  const type = optedOut ? 'contact.opted_out' : 'contact.opted_in'
  return { accountId, type, subject: contact, at, data: { contact, lineNumber: line.number } }
}
