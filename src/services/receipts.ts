import { messageEvent } from '../core/event.js'
import type { Line } from '../core/line.js'
import { mayAdvance, type Service } from '../core/message.js'
import { afterReceipt, type Receipt } from '../core/outcome.js'
import type { Ctx } from '../ctx.js'
import { type Attempt, endAttempts, findAttemptsByProvider, findAttemptsByRef } from '../storage/attempts.js'
import { appendEvents } from '../storage/events.js'
import { type Change, lockMessages } from '../storage/messages.js'
import { type ParkedReceipt, parkReceipt } from '../storage/receipts.js'
import { saveChanges } from './dispatch.js'

interface On {
  line: Line
  services: readonly Service[]
}

/**
 * Carriers' status news, in whatever order and number they come. A message only moves forward, one event per
 * change; what matches nothing yet is parked until the send it is about has its id.
 */
export async function recordReceipts(ctx: Ctx, on: On, receipts: readonly Receipt[]): Promise<void> {
  const settled = await ctx.db.tx(async (sql) => {
    const now = ctx.clock.now()
    const [byProvider, byRef] = await Promise.all([
      findAttemptsByProvider(sql, on.line.id, receipts.flatMap((r) => r.providerId ?? [])),
      findAttemptsByRef(sql, receipts.flatMap((r) => r.ref ?? [])),
    ])
    const matched: { attempt: Attempt; receipt: Receipt }[] = []
    for (const receipt of receipts) {
      const own = receipt.ref ? byRef.get(receipt.ref) : undefined
      const attempt = (receipt.providerId && byProvider.get(receipt.providerId)) || (own?.lineId === on.line.id ? own : undefined)
      if (attempt) matched.push({ attempt, receipt })
      else if (receipt.providerId) {
        await parkReceipt(sql, on.line.id, { providerId: receipt.providerId, status: receipt.status, report: { ...receipt } }, now)
      }
    }
    const messages = await lockMessages(sql, [...new Set(matched.map(({ attempt }) => attempt.messageId))])
    const changes = new Map<number, Change>()
    const proven: Attempt[] = []
    for (const { attempt, receipt } of matched) {
      const change = changes.get(attempt.messageId)
      const current = change?.after ?? messages.get(attempt.messageId)
      if (!current) continue
      const after = afterReceipt(current, attempt, receipt, on, now)
      if (!after) continue
      changes.set(attempt.messageId, { before: change?.before ?? current, after })
      if (attempt.state === 'on_wire' || attempt.state === 'unknown') {
        proven.push({ ...attempt, state: 'accepted', providerId: receipt.providerId ?? attempt.providerId, endedAt: now })
      }
    }
    if (proven.length > 0) await endAttempts(sql, proven)
    await saveChanges(sql, [...changes.values()])
    return [...changes.values()].filter(({ before }) => before.nextActionAt !== null).map(({ after }) => after.id)
  })
  for (const id of settled) ctx.lines.get(on.line.id)?.recheck(id)
}

/** A receipt that came before the send it is about had its id: it applies now, on top of the send's result. */
export function applyParked(on: On, parked: ParkedReceipt, attempt: Attempt, changes: Change[], now: number): void {
  const change = changes.find(({ after }) => after.id === attempt.messageId)
  const after = change && afterReceipt(change.after, attempt, parked.report as unknown as Receipt, on, now)
  if (change && after) change.after = after
}

/** A person read our message: an event, never a status. */
export async function recordRead(ctx: Ctx, on: On, read: { providerId: string; at: number }): Promise<void> {
  await ctx.db.tx(async (sql) => {
    const attempt = (await findAttemptsByProvider(sql, on.line.id, [read.providerId])).get(read.providerId)
    const message = attempt && (await lockMessages(sql, [attempt.messageId])).get(attempt.messageId)
    if (!message) return
    // Reading proves arrival, even when the receipt for that got lost.
    if (mayAdvance(message, 'DELIVERED') && message.service !== 'SMS') {
      const after = afterReceipt(message, attempt, { providerId: read.providerId, status: 'DELIVERED', at: read.at }, on, ctx.clock.now())
      if (after) await saveChanges(sql, [{ before: message, after }])
    }
    await appendEvents(sql, [{ ...messageEvent('message.read', message), at: read.at, data: { readAt: read.at } }])
  })
}
