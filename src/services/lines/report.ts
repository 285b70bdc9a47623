import { firstIdAt } from '../../base/ids.js'
import { outcomeOf } from '../../core/insight/overview.js'
import type { Capabilities } from '../../core/lines/line.js'
import { findCallSettings } from '../../storage/calls/forwarding.js'
import { type LineWithHealth, listLinesWithHealth } from '../../storage/lines/states.js'
import { listWireTimes } from '../../storage/messages/attempts.js'
import { type Cell, DAY_MS, listCells } from '../../storage/messages/counts.js'
import { countWaiting } from '../../storage/messages/queue.js'
import type { Ctx } from '../ctx.js'
import { type Actor, isWithin, linesOf } from '../messages/outbound.js'

/** State and queue of a line. */
export interface LineReport extends LineWithHealth {
  capabilities: Capabilities | undefined
  queue: LineQueue
  /** Sends of the last second, to compare with the line's pace. */
  paceUsed: number
  forwardingNumber: string | null
  today: { sent: number; failed: number; received: number }
}

export interface LineQueue {
  waiting: number
  /** The queue is longer than was counted. */
  isMore: boolean
  /** When the oldest waiting message was accepted. */
  since: number | null
}

const SECOND_MS = 1000
/** Messages of a queue that are counted at most. */
const COUNTED = 10_000

export async function reportLines(ctx: Ctx, actor: Actor): Promise<LineReport[]> {
  const accountId = actor.account.id
  const known = (await listLinesWithHealth(ctx.db, accountId)).filter(({ line }) =>
    isWithin(actor, line.number),
  )
  const now = ctx.clock.now()
  const day = Math.floor(now / DAY_MS) * DAY_MS
  const [usable, cells] = await Promise.all([
    linesOf(ctx, actor),
    listCells(ctx.db, accountId, 'sent', DAY_MS, day, day + DAY_MS),
  ])
  return Promise.all(
    known.map(async ({ line, health }) => {
      const since = now - SECOND_MS
      const [queue, wireTimes, calls] = await Promise.all([
        queueOf(ctx, accountId, line.id),
        listWireTimes(ctx.db, line.id, firstIdAt(since)),
        findCallSettings(ctx.db, line.id),
      ])
      return {
        line,
        health,
        capabilities: usable.get(line.number)?.capabilities,
        queue,
        paceUsed: wireTimes.filter((at) => at > since).length,
        forwardingNumber: line.kind === 'shared' ? null : calls.forwardingNumber,
        today: todayOf(cells.filter((cell) => cell.lineId === line.id)),
      }
    }),
  )
}

async function queueOf(ctx: Ctx, accountId: string, lineId: string): Promise<LineQueue> {
  const { n, since } = await countWaiting(ctx.db, lineId, accountId, COUNTED)
  return { waiting: n, isMore: n >= COUNTED, since }
}

function todayOf(cells: readonly Cell[]): LineReport['today'] {
  const today = { sent: 0, failed: 0, received: 0 }
  for (const { isOutbound, status, n } of cells) {
    const outcome = outcomeOf(status)
    if (!isOutbound) today.received += n
    else if (outcome === 'failed') today.failed += n
    else if (outcome !== 'waiting') today.sent += n
  }
  return today
}
