import { eraseTexts, findOldestUnerased, listUnerased } from '../../storage/messages/erase.js'
import { lockMessages } from '../../storage/messages/messages.js'
import type { Ctx } from '../ctx.js'
import { RETRY_WINDOW_MS } from '../replay.js'

/** A retry of a send, or a copy that its carrier returns, is recognised by its text, and comes within this time. */
const NEEDED_MS = RETRY_WINDOW_MS
const AT_ONCE = 100
/** A scrub stops all writes for a moment. */
const SCRUB_EVERY_MS = 60_000

/**
 * Erases the texts of deleted messages once nothing needs them, and then what the database's files keep of them. The
 * first round also scrubs what a crash left.
 */
export function createEraser(ctx: Ctx) {
  let scrubAt: number | undefined = ctx.clock.now()
  let lastScrubAt = Number.NEGATIVE_INFINITY

  async function next(): Promise<number | undefined> {
    const oldest = await findOldestUnerased(ctx.db)
    const times = [oldest === undefined ? undefined : oldest + NEEDED_MS, scrubAt]
    const due = times.filter((time) => time !== undefined)
    return due.length > 0 ? Math.min(...due) : undefined
  }

  async function run(): Promise<void> {
    const now = ctx.clock.now()
    while (await eraseSome(ctx)) scrubAt ??= Math.max(now, lastScrubAt + SCRUB_EVERY_MS)
    if (scrubAt === undefined || scrubAt > now) return
    lastScrubAt = now
    scrubAt = (await ctx.db.scrub()) ? undefined : now + SCRUB_EVERY_MS
  }

  return { next, run }
}

/** Returns whether it erased anything. */
function eraseSome(ctx: Ctx): Promise<boolean> {
  return ctx.db.tx(async (sql) => {
    const ids = await listUnerased(sql, ctx.clock.now() - NEEDED_MS, AT_ONCE)
    if (ids.length === 0) return false
    await lockMessages(sql, ids)
    await eraseTexts(sql, ids)
    return true
  })
}
