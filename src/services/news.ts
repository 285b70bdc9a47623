import type { Receipt } from '../core/outcome.js'
import type { Ctx } from '../ctx.js'
import { createBatch, type createTurns } from './batch.js'
import type { DispatchLine } from './dispatch-line.js'
import { recordReceipts } from './receipts.js'
import { type Ended, recordResults } from './results.js'

/** What a line's carrier says of our sends: its answers, and its receipts, which often come on their heels. */
export interface News {
  /** Records an answer. Tells when the message needs something done again, if ever. */
  ended(ended: Ended): Promise<number | null>
  receipt(receipt: Receipt): Promise<void>
}

type Item = { ended: Ended } | { receipt: Receipt }

/**
 * Both are written together, the answers first: a receipt that came with its answer, or even before it, finds its
 * send without a look into the database, and the message changes once instead of twice.
 */
export function createNews(ctx: Ctx, on: DispatchLine, inTurn: ReturnType<typeof createTurns>): News {
  const batch = createBatch<Item, number | null>((items) => inTurn(() => record(items)))

  async function record(items: readonly Item[]): Promise<(number | null)[]> {
    const ended = items.flatMap((item) => ('ended' in item ? item.ended : []))
    const receipts = items.flatMap((item) => ('receipt' in item ? item.receipt : []))
    const { next, rest } =
      ended.length > 0 ? await recordResults(ctx, on, ended, receipts) : { next: [], rest: receipts }
    if (rest.length > 0) await recordReceipts(ctx, on, rest)
    let i = 0
    return items.map((item) => ('ended' in item ? next[i++]! : null))
  }

  return {
    ended: (ended) => batch.add({ ended }),
    receipt: async (receipt) => void (await batch.add({ receipt })),
  }
}
