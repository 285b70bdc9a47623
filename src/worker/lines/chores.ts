import { createAgain } from '../../base/again.js'
import type { Line } from '../../core/lines/line.js'
import { topics } from '../../core/topics.js'
import type { Ctx, DrivenLine } from '../../services/ctx.js'
import { performWaiting } from '../../services/lines/actions.js'
import { performProfileRequests } from '../../services/lines/profile-work.js'
import type { Lease } from '../../storage/lines/leases.js'

/** A line's work besides sending: actions requested by other processes, and profile changes. */
interface Chores {
  /** Checks for work, because a hint may have been lost. */
  look(): void
  /** Begins nothing new; work in progress may finish until `deadline` (real time). */
  stop(deadline: number): Promise<void>
}

export function startChores(ctx: Ctx, line: Line, lease: Lease, act: DrivenLine['act']): Chores {
  let stopping = false
  const profiles = createAgain(
    ctx.clock,
    () => performProfileRequests(ctx, { line, lease, act }, () => stopping),
    (error) => {
      ctx.log.error({ err: error, line: line.id }, 'a profile change failed; trying again in a second')
      return 1000
    },
  )

  function actForOthers() {
    performWaiting(ctx, line, act).catch((error) =>
      ctx.log.warn({ err: error, line: line.id }, 'an action for another process failed'),
    )
  }

  const subscriptions = [
    ctx.wakes.on(topics.act(line.id), actForOthers),
    ctx.wakes.on(topics.profile(line.id), profiles.ask),
  ]
  profiles.ask()
  return {
    look() {
      actForOthers()
      profiles.ask()
    },
    async stop(deadline) {
      stopping = true
      for (const unsubscribe of subscriptions) unsubscribe()
      const late = new Promise((done) => setTimeout(done, Math.max(0, deadline - Date.now())).unref())
      await Promise.race([profiles.stop(), late])
    },
  }
}
