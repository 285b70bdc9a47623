import { statusEvent } from '../../core/lines/events.js'
import { healthAfter } from '../../core/lines/health.js'
import type { Line, LineState } from '../../core/lines/line.js'
import type { Sql } from '../../storage/engine/db.js'
import { appendEvents } from '../../storage/events/events.js'
import { keepLease, type Lease } from '../../storage/lines/leases.js'
import { findLine, listLineMembers } from '../../storage/lines/lines.js'
import { findLineState, saveLineState } from '../../storage/lines/states.js'
import type { Ctx } from '../ctx.js'

/**
 * Stores the state that a line's driver reports, unless its lease was lost. A change is an event of every account
 * that uses the line.
 */
export async function recordLineState(
  ctx: Ctx,
  line: Line,
  lease: Lease,
  state: LineState,
  detail: string | null,
): Promise<void> {
  await ctx.db.tx(async (sql) => {
    if (!(await keepLease(sql, lease))) return
    const before = await findLineState(sql, line.id)
    const health = healthAfter(before, state, detail, ctx.clock.now())
    await saveLineState(sql, lease, health)
    // A new line is expected to connect: only a failure is news.
    if ((before?.state ?? 'ONLINE') === state) return
    // A blocked line stays OFFLINE; unblocking it reports the driver's state.
    if ((await findLine(sql, line.id))?.blockedAt) return
    const accounts = await accountsOf(sql, line)
    await appendEvents(
      sql,
      accounts.map((accountId) => statusEvent(accountId, line, health)),
    )
  })
}

/** The accounts that use a line. */
export async function accountsOf(sql: Sql, line: Line): Promise<string[]> {
  return line.accountId ? [line.accountId] : listLineMembers(sql, line.id)
}
