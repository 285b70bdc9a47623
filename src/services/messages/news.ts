import type { Receipt } from '../../core/messages/outcome.js'
import { concernsAll, createBatch, type createTurns } from '../batch.js'
import type { Ctx } from '../ctx.js'
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
/** A receipt that could not be written fails alone: its carrier brings it again. */
type Written = { next: number | null } | { fault: unknown }

/**
 * Both are written together, the answers first: a receipt that came with its answer, or even before it, finds its
 * send without a look into the database, and the message changes once instead of twice.
 */
export function createNews(ctx: Ctx, on: DispatchLine, inTurn: ReturnType<typeof createTurns>): News {
  const batch = createBatch<Item, Written>((items) => inTurn(() => record(items)))

  async function record(items: readonly Item[]): Promise<Written[]> {
    const ended = items.flatMap((item) => ('ended' in item ? item.ended : []))
    const receipts = items.flatMap((item) => ('receipt' in item ? item.receipt : []))
    const { next, rest } =
      ended.length > 0 ? await recordResults(ctx, on, ended, receipts) : { next: [], rest: receipts }
    // The answers are on disk: nothing that happens to receipts may have them written again.
    const faults = await recordEach(rest)
    let i = 0
    return items.map((item) => {
      if ('ended' in item) return { next: next[i++]! }
      return faults.has(item.receipt) ? { fault: faults.get(item.receipt) } : { next: null }
    })
  }

  /** Together if that can be, else one by one. */
  async function recordEach(receipts: readonly Receipt[]): Promise<Map<Receipt, unknown>> {
    const faults = new Map<Receipt, unknown>()
    if (receipts.length === 0) return faults
    try {
      await recordReceipts(ctx, on, receipts)
    } catch (error) {
      if (receipts.length === 1 || concernsAll(error)) for (const one of receipts) faults.set(one, error)
      else
        for (const one of receipts)
          for (const [failed, fault] of await recordEach([one])) faults.set(failed, fault)
    }
    return faults
  }

  async function add(item: Item): Promise<number | null> {
    const written = await batch.add(item)
    if ('fault' in written) throw written.fault
    return written.next
  }

  return {
    ended: (ended) => add({ ended }),
    receipt: async (receipt) => void (await add({ receipt })),
  }
}
