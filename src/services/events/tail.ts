import { setTimeout as pause } from 'node:timers/promises'
import { nextTurn } from '../../base/turns.js'
import type { Event } from '../../core/events/event.js'
import type { Gap } from '../../core/events/stream.js'
import { topics } from '../../core/topics.js'
import { findLastSeq, listEvents } from '../../storage/events/events.js'
import type { Ctx } from '../ctx.js'

/** An event or a gap, serialised for readers. */
export interface Frame {
  /** The reader's position after this frame. */
  seq: number
  /** Null: for every reader, whatever types it asked for. */
  type: string | null
  bytes: Buffer
}

/** Serialises an account's events. */
export interface Renderer {
  events(accountId: string, events: readonly Event[]): Promise<Frame[]>
  gap(gap: Gap): Frame
}

/** A reader of an account's events. */
export interface Reader {
  types: ReadonlySet<string>
  /** Takes bytes whose last event has this sequence number. */
  take(bytes: Buffer, seq: number): void
  /** Resolves when the reader has room, or has gone. Used only while it catches up. */
  ready(): Promise<void>
  isGone(): boolean
  /** Ends a reader that cannot be served further. */
  fail(): void
}

/** A reader that has joined the tail. */
export interface Follower {
  reader: Reader
  /** The reader has already received every event up to this sequence number. */
  from: number
}

/** The tail of one account's log, shared by its readers in this process. */
export interface Tail {
  /** Resolves when the tail has started: from then on it misses no event. */
  begun: Promise<void>
  /** Sequence number of the last event given to readers. */
  seq(): number
  join(follower: Follower): void
  has(follower: Follower): boolean
  leave(follower: Follower): void
  stop(): void
}

/** Readers of the same types, which share their bytes. */
interface Audience {
  types: ReadonlySet<string>
  followers: Set<Follower>
}

const AT_ONCE = 100
/** Wall-clock time. Bursts are read together; more readers mean a longer pause. */
const GATHER_MS = { min: 20, max: 100 } as const
const FOLLOWERS_PER_MS = 10
/** Wall-clock time. Wake-ups from other processes may be lost. */
const POLL_MS = 1000

/** Reads the log once for all readers, serialises each event once, and writes each burst as one piece. */
export function createTail(ctx: Ctx, renderer: Renderer, accountId: string): Tail {
  const audiences = new Map<string, Audience>()
  let seq = 0
  let followerCount = 0
  let stopped = false
  /** Reads at once after a quiet time, otherwise when the pause is over. */
  const looking = ctx.loops.create(
    'event streams',
    async () => {
      await pause(await read(), undefined, { ref: false })
    },
    { fields: { account: accountId } },
  )

  /** Returns the pause before the next look. */
  async function read(): Promise<number> {
    await begun
    for (let isMore = true; isMore && !stopped; ) {
      const events = await listEvents(ctx.db, accountId, seq, AT_ONCE)
      if (events.length === 0) break
      const frames = await render(events)
      if (events[0]!.seq > seq + 1) frames.unshift(renderer.gap({ from: seq + 1, to: events[0]!.seq - 1 }))
      handOut(frames)
      seq = events.at(-1)!.seq
      isMore = events.length === AT_ONCE
      if (isMore) await nextTurn(accountId)
    }
    return Math.min(Math.max(followerCount / FOLLOWERS_PER_MS, GATHER_MS.min), GATHER_MS.max)
  }

  /** Serialises only types that a reader wants, including readers that join during the query. */
  async function render(events: readonly Event[]): Promise<Frame[]> {
    for (;;) {
      const known = new Set(audiences.keys())
      const wanted = events.filter(({ type }) => [...audiences.values()].some(({ types }) => types.has(type)))
      const frames = await renderer.events(accountId, wanted)
      if ([...audiences.keys()].every((key) => known.has(key))) return frames
    }
  }

  function handOut(frames: readonly Frame[]) {
    for (const { types, followers } of audiences.values()) {
      const theirs = matching(frames, types)
      const bytes = joined(theirs)
      for (const follower of followers) {
        if (follower.from <= seq) give(follower, bytes, theirs)
        else {
          const rest = theirs.filter((frame) => frame.seq > follower.from)
          give(follower, joined(rest), rest)
        }
      }
    }
  }

  const unsubscribe = ctx.wakes.on(topics.events, (id) => {
    if (id === accountId) looking.ask()
  })
  const polling = ctx.db.engine === 'postgres' ? setInterval(looking.ask, POLL_MS).unref() : undefined
  const begun = findLastSeq(ctx.db, accountId).then((last) => {
    seq = last
  })

  return {
    begun,
    seq: () => seq,
    join(follower) {
      const key = keyOf(follower.reader)
      const audience = audiences.get(key) ?? { types: follower.reader.types, followers: new Set() }
      audiences.set(key, audience)
      audience.followers.add(follower)
      followerCount++
    },
    has: (follower) => audiences.get(keyOf(follower.reader))?.followers.has(follower) ?? false,
    leave(follower) {
      const key = keyOf(follower.reader)
      const audience = audiences.get(key)
      if (!audience?.followers.delete(follower)) return
      followerCount--
      if (audience.followers.size === 0) audiences.delete(key)
    },
    stop() {
      stopped = true
      unsubscribe()
      clearInterval(polling)
      void looking.stop()
    },
  }
}

export function matching(frames: readonly Frame[], types: ReadonlySet<string>): Frame[] {
  return frames.filter(({ type }) => type === null || types.has(type))
}

function joined(frames: readonly Frame[]): Buffer {
  return Buffer.concat(frames.map(({ bytes }) => bytes))
}

function give({ reader }: Follower, bytes: Buffer, frames: readonly Frame[]): void {
  if (frames.length > 0) reader.take(bytes, frames.at(-1)!.seq)
}

function keyOf({ types }: Reader): string {
  return [...types].sort().join()
}
