import { createAgain } from '../base/again.js'
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
  let unsubscribe = () => {}
  const looking = createAgain(
    ctx.clock,
    async () => {
      const due = await next()
      if (due === undefined || due > ctx.clock.now()) return due
      await run()
      return next()
    },
    (error) => {
      ctx.log.warn({ err: error, topic: topic.name }, 'what is due could not be done; trying again')
      return 1000
    },
  )
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
