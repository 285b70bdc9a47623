import type { Line, LineState } from '../core/line.js'
import { healthAfter, statusEvent } from '../core/line-state.js'
import type { Ctx } from '../ctx.js'
import type { Sql } from '../storage/db.js'
import { appendEvents } from '../storage/events.js'
import type { Lease } from '../storage/leases.js'
import { claimLineState, saveLineState } from '../storage/line-states.js'
import { findLine, listLineMembers } from '../storage/lines.js'

/** Writes down what a line's driver says of it. A change is an event of every account that uses the line. */
export async function recordLineState(
  ctx: Ctx,
  line: Line,
  lease: Lease,
  state: LineState,
  detail: string | null,
): Promise<void> {
  await ctx.db.tx(async (sql) => {
    const before = await claimLineState(sql, lease)
    if (before === false) return
    const health = healthAfter(before, state, detail, ctx.clock.now())
    await saveLineState(sql, lease, health)
    // A new line is expected to come up: only that it does not is news.
    if ((before?.state ?? 'ONLINE') === state) return
    // A blocked line is OFFLINE all the time; how it is then is told when it is free again.
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
