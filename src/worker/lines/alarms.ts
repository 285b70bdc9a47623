import { topics } from '../../core/topics.js'
import type { Ctx } from '../../services/ctx.js'
import { createEraser } from '../../services/messages/erase.js'
import { releaseDue } from '../../services/messages/holds.js'
import { storeOverdueParts } from '../../services/messages/inbound/inbound.js'
import { queueDue } from '../../services/messages/schedule.js'
import { expireVerificationsDue } from '../../services/verify/ends.js'
import { findNextHoldEnd } from '../../storage/messages/holds.js'
import { findNextPartsDue } from '../../storage/messages/inbound-parts.js'
import { findNextDue } from '../../storage/messages/schedule.js'
import { findNextExpiry } from '../../storage/verify/verifications.js'
import { type Alarm, createAlarm } from '../alarm.js'

/** Work on messages that is due at a stored time. */
export function createAlarms(ctx: Ctx): Alarm[] {
  return [
    createAlarm(ctx, {
      topic: topics.verifications,
      next: () => findNextExpiry(ctx.db),
      run: () => expireVerificationsDue(ctx),
    }),
    createAlarm(ctx, {
      topic: topics.parts,
      next: () => findNextPartsDue(ctx.db),
      run: () => storeOverdueParts(ctx),
    }),
    createAlarm(ctx, {
      topic: topics.holds,
      next: () => findNextHoldEnd(ctx.db, ctx.clock.now()),
      run: () => releaseDue(ctx),
    }),
    createAlarm(ctx, { topic: topics.erasures, ...createEraser(ctx) }),
    createAlarm(ctx, {
      topic: topics.schedule,
      next: () => findNextDue(ctx.db),
      run: () => queueDue(ctx),
    }),
  ]
}
