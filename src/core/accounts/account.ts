export interface Account {
  id: string
  email: string
  name: string
  plan: string
  world: World
  /** The account of the other world: live for test, test for live. The two share nothing. */
  twinId: string
  /** The creator of a world: the id of a live account, or `admin`. Null for an ordinary account. */
  owner: string | null
  /** Forwarding number for calls if neither the seat nor the line has one. */
  defaultForwardingNumber: string | null
  /** Limits of its own, by the budget's name. */
  budgets: Readonly<Record<string, number>>
  createdAt: number
  /** Until when the request log keeps bodies of the account's calls, by the machine's clock. */
  bodiesUntil: number | null
  /** Set while a large world is emptied in slices. Requests of the account wait. */
  emptying: Emptying | null
}

/** The step after the world is empty: its beginning, with or without its webhooks, or nothing. */
export type Emptying = 'reset' | 'reset keeping webhooks' | 'removal'

export type World = 'live' | 'test'
export type KeyKind = 'live' | 'test' | 'admin'

export const DEFAULT_PLAN = 'dedicated'

export interface Key {
  id: string
  accountId: string | null
  kind: KeyKind
  label: string
  /** Whether this is one of the published development keys, which work in a harmless world only. */
  wellKnown: boolean
  createdAt: number
  /** When it ends by itself; null if never. */
  expiresAt: number | null
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

/** The telephone network whose numbers the lines of ordinary live accounts share. Phones belong to one account. */
export const LIVE_NETWORK = 'live'

/** The owner of worlds that were made with an admin key. */
export const ADMIN_OWNER = 'admin'

/**
 * The telephone network of an account's lines, in which each number is one line. Ordinary live accounts share the real
 * network; test accounts and both accounts of a world have their own, so that a number can be a line in each.
 */
export function networkOf(account: Pick<Account, 'id' | 'world' | 'owner'>): string {
  return account.world === 'live' && account.owner === null ? LIVE_NETWORK : account.id
}
