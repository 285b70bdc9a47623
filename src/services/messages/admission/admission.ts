import { overBudget } from '../../../core/accounts/budgets.js'
import { AppError } from '../../../core/errors.js'
import type { NewMessage } from '../../../core/messages/message.js'
import type { Ctx, QueuePlace, QueueState } from '../../ctx.js'

/** Decides before anything is stored whether a send may enter. */
interface Admission {
  /** Why a message would not be admitted now. */
  refusalOf(place: QueuePlace): AppError | undefined
  /** Admits a message to its line's queue, or tells why not. */
  enter(message: NewMessage): QueueState | AppError
  /** The message is stored and waits for its line, or not. */
  exit(message: NewMessage, waits: boolean): void
}

/** A refused sender comes back when a tenth of its queue has gone out, but not at once and not after minutes. */
const ROOM_SHARE = 0.1
const MIN_WAIT_MS = 1000
const MAX_WAIT_MS = 60_000

/** `unwritten` is the number of sends that wait for the database. */
export function createAdmission(
  ctx: Pick<Ctx, 'config' | 'backlog' | 'disk'>,
  unwritten: () => number,
): Admission {
  const entered = new Map<string, number>()

  /** While the database is behind, each account has an equal share of the room; a quiet one is not refused. */
  function isOverShare(accountId: string): boolean {
    const { maxUnwrittenSends } = ctx.config
    return (
      unwritten() >= maxUnwrittenSends && (entered.get(accountId) ?? 0) >= maxUnwrittenSends / entered.size
    )
  }

  function lineFull(place: QueuePlace): AppError {
    const { limit, ...queue } = ctx.backlog.state(place)
    const wait = Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, queue.waitMs * ROOM_SHARE))
    return overBudget('queued', limit, wait, { queue })
  }

  function refusalOf(place: QueuePlace): AppError | undefined {
    const full = ctx.disk.refusal()
    if (full) return full
    if (isOverShare(place.accountId)) return databaseBehind(unwritten(), ctx.backlog.state(place))
    const { length, limit } = ctx.backlog.state(place)
    return length >= limit ? lineFull(place) : undefined
  }

  return {
    refusalOf,
    enter(message) {
      const { accountId } = message
      const queue = ctx.disk.refusal() || isOverShare(accountId) ? undefined : ctx.backlog.join(message)
      if (!queue) return refusalOf(message)!
      entered.set(accountId, (entered.get(accountId) ?? 0) + 1)
      return queue
    },
    exit(message, waits) {
      const { accountId } = message
      ctx.backlog.settle(message, waits)
      const left = entered.get(accountId)! - 1
      if (left > 0) entered.set(accountId, left)
      else entered.delete(accountId)
    },
  }
}

function databaseBehind(n: number, { length, waitMs }: QueueState): AppError {
  return new AppError(
    'unavailable',
    `The database writes more slowly than messages arrive: ${n} sends wait for it. Nothing was stored. Try again as Retry-After says.`,
    { retryAfterMs: MIN_WAIT_MS, queue: { length, waitMs } },
  )
}
