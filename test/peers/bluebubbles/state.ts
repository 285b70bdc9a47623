import type { Body } from './body.js'
import type { ChatDb } from './chat-db.js'
import type { PeerClock } from './clock.js'
import type { Reply } from './envelope.js'
import type { Events } from './events.js'
import type { People } from './people.js'
import type { Flags, Profile, Waits } from './profiles.js'
import type { ScheduledMessage } from './routes/calls.js'
import type { FriendLocation } from './routes/extras.js'

/** State shared by the parts of the Mac. */
export interface Mac {
  profile: Profile
  flags: Flags
  waits: Waits
  clock: PeerClock
  password: string
  /** Number or address that Messages sends from. */
  address: string
  /** Survives restarts, like the webhooks. */
  db: ChatDb
  people: People
  events: Events
  /** Guid of the last message sent in each chat. */
  lastSent: Map<string, string>
  /** Lost on restart. */
  memory: Memory
  /** Locations shared with this Mac, including those that the server has not read yet. */
  places(): FriendLocation[]
  sharePlace(place: FriendLocation): void
  unsharePlace(address: string): void
  account: {
    appleId: string
    aliases: string[]
    activeAlias: string
    card: { name: string; avatar: string | null }
  }
  schedule: ScheduledMessage[]
  /** Restarts the server, as requested over its API. */
  restart(): Promise<void>
}

export interface Memory {
  /** tempGuids of sends in progress. */
  inFlight: Set<string>
  uploads: Map<string, Buffer>
  chunks: Map<string, Buffer[]>
  places: Map<string, FriendLocation>
  calls: Map<string, { status: string; address: string }>
  /** Time of the last location refresh. */
  refreshedAt: number
}

export const newMemory = (): Memory => ({
  inFlight: new Set(),
  uploads: new Map(),
  chunks: new Map(),
  places: new Map(),
  calls: new Map(),
  refreshedAt: Number.NEGATIVE_INFINITY,
})

export interface Ask extends Body {
  method: string
  path: string
  params: Record<string, string>
  query: URLSearchParams
}

export interface Route {
  method: string
  /** Path below /api/v1, or with a leading slash below /api. Segments with a colon are parameters. */
  path: string
  /** Requires a connected helper. */
  privateApi?: boolean
  handle(mac: Mac, ask: Ask): Promise<Reply> | Reply
}

export const now = (mac: Mac) => mac.clock.now() + mac.flags.skewMs

export const osMajor = (mac: Mac) => Number.parseInt(mac.flags.osVersion, 10)

export const wait = (mac: Mac, ms: number) =>
  ms <= 0 ? Promise.resolve() : new Promise<void>((resolve) => void mac.clock.after(ms, resolve))

/** Null if the helper is available; otherwise the reason. */
export function helperTrouble(mac: Mac): string | null {
  if (!mac.flags.privateApi) return 'iMessage Private API is not enabled!'
  if (!mac.flags.helperConnected && !mac.flags.faceTimeHelper)
    return 'iMessage Private API Helper is not connected!'
  return null
}
