import type { Topic } from '../base/wakes.js'
import type { Ctx } from '../services/ctx.js'

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
export function createAlarm(ctx: Ctx, { topic, next, run }: AlarmOptions): Alarm {
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
