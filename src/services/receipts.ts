import { messageEvent } from '../core/event.js'
import type { Line } from '../core/line.js'
import { mayAdvance, type Service } from '../core/message.js'
import { afterReceipt, type Receipt } from '../core/outcome.js'
import type { Ctx } from '../ctx.js'
import { type Attempt, endAttempts, findAttemptsByProvider, findAttemptsByRef } from '../storage/attempts.js'
import type { Sql } from '../storage/db.js'
import { insertEvents, reserveEventNumbers } from '../storage/events.js'
import { type Change, lockMessages } from '../storage/messages.js'
import { parkReceipt, takeParkedReceipts } from '../storage/receipts.js'
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
    const byProvider = await findAttemptsByProvider(sql, on.line.id, receipts.flatMap((r) => r.providerId ?? []))
    const byRef = await findAttemptsByRef(sql, receipts.flatMap((r) => r.ref ?? []))
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

/** Receipts that came before the send they are about had its id: they apply now, in the same transaction. */
export async function applyParked(
  sql: Sql,
  on: On,
  ended: readonly { claimed: { attempt: Attempt }; result: { outcome: string; providerId?: string } }[],
  changes: Change[],
  now: number,
): Promise<void> {
  const accepted = ended.filter(({ result }) => result.outcome === 'accepted')
  if (accepted.length === 0) return
  const parked = await takeParkedReceipts(sql, on.line.id, accepted.map(({ result }) => result.providerId!))
  for (const { providerId, report } of parked) {
    const attempt = accepted.find(({ result }) => result.providerId === providerId)!.claimed.attempt
    const change = changes.find(({ after }) => after.id === attempt.messageId)
    const after = change && afterReceipt(change.after, attempt, report as unknown as Receipt, on, now)
    if (change && after) change.after = after
  }
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
    const numbers = await reserveEventNumbers(sql, new Map([[message.accountId, 1]]))
    await insertEvents(sql, numbers, [{ ...messageEvent('message.read', message), at: read.at, data: { readAt: read.at } }])
  })
}
