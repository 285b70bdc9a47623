import type { Line } from '../../core/lines/line.js'
import { createLoopWatch } from '../../core/messages/loop.js'
import type { NewMessage } from '../../core/messages/message.js'
import { conversationOf } from '../../core/messages/message.js'
import type { Ctx } from '../../services/ctx.js'
import { holdConversation } from '../../services/messages/holds.js'
import type { createLineQueue, Entry } from './queue.js'

/** Watches a line's conversations for loops, and holds back the messages of held conversations. */
interface LoopBreaker {
  heard(message: NewMessage): void
  said(message: NewMessage): void
  /** Until when an entry of the queue must wait; undefined if it may go now. */
  holds(entry: Entry): number | undefined
  stop(): void
}

export function createLoopBreaker(
  ctx: Ctx,
  line: Line,
  queue: () => Pick<ReturnType<typeof createLineQueue>, 'hurryAll'>,
  wake: () => void,
): LoopBreaker {
  let turnsOf: ReturnType<typeof createLoopWatch> | undefined

  function note(message: NewMessage, side: 'in' | 'out') {
    turnsOf ??= createLoopWatch(line.loopLimit ?? ctx.config.loopLimit)
    // On a shared line each account has conversations of its own.
    const turns = turnsOf(`${message.accountId} ${conversationOf(message)}`, side, ctx.clock.now())
    if (turns === undefined) return
    ctx
      .errand(() => holdConversation(ctx, line, message, turns))
      .catch((error) => ctx.log.error({ err: error, line: line.id }, 'a conversation could not be held'))
  }

  const unsubscribe = ctx.holds.onRelease((lineId, conversation) => {
    if (lineId !== line.id) return
    queue().hurryAll(conversation, ctx.clock.now())
    wake()
  })
  return {
    heard: (message) => note(message, 'in'),
    said: (message) => note(message, 'out'),
    holds(entry) {
      const until = ctx.holds.until(line.id, entry.accountId, entry.conversation)
      if (until === undefined) return undefined
      // A hold whose time is over applies until the alarm releases it.
      return Math.max(until, ctx.clock.now() + 1000)
    },
    stop: unsubscribe,
  }
}
