/**
 * A person who has, or has not yet, shown that a number is theirs by writing to a line. It starts as pending when
 * the account asks for it and is verified by any message from that number to that line, for good.
 */
export interface VerifiedContact {
  id: number
  accountId: string
  number: string
  /** Id of the line, or `shared`. */
  scope: string
  createdAt: number
  updatedAt: number
  verifiedAt: number | null
}

/** The account's shared line, whichever it is: an account may get another one. */
export const SHARED = 'shared'

/** What a line's messages verify. */
export function scopeOf(line: { id: string; kind: 'dedicated' | 'shared' }): string {
  return line.kind === 'shared' ? SHARED : line.id
}

/** Plans on which a recipient must be a verified contact. */
export function needsVerifiedRecipient(plan: string): boolean {
  return plan === 'free'
}

/** How long a stranger's message to a shared line counts as the answer to an account that asks only then. */
export const CLAIM_MS = 10 * 60_000
