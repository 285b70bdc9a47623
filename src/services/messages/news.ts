import { createBatch } from '../../base/batch.js'
import type { InTurn } from '../../base/turns.js'
import type { Receipt } from '../../core/messages/outcome.js'
import { isStorageFault } from '../../storage/engine/db.js'
import type { Ctx } from '../ctx.js'
import type { DispatchLine } from './dispatch-line.js'
import { recordReceipts } from './receipts.js'
import { type ClaimResult, recordResults } from './results.js'

/** Answers and receipts of a line's carrier. A receipt often follows its answer at once. */
export interface News {
  /** Records an answer. Returns when the message needs attention again, or null. */
  ended(ended: ClaimResult): Promise<number | null>
  receipt(receipt: Receipt): Promise<void>
}

type Item = { ended: ClaimResult } | { receipt: Receipt }
/** A receipt that cannot be written fails alone: the carrier repeats it. */
type Written = { next: number | null } | { fault: unknown }

/**
 * Writes both in one transaction, answers first: a receipt that comes with its answer, or before it, finds its send
 * without a query, and the message changes once instead of twice.
 */
export function createNews(ctx: Ctx, on: DispatchLine, inTurn: InTurn): News {
  const batch = createBatch<Item, Written>((items) => inTurn(() => record(items)), isStorageFault, {
    size: ctx.portion,
  })

  async function record(items: readonly Item[]): Promise<Written[]> {
    const ended = items.flatMap((item) => ('ended' in item ? item.ended : []))
    const receipts = items.flatMap((item) => ('receipt' in item ? item.receipt : []))
    const { next, rest } =
      ended.length > 0 ? await recordResults(ctx, on, ended, receipts) : { next: [], rest: receipts }
    for (const { status } of receipts) ctx.metrics.receipts.inc({ driver: on.line.driver, status })
    // The answers are on disk: a failing receipt must not write them again.
    const faults = await recordEach(rest)
    let i = 0
    return items.map((item) => {
      if ('ended' in item) return { next: next[i++]! }
      return faults.has(item.receipt) ? { fault: faults.get(item.receipt) } : { next: null }
    })
  }

  /** Writes receipts together; if that fails, one by one. */
  async function recordEach(receipts: readonly Receipt[]): Promise<Map<Receipt, unknown>> {
    const faults = new Map<Receipt, unknown>()
    if (receipts.length === 0) return faults
    try {
      await recordReceipts(ctx, on, receipts)
    } catch (error) {
      if (receipts.length === 1 || isStorageFault(error)) for (const one of receipts) faults.set(one, error)
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
