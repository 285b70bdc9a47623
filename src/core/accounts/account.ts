export interface Account {
  id: string
  email: string
  name: string
  plan: string
  world: World
  /** The account of the other world: live for test, test for live. The two share nothing. */
  twinId: string
  /** Forwarding number for calls if neither the seat nor the line has one. */
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
  /** Whether this is one of the fixed development keys, which work on loopback only. */
  wellKnown: boolean
  createdAt: number
  revokedAt: number | null
}

export interface Seat {
  id: string
  accountId: string
  email: string
  /** The user's id at an external identity provider, accepted in place of a seat id. */
  subject: string | null
  firstName: string | null
  lastName: string | null
  /** Rings for calls to a line that is assigned to this seat. */
  forwardingNumber: string | null
  createdAt: number
}

/**
 * The telephone network of a world. Live accounts share the real network; every test world has its own, so that a
 * number can be a real line in one and a simulated line in the other.
 */
export function networkOf(account: { id: string; world: World }): string {
  return account.world === 'live' ? 'live' : account.id
}
