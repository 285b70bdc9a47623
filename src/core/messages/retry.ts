/** Waiting time before attempt n + 1 after a send that provably never left: 1, 4, 16, 60, 60 … seconds. */
export function backoffMs(attempt: number): number {
  return Math.min(60_000, 1000 * 4 ** (attempt - 1))
}

/** Attempts per message before a line that never takes it makes the message fail. About five minutes. */
export const MAX_ATTEMPTS = 8

/** How long we wait between two questions to a carrier about one unknown outcome. */
export function lookupDelayMs(questions: number, settleMs: number): number {
  return Math.min(settleMs, 250 * 2 ** questions)
}
