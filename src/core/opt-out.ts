/** Words that, as a whole message, end or renew consent (the carriers' own lists). */
const STOP = new Set([
  'stop',
  'stopall',
  'stop all',
  'unsubscribe',
  'cancel',
  'end',
  'quit',
  'optout',
  'opt out',
  'revoke',
])
const START = new Set(['start', 'unstop', 'yes', 'subscribe', 'optin', 'opt in'])

export type ConsentWord = 'stop' | 'start' | undefined

/** Whole-message match: "Stop." opts out, "stop by later" does not. */
export function consentWord(content: string): ConsentWord {
  if (content.length > 40) return undefined
  const text = content
    .toLowerCase()
    // Emoji come with invisible characters of their own.
    .replace(/[\p{P}\p{S}\p{Cf}]|\ufe0f/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  if (STOP.has(text)) return 'stop'
  if (START.has(text)) return 'start'
  return undefined
}
