import type { Reply } from './requests.js'

/**
 * Answers that the carrier may not have read yet. A carrier that is gone before it has read an answer redelivers the
 * message. It reads in order, so its answer to a later request proves that it has read what came before.
 */
export interface UnreadAnswers {
  /** Calls `onRead` when the carrier has read the answer that was just written, and asks the carrier for a proof. */
  add(onRead: () => void): void
  /** The answer to this request, which has just been sent, is a proof. */
  provenBy(request: Promise<Reply>): Promise<void>
}

/** `ask` sends a request without effect. `lasts` tells whether the connection is still there. */
export function createUnreadAnswers(ask: () => Promise<Reply>, lasts: () => boolean): UnreadAnswers {
  let waiting: (() => void)[] = []
  let isAsking = false

  async function provenBy(request: Promise<Reply>) {
    const before = waiting
    waiting = []
    const { answer } = await request
    // Without an answer on a connection that lasts, the carrier does not know the request.
    if (answer || lasts()) for (const tell of before) tell()
  }
  return {
    provenBy,
    async add(onRead) {
      waiting.push(onRead)
      if (isAsking) return
      isAsking = true
      while (waiting.length > 0 && lasts()) await provenBy(ask())
      isAsking = false
    },
  }
}
