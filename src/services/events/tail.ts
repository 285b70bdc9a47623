import type { Event } from '../../core/events/event.js'
import type { Gap } from '../../core/events/stream.js'
import { topics } from '../../core/topics.js'
import { findLastSeq, listEvents } from '../../storage/events/events.js'
import type { Ctx } from '../ctx.js'

/** An event, or a gap, as the bytes that readers get. */
export interface Frame {
  /** Where a reader stands who has it. */
  seq: number
  /** Null: for everyone, whatever they asked for. */
  type: string | null
  bytes: Buffer
}

/** How an account's events become bytes. */
export interface Renderer {
  events(accountId: string, events: readonly Event[]): Promise<Frame[]>
  gap(gap: Gap): Frame
}

/** Someone who follows an account's events. */
export interface Reader {
  types: ReadonlySet<string>
  /** Takes bytes whose last event has this number. */
  take(bytes: Buffer, seq: number): void
  /** Resolves when there is room for more, or nobody takes it any more. Only asked while catching up. */
  ready(): Promise<void>
  isGone(): boolean
  /** It cannot be served any further. */
  fail(): void
}

/** A reader that takes part. */
export interface Seat {
  reader: Reader
  /** It has everything to here from elsewhere. */
  from: number
}

/** The end of one account's log, for all who read it here. */
export interface Tail {
  /** Resolves when it has begun: from then on it misses nothing. */
  begun: Promise<void>
  /** Handed out to here. */
  seq(): number
  join(seat: Seat): void
  has(seat: Seat): boolean
  leave(seat: Seat): void
  stop(): void
}

/** Readers that asked for the same types get the same bytes. */
interface Audience {
  types: ReadonlySet<string>
  seats: Set<Seat>
}

const AT_ONCE = 500
/** Machine time: bursts are read together, the longer the more readers there are to write to. */
const GATHER_MS = { min: 20, max: 100 } as const
const SEATS_PER_MS = 10
/** Machine time: wake-ups from other processes may be lost. */
const POLL_MS = 1000

/** One look at the log for all readers, each event made into bytes once, each burst into one piece. */
export function createTail(ctx: Ctx, renderer: Renderer, accountId: string): Tail {
  const audiences = new Map<string, Audience>()
  let seq = 0
  let seated = 0
  let dirty = false
  let reading = false
  let stopped = false
  let pause: NodeJS.Timeout | undefined

  /** At once after a quiet time; after a look, not before the pause is over. */
  function look() {
    dirty = true
    if (reading || pause || stopped) return
    reading = true
    read()
      .catch((error) => {
        if (!stopped) ctx.log.warn({ err: error, account: accountId }, 'the event log could not be read')
        dirty = true
        return POLL_MS
      })
      .then((pauseMs) => {
        reading = false
        if (stopped) return
        pause = setTimeout(() => {
          pause = undefined
          if (dirty) look()
        }, pauseMs).unref()
      })
  }

  async function read(): Promise<number> {
    await begun
    while (dirty && !stopped) {
      dirty = false
      const events = await listEvents(ctx.db, accountId, seq, AT_ONCE)
      if (events.length === 0) break
      const frames = await render(events)
      if (events[0]!.seq > seq + 1) frames.unshift(renderer.gap({ from: seq + 1, to: events[0]!.seq - 1 }))
      handOut(frames)
      seq = events.at(-1)!.seq
      if (events.length === AT_ONCE) dirty = true
    }
    return Math.min(Math.max(seated / SEATS_PER_MS, GATHER_MS.min), GATHER_MS.max)
  }

  /** Only what somebody wants. Who comes in meanwhile and wants something else is not forgotten. */
  async function render(events: readonly Event[]): Promise<Frame[]> {
    for (;;) {
      const known = new Set(audiences.keys())
      const wanted = events.filter(({ type }) => [...audiences.values()].some(({ types }) => types.has(type)))
      const frames = await renderer.events(accountId, wanted)
      if ([...audiences.keys()].every((key) => known.has(key))) return frames
    }
  }

  function handOut(frames: readonly Frame[]) {
    for (const { types, seats } of audiences.values()) {
      const theirs = matching(frames, types)
      const bytes = joined(theirs)
      for (const seat of seats) {
        if (seat.from <= seq) give(seat, bytes, theirs)
        else {
          const rest = theirs.filter((frame) => frame.seq > seat.from)
          give(seat, joined(rest), rest)
        }
      }
    }
  }

  const unsubscribe = ctx.wakes.on(topics.events, (id) => {
    if (id === accountId) look()
  })
  const polling = ctx.db.engine === 'postgres' ? setInterval(look, POLL_MS).unref() : undefined
  const begun = findLastSeq(ctx.db, accountId).then((last) => {
    seq = last
  })

  return {
    begun,
    seq: () => seq,
    join(seat) {
      const key = keyOf(seat.reader)
      const audience = audiences.get(key) ?? { types: seat.reader.types, seats: new Set() }
      audiences.set(key, audience)
      audience.seats.add(seat)
      seated++
    },
    has: (seat) => audiences.get(keyOf(seat.reader))?.seats.has(seat) ?? false,
    leave(seat) {
      const key = keyOf(seat.reader)
      const audience = audiences.get(key)
      if (!audience?.seats.delete(seat)) return
      seated--
      if (audience.seats.size === 0) audiences.delete(key)
    },
    stop() {
      stopped = true
      unsubscribe()
      clearInterval(polling)
      clearTimeout(pause)
    },
  }
}

export function matching(frames: readonly Frame[], types: ReadonlySet<string>): Frame[] {
  return frames.filter(({ type }) => type === null || types.has(type))
}

function joined(frames: readonly Frame[]): Buffer {
  return Buffer.concat(frames.map(({ bytes }) => bytes))
}

function give({ reader }: Seat, bytes: Buffer, frames: readonly Frame[]): void {
  if (frames.length > 0) reader.take(bytes, frames.at(-1)!.seq)
}

function keyOf({ types }: Reader): string {
  return [...types].sort().join()
}
