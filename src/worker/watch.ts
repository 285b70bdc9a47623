import { ALERT_KINDS } from '../core/alerts/alert.js'
import { topics } from '../core/topics.js'
import { createAlertWatch } from '../services/alerts/watch.js'
import type { Ctx } from '../services/ctx.js'

const BEAT_MS = 30_000
/** Until the next look when a page was full. */
const FURTHER_MS = 2000

/**
 * Watches for alerts, in one of the processes: the oldest. Two for a moment do no harm. On a frozen clock it looks only
 * after the time was moved: tests move it by whole days.
 */
export function createWatch(ctx: Ctx, isFirst: () => boolean) {
  const watch = createAlertWatch(ctx)
  let subscriptions: (() => void)[] = []
  let timer: NodeJS.Timeout | undefined
  /** Whether the next look is at every kind of alert, not at quotas only. */
  let isWhole = false
  const looking = ctx.loops.create('alerts', async () => {
    const kinds = isWhole ? ALERT_KINDS : (['quota.near'] as const)
    isWhole = false
    if (!isFirst() || !(await watch.look(kinds))) return undefined
    isWhole = true
    return ctx.clock.now() + FURTHER_MS
  })

  function beat() {
    isWhole = true
    looking.ask()
  }

  return {
    async start() {
      subscriptions = [
        ctx.wakes.on(topics.alerts, beat),
        ctx.wakes.on(topics.resets, watch.forget),
        ctx.wakes.on(topics.quotas, (accountId) => {
          if (isFirst() && watch.hint(accountId)) looking.ask()
        }),
      ]
      if (!ctx.clock.isFrozen) timer = setInterval(beat, BEAT_MS).unref()
    },
    /** Housekeeping need not ask for a beat, and at the start lines have time to connect. */
    async look() {},
    stop() {
      clearInterval(timer)
      for (const unsubscribe of subscriptions) unsubscribe()
      return looking.stop()
    },
  }
}
