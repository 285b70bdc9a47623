import type { Line } from '../core/line.js'
import { createLoopWatch } from '../core/loop.js'
import { conversationOf } from '../core/message.js'
import type { Ctx } from '../ctx.js'
import { holdConversation } from '../services/holds.js'
import type { NewMessage } from '../storage/messages.js'
import type { Entry } from './line-queue.js'

/** Watches a line's conversations for loops, and keeps back what belongs to a held one. */
export interface LoopBreaker {
  heard(message: NewMessage): void
  said(message: NewMessage): void
  /** Until when an entry of the queue must wait; undefined: it may go. */
  holds(entry: Entry): number | undefined
  stop(): void
}

export function createLoopBreaker(ctx: Ctx, line: Line, recheck: (messageId: number) => void): LoopBreaker {
  const turnsOf = createLoopWatch(line.loopLimit ?? ctx.config.loopLimit)
  const kept = new Map<string, number>()

  function note(message: NewMessage, side: 'in' | 'out') {
    const turns = turnsOf(conversationOf(message), side, ctx.clock.now())
    if (turns === undefined) return
    ctx
      .errand(() => holdConversation(ctx, line, message, turns))
      .catch((error) => ctx.log.error({ err: error, line: line.id }, 'a conversation could not be held'))
  }

  const unsubscribe = ctx.holds.onChange(() => {
    for (const [conversation, id] of kept) {
      if (ctx.holds.until(line.id, conversation) !== undefined) continue
      kept.delete(conversation)
      recheck(id)
    }
  })
  return {
    heard: (message) => note(message, 'in'),
    said: (message) => note(message, 'out'),
    holds(entry) {
      const until = ctx.holds.until(line.id, entry.conversation)
      if (until === undefined) return undefined
      kept.set(entry.conversation, entry.id)
      // When its time is over it is still to be released, by whoever does that.
      return Math.max(until, ctx.clock.now() + 1000)
    },
    stop: unsubscribe,
  }
}
