import type { Body } from './body.js'
import type { ChatDb } from './chat-db.js'
import type { PeerClock } from './clock.js'
import type { Reply } from './envelope.js'
import type { Events } from './events.js'
import type { People } from './people.js'
import type { Flags, Profile, Waits } from './profiles.js'
import type { Scheduled } from './routes/calls.js'
import type { Place } from './routes/extras.js'

/** Everything that the parts of the Mac share. */
export interface Mac {
  profile: Profile
  flags: Flags
  waits: Waits
  clock: PeerClock
  password: string
  /** The number or address that this Mac's Messages sends from. */
  address: string
  /** Outlives restarts, as do the webhooks. */
  db: ChatDb
  people: People
  events: Events
  /** The guid of the last message that Messages sent in each chat. */
  lastSent: Map<string, string>
  /** In memory only: a restart forgets it. */
  memory: Memory
  /** Where the people are who share it with this Mac, whether or not the server has heard of it. */
  places(): Place[]
  sharePlace(place: Place): void
  unsharePlace(address: string): void
  account: {
    appleId: string
    aliases: string[]
    activeAlias: string
    card: { name: string; avatar: string | null }
  }
  schedule: Scheduled[]
  /** The server's own restart, asked for over the wire. */
  restart(): Promise<void>
}

export interface Memory {
  /** tempGuids of sends under way. */
  inFlight: Set<string>
  uploads: Map<string, Buffer>
  chunks: Map<string, Buffer[]>
  places: Map<string, Place>
  calls: Map<string, { status: string; address: string }>
  /** When somebody's place was last asked for. */
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
  /** Below /api/v1, or with a leading slash below /api. Parts with a colon are parameters. */
  path: string
  /** Answered only with a connected helper. */
  privateApi?: boolean
  handle(mac: Mac, ask: Ask): Promise<Reply> | Reply
}

export const now = (mac: Mac) => mac.clock.now() + mac.flags.skewMs

export const osMajor = (mac: Mac) => Number.parseInt(mac.flags.osVersion, 10)

export const wait = (mac: Mac, ms: number) =>
  ms <= 0 ? Promise.resolve() : new Promise<void>((resolve) => void mac.clock.after(ms, resolve))

/** Null when the helper can be asked, otherwise which half is missing. */
export function helperTrouble(mac: Mac): string | null {
  if (!mac.flags.privateApi) return 'iMessage Private API is not enabled!'
  if (!mac.flags.helperConnected && !mac.flags.faceTimeHelper)
    return 'iMessage Private API Helper is not connected!'
  return null
}
