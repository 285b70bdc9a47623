/**
 * A number whose owner proves ownership by writing to a line. It is pending from the account's request until the first
 * message from the number to the line, and then verified permanently.
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

/** Stands for the account's shared line, which may change. */
export const SHARED = 'shared'

/** The scope that messages to a line verify. */
export function scopeOf(line: { id: string; kind: 'dedicated' | 'shared' }): string {
  return line.kind === 'shared' ? SHARED : line.id
}

/** Plans on which a recipient must be a verified contact. */
export function needsVerifiedRecipient(plan: string): boolean {
  return plan === 'free'
}

/** How long a message from an unrequested number to a shared line counts for an account that requests it later. */
export const CLAIM_MS = 10 * 60_000
