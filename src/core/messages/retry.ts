/** Delay before attempt n + 1 after a send that never left: 1, 4, 16, 60, 60 … seconds. */
export function backoffMs(attempt: number): number {
  return Math.min(60_000, 1000 * 4 ** (attempt - 1))
}

/** Maximum number of attempts of a message that never leaves: about five minutes. */
export const MAX_ATTEMPTS = 8

/** Delay between two lookups of one unknown outcome. */
export function lookupDelayMs(questions: number, settleMs: number): number {
  return Math.min(settleMs, 250 * 2 ** questions)
}
