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
  const profiles = ctx.loops.create(
    'profile changes',
    () => performProfileRequests(ctx, { line, lease, act }, () => stopping),
    { fields: { line: line.id } },
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
