import type { Topic } from '../base/wakes.js'
import type { Ctx } from '../services/ctx.js'

export interface Alarm {
  start(): Promise<void>
  /** Looks whether something is due. */
  look(): Promise<void>
  stop(): Promise<void>
}

export interface AlarmOptions {
  /** Woken when something new may be due earlier. */
  topic: Topic<[]>
  /** When the next thing is due, from the database: what is due survives this process. */
  next(): Promise<number | undefined>
  run(): Promise<void>
}

/** Does something at the time the database says, and then asks for the next time. */
export function createAlarm(ctx: Ctx, { topic, next, run }: AlarmOptions): Alarm {
  let cancel = () => {}
  let unsubscribe = () => {}
  let stopped = false
  let turn: Promise<void> = Promise.resolve()

  function look(): Promise<void> {
    turn = turn.then(async () => {
      if (stopped) return
      try {
        let due = await next()
        if (due !== undefined && due <= ctx.clock.now()) {
          await run()
          due = await next()
        }
        cancel()
        if (due !== undefined && !stopped) cancel = ctx.clock.after(due - ctx.clock.now(), () => void look())
      } catch (error) {
        // Not lost: it is looked for again when something wakes it, and from time to time.
        ctx.log.warn({ err: error, topic: topic.name }, 'what is due could not be done')
      }
    })
    return turn
  }

  return {
    start() {
      unsubscribe = ctx.wakes.on(topic, () => void look())
      return look()
    },
    look,
    async stop() {
      stopped = true
      cancel()
      unsubscribe()
      await turn
    },
  }
}
