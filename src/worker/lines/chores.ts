import type { Line } from '../../core/lines/line.js'
import { topics } from '../../core/topics.js'
import type { Ctx, DrivenLine } from '../../services/ctx.js'
import { performWaiting } from '../../services/lines/actions.js'
import { performProfileRequests } from '../../services/lines/profile-work.js'
import type { Lease } from '../../storage/lines/leases.js'

/** What a line does beside sending: what other processes ask of it at once, and changes of its profile. */
export interface Chores {
  /** Look whether there is something to do: a wake-up may have been lost. */
  look(): void
  /** Nothing new is begun; what is under way may finish until then (machine time). */
  stop(deadline: number): Promise<void>
}

export function startChores(ctx: Ctx, line: Line, lease: Lease, act: DrivenLine['act']): Chores {
  let profiles = Promise.resolve()
  let working = false
  let again = false
  let stopping = false
  let cancelTimer = () => {}

  function actForOthers() {
    performWaiting(ctx, line, act).catch((error) =>
      ctx.log.warn({ err: error, line: line.id }, 'an action for another process failed'),
    )
  }

  function changeProfiles() {
    again = true
    if (working) return
    working = true
    profiles = work()
  }

  async function work() {
    while (again && !stopping) {
      again = false
      cancelTimer()
      try {
        const next = await performProfileRequests(ctx, { line, lease, act }, () => stopping)
        if (next !== undefined && !stopping)
          cancelTimer = ctx.clock.after(next - ctx.clock.now(), changeProfiles)
      } catch (error) {
        ctx.log.error({ err: error, line: line.id }, 'changing the profile stumbled and goes on in a second')
        if (!stopping) cancelTimer = ctx.clock.after(1000, changeProfiles)
        break
      }
    }
    // In one go with the last look at `again`: whoever asks next finds nobody at work, and begins.
    working = false
  }

  const subscriptions = [
    ctx.wakes.on(topics.act(line.id), actForOthers),
    ctx.wakes.on(topics.profile(line.id), changeProfiles),
  ]
  changeProfiles()
  return {
    look() {
      actForOthers()
      changeProfiles()
    },
    async stop(deadline) {
      stopping = true
      cancelTimer()
      for (const unsubscribe of subscriptions) unsubscribe()
      const late = new Promise((done) => setTimeout(done, Math.max(0, deadline - Date.now())).unref())
      await Promise.race([profiles, late])
    },
  }
}
