import type { Topic } from '../base/wakes.js'
import { topics } from '../core/topics.js'
import type { Ctx } from '../services/ctx.js'
import { createErasures } from '../services/erasure/erasure.js'
import { createEraser } from '../services/messages/erase.js'
import { releaseDue } from '../services/messages/holds.js'
import { storeOverdueParts } from '../services/messages/inbound/inbound.js'
import { queueDue } from '../services/messages/schedule.js'
import { expireVerificationsDue } from '../services/verify/ends.js'
import { findNextHoldEnd } from '../storage/messages/holds.js'
import { findNextPartsDue } from '../storage/messages/inbound-parts.js'
import { findNextDue } from '../storage/messages/schedule.js'
import { findNextExpiry } from '../storage/verify/verifications.js'
import { createWatch } from './watch.js'

interface Alarm {
  start(): Promise<void>
  /** Checks for due work. */
  look(): Promise<void>
  stop(): Promise<void>
}

interface AlarmOptions {
  /** Hints that new work may be due earlier. */
  topic: Topic<[]>
  /** When the next work is due, from the database, so that it survives this process. */
  next(): Promise<number | undefined>
  run(): Promise<void>
}

/** Runs work at the time stored in the database, then reads the next time. */
function createAlarm(ctx: Ctx, { topic, next, run }: AlarmOptions): Alarm {
  let unsubscribe = () => {}
  const looking = ctx.loops.create(topic.name, async () => {
    const due = await next()
    if (due === undefined || due > ctx.clock.now()) return due
    await run()
    return next()
  })
  const look = () => looking.run().catch(() => {})

  return {
    start() {
      unsubscribe = ctx.wakes.on(topic, looking.ask)
      return look()
    },
    look,
    stop() {
      unsubscribe()
      return looking.stop()
    },
  }
}

/** Work that is due at a time of its own, besides sends and webhooks. `isFirst`: of the processes on the database. */
export function createAlarms(ctx: Ctx, isFirst: () => boolean): Alarm[] {
  return [
    createWatch(ctx, isFirst),
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
    createAlarm(ctx, createErasures(ctx)),
    createAlarm(ctx, {
      topic: topics.schedule,
      next: () => findNextDue(ctx.db),
      run: () => queueDue(ctx),
    }),
  ]
}
