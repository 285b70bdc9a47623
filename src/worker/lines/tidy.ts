import { CLAIM_MS } from '../../core/verify/verified-contact.js'
import { endExpired } from '../../services/accounts/rotation.js'
import { dropOldAudit, endLostChanges } from '../../services/audit/audit.js'
import { endLostCalls } from '../../services/calls/carrier-calls.js'
import type { Ctx } from '../../services/ctx.js'
import { dropOldEvents } from '../../services/events/retention.js'
import { failBlocked } from '../../services/lines/blocks.js'
import { failOrphans } from '../../services/lines/lines.js'
import { failLostProfileRequests } from '../../services/lines/profile-work.js'
import { sweepMedia } from '../../services/media/retention.js'
import { UNACKNOWLEDGED_MS } from '../../services/messages/inbound/sort.js'
import { finishEmptying, removeOrphanedWorlds } from '../../services/sim/worlds.js'
import { sweepDeliveries } from '../../services/webhooks/log.js'
import { dropExpiredSessions } from '../../storage/accounts/console-sessions.js'
import { dropExpiredReplays } from '../../storage/accounts/replays.js'
import { dropExpiredTokens } from '../../storage/accounts/tokens.js'
import { dropExpiredActions } from '../../storage/lines/actions.js'
import { forgetNodes } from '../../storage/lines/leases.js'
import { dropEmptyCounts } from '../../storage/messages/counts.js'
import { dropUnacknowledged } from '../../storage/messages/inbound-ids.js'
import { dropParkedReceipts } from '../../storage/messages/receipts.js'
import { dropStrangers } from '../../storage/verify/verified-contacts.js'
import { dropFaultsOfRemoved } from '../../storage/webhooks/faults.js'

const PARKED_MS = 72 * 3_600_000
/** How long an expired token can still be revoked, before it is deleted. */
const TOKENS_KEPT_MS = 30 * 24 * 3_600_000

/** Ends what waits for removed or blocked lines and for removed worlds, and calls that no carrier ends. */
export async function tidyLines(ctx: Ctx): Promise<void> {
  await runAll([
    () => failOrphans(ctx),
    () => failBlocked(ctx),
    () => endLostCalls(ctx),
    () => finishEmptying(ctx, false),
    () => removeOrphanedWorlds(ctx),
    () => failLostProfileRequests(ctx),
  ])
}

/** Deletes rows whose time is over. */
export async function dropExpired(ctx: Ctx): Promise<void> {
  const now = ctx.clock.now()
  await runAll([
    () => endExpired(ctx),
    () => dropExpiredReplays(ctx.db, now),
    () => dropExpiredTokens(ctx.db, now - TOKENS_KEPT_MS),
    () => dropExpiredSessions(ctx.db, Date.now()),
    () => dropExpiredActions(ctx.db, Date.now()),
    () => dropParkedReceipts(ctx.db, now - PARKED_MS),
    () => dropUnacknowledged(ctx.db, now - UNACKNOWLEDGED_MS),
    () => sweepMedia(ctx, false),
    () => sweepDeliveries(ctx),
    () => dropFaultsOfRemoved(ctx.db),
    () => dropOldEvents(ctx),
    () => endLostChanges(ctx, false),
    () => dropOldAudit(ctx),
    () => ctx.requestLog.removeOld(),
    () => dropStrangers(ctx.db, now - CLAIM_MS),
    () => dropEmptyCounts(ctx.db, now - 2 * 3_600_000),
    () => forgetNodes(ctx.db, 24 * 3_600_000),
  ])
}

/** Runs every step whatever the others do: a damaged row must not end the retention of everything else. */
export async function runAll(steps: readonly (() => Promise<unknown>)[]): Promise<void> {
  const faults: unknown[] = []
  for (const step of steps) await step().catch((error) => faults.push(error))
  if (faults.length > 0) throw faults[0]
}
