import { nextTurn } from '../../base/turns.js'
import { listEvents } from '../../storage/events/events.js'
import type { Ctx } from '../ctx.js'
import {
  createTail,
  type Follower,
  type Frame,
  matching,
  type Reader,
  type Renderer,
  type Tail,
} from './tail.js'

export interface Following {
  /** The reader has received every event it asked for up to this sequence number. */
  position(): number
  stop(): void
}

export interface EventDesk {
  /**
   * Follows an account's events after this sequence number. Resolves when no later event can be missed; older events
   * are read from the log in the background.
   */
  follow(accountId: string, after: number, reader: Reader): Promise<Following>
}

const AT_ONCE = 100
/** Size of a piece while a reader catches up. */
const PIECE_BYTES = 32 * 1024

/** All stream readers of this process. They share one reader of each account's log. */
export function createEventDesk(ctx: Ctx, renderer: Renderer): EventDesk {
  const open = new Map<string, { tail: Tail; users: number }>()

  function use(accountId: string) {
    const entry = open.get(accountId) ?? { tail: createTail(ctx, renderer, accountId), users: 0 }
    open.set(accountId, entry)
    entry.users++
    let used = true
    return {
      tail: entry.tail,
      release() {
        if (!used) return
        used = false
        if (--entry.users > 0) return
        entry.tail.stop()
        open.delete(accountId)
      },
    }
  }

  /** Reads the log up to the tail, then joins the tail without a gap. */
  async function catchUp(
    tail: Tail,
    accountId: string,
    follower: Follower,
    isOver: () => boolean,
  ): Promise<void> {
    const { reader } = follower
    while (!isOver()) {
      const reached = tail.seq()
      if (follower.from >= reached) return tail.join(follower)
      await nextTurn(accountId)
      const events = await listEvents(ctx.db, accountId, follower.from, AT_ONCE)
      const first = events[0]?.seq ?? reached + 1
      const frames = await renderer.events(
        accountId,
        events.filter(({ type }) => reader.types.has(type)),
      )
      if (first > follower.from + 1) frames.unshift(renderer.gap({ from: follower.from + 1, to: first - 1 }))
      for (const piece of pieces(matching(frames, reader.types))) {
        await reader.ready()
        if (isOver()) return
        reader.take(Buffer.concat(piece.map(({ bytes }) => bytes)), piece.at(-1)!.seq)
      }
      follower.from = events.at(-1)?.seq ?? reached
    }
  }

  return {
    async follow(accountId, after, reader) {
      const { tail, release } = use(accountId)
      const follower: Follower = { reader, from: after }
      let over = false
      const isOver = () => over || reader.isGone()
      const stop = () => {
        over = true
        tail.leave(follower)
        release()
      }
      try {
        await tail.begun
      } catch (error) {
        stop()
        throw error
      }
      catchUp(tail, accountId, follower, isOver).catch((error) => {
        ctx.log.warn({ err: error, account: accountId }, 'a reader of events could not catch up')
        reader.fail()
      })
      return {
        position: () => (tail.has(follower) ? Math.max(follower.from, tail.seq()) : follower.from),
        stop,
      }
    },
  }
}

function pieces(frames: readonly Frame[]): Frame[][] {
  const result: Frame[][] = []
  let size = Number.POSITIVE_INFINITY
  for (const frame of frames) {
    size += frame.bytes.length
    if (size <= PIECE_BYTES) result.at(-1)!.push(frame)
    else {
      result.push([frame])
      size = frame.bytes.length
    }
  }
  return result
}
