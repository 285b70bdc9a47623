export interface Account {
  id: string
  email: string
  name: string
  plan: string
  world: World
  /** The same account's other world: live for test, test for live. Nothing is shared between the two. */
  twinId: string
  /** Where calls go that neither a seat nor a line has a number for. */
  defaultForwardingNumber: string | null
  createdAt: number
}

export type World = 'live' | 'test'
export type KeyKind = 'live' | 'test' | 'admin'

export const DEFAULT_PLAN = 'dedicated'

export interface Key {
  id: string
  accountId: string | null
  kind: KeyKind
  label: string
  /** One of the fixed development keys, good on loopback only. */
  wellKnown: boolean
  createdAt: number
  revokedAt: number | null
}

export interface Seat {
  id: string
  accountId: string
  email: string
  /** The user's id at an outside identity provider, accepted wherever a seat id is. */
  subject: string | null
  firstName: string | null
  lastName: string | null
  /** Rings when somebody calls a line that is assigned to this seat. */
  forwardingNumber: string | null
  createdAt: number
}

/**
 * The telephone network a world's numbers live in. Live accounts share the real one; every test world is a
 * network of its own, so the same number can be a real line there and a simulated one here.
 */
export function networkOf(account: { id: string; world: World }): string {
  return account.world === 'live' ? 'live' : account.id
}
