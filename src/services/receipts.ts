import { messageEvent } from '../core/event.js'
import { type Message, mayAdvance } from '../core/message.js'
import { afterReceipt, passedBetween, type Receipt } from '../core/outcome.js'
import type { Ctx } from '../ctx.js'
import { type Attempt, endAttempts, findAttemptsByProvider, findAttemptsByRef } from '../storage/attempts.js'
import type { Sql, Writes } from '../storage/db.js'
import { appendEvents } from '../storage/events.js'
import { requireMessages } from '../storage/fences.js'
import { lockLine } from '../storage/leases.js'
import { isCurrent, requireCurrent } from '../storage/lines.js'
import { type Change, findMessagesById, lockMessages } from '../storage/messages.js'
import {
  listMatchedReceipts,
  type ParkedReceipt,
  parkReceipt,
  takeParkedReceipts,
} from '../storage/receipts.js'
import { saveChanges, unlessChanged } from './changes.js'
import type { ReceiptLine, RecentSend, RecentSends } from './dispatch-line.js'

/**
 * Carriers' status news, in whatever order and number they come. A message only moves forward, one event per
 * change; what matches nothing yet is parked until the send it is about has its id.
 */
export async function recordReceipts(ctx: Ctx, on: ReceiptLine, receipts: readonly Receipt[]): Promise<void> {
  ctx.failpoint('receipt.before_commit')
  const changes = await unlessChanged(
    async () => {
      const verdict = await judge(ctx.db, findMessagesById, on, receipts, ctx.clock.now(), on.recent)
      const ids = verdict.changes.map(({ before }) => before.id)
      await ctx.db.write((sql) =>
        Promise.all([verdict.write(sql), requireMessages(sql, ids), requireCurrent(sql, [on.line])]),
      )
      return verdict.changes
    },
    () =>
      ctx.db.tx(async (sql) => {
        await lockLine(sql, on.line.id)
        if (!(await isCurrent(sql, on.line))) return []
        const verdict = await judge(sql, lockMessages, on, receipts, ctx.clock.now())
        await verdict.write(sql)
        return verdict.changes
      }),
  )
  ctx.failpoint('receipt.after_commit')
  for (const { before, after } of changes)
    if (before.nextActionAt !== null) ctx.lines.get(on.line.id)?.recheck(after.id)
}

/** What receipts change, and how to write it. */
async function judge(
  sql: Sql,
  find: typeof lockMessages,
  on: ReceiptLine,
  receipts: readonly Receipt[],
  now: number,
  recent?: RecentSends,
) {
  const remembered = new Map<string, RecentSend>()
  for (const { providerId } of receipts) {
    const send = providerId && recent?.take(providerId)
    if (send) remembered.set(providerId, send)
  }
  const [byProvider, byRef] = await Promise.all([
    findAttemptsByProvider(
      sql,
      on.line.id,
      receipts.flatMap((r) => (r.providerId && !remembered.has(r.providerId) ? r.providerId : [])),
    ),
    findAttemptsByRef(
      sql,
      receipts.flatMap((r) => r.ref ?? []),
    ),
  ])
  for (const [providerId, send] of remembered) byProvider.set(providerId, send.attempt)
  const matched: { attempt: Attempt; receipt: Receipt }[] = []
  const unmatched: Receipt[] = []
  for (const receipt of receipts) {
    const own = receipt.ref ? byRef.get(receipt.ref) : undefined
    const attempt =
      (receipt.providerId && byProvider.get(receipt.providerId)) ||
      (own?.lineId === on.line.id ? own : undefined)
    if (attempt) matched.push({ attempt, receipt })
    else unmatched.push(receipt)
  }
  const known = new Map([...remembered.values()].map(({ message }) => [message.id, message]))
  const wanted = new Set(matched.map(({ attempt }) => attempt.messageId).filter((id) => !known.has(id)))
  const messages = new Map([...known, ...(await find(sql, [...wanted]))])
  const changes = new Map<number, Change>()
  const proven: Attempt[] = []
  for (const { attempt, receipt } of matched) {
    const change = changes.get(attempt.messageId)
    const current = change?.after ?? messages.get(attempt.messageId)
    const after = current && afterReceipt(current, attempt, receipt, on, now)
    if (!after) continue
    changes.set(attempt.messageId, movedOn(change ?? { before: current, after: current }, after, attempt))
    if (attempt.state === 'on_wire' || attempt.state === 'unknown') {
      proven.push({
        ...attempt,
        state: 'accepted',
        providerId: receipt.providerId ?? attempt.providerId,
        endedAt: now,
      })
    }
  }
  return {
    changes: [...changes.values()],
    write: (writes: Writes) =>
      Promise.all([
        ...unmatched.flatMap((receipt) =>
          receipt.providerId ? parkReceipt(writes, on.line.id, parked(receipt), now) : [],
        ),
        endAttempts(writes, proven),
        saveChanges(writes, [...changes.values()]),
      ]),
  }
}

function parked(receipt: Receipt): ParkedReceipt {
  return { providerId: receipt.providerId!, status: receipt.status, report: { ...receipt } }
}

const UNANSWERED: ReadonlySet<string> = new Set(['unknown', 'given_up'])

/** The change with one more step, and with what lies between. */
function movedOn(change: Change, to: Message, attempt: Attempt): Change {
  const { via, after } = passedBetween(change.after, to, !UNANSWERED.has(attempt.state))
  return { before: change.before, via: [...(change.via ?? []), change.after, ...via], after }
}

/** A receipt that came before the send it is about had its id: it applies now, on top of the send's result. */
export function applyParked(
  on: Omit<ReceiptLine, 'recent'>,
  parked: ParkedReceipt,
  attempt: Attempt,
  changes: Change[],
  now: number,
): void {
  const change = changes.find(({ after }) => after.id === attempt.messageId)
  const after = change && afterReceipt(change.after, attempt, parked.report as unknown as Receipt, on, now)
  if (change && after) Object.assign(change, movedOn(change, after, attempt))
}

/**
 * Two processes may overlap on a line for a moment, when one loses it without knowing: then a receipt can be
 * parked in the very moment its send gets its id, and neither sees the other. Such receipts are found here.
 */
export async function rematchParked(ctx: Ctx, on: Omit<ReceiptLine, 'recent'>): Promise<void> {
  if ((await listMatchedReceipts(ctx.db, on.line.id)).length === 0) return
  await ctx.db.tx(async (sql) => {
    await lockLine(sql, on.line.id)
    const ids = await listMatchedReceipts(sql, on.line.id)
    const attempts = await findAttemptsByProvider(sql, on.line.id, ids)
    const messages = await lockMessages(
      sql,
      [...attempts.values()].map((attempt) => attempt.messageId),
    )
    const changes: Change[] = [...messages.values()].map((message) => ({ before: message, after: message }))
    for (const receipt of await takeParkedReceipts(sql, on.line.id, ids)) {
      const attempt = attempts.get(receipt.providerId)
      if (attempt) applyParked(on, receipt, attempt, changes, ctx.clock.now())
    }
    await saveChanges(sql, changes)
  })
}

/** A person read our message: an event, never a status. */
export async function recordRead(
  ctx: Ctx,
  on: Omit<ReceiptLine, 'recent'>,
  read: { providerId: string; at: number },
): Promise<void> {
  await ctx.db.tx(async (sql) => {
    const attempt = (await findAttemptsByProvider(sql, on.line.id, [read.providerId])).get(read.providerId)
    const message = attempt && (await lockMessages(sql, [attempt.messageId])).get(attempt.messageId)
    if (!message) return
    // Reading proves arrival, even when the receipt for that got lost.
    if (mayAdvance(message, 'DELIVERED') && message.service !== 'SMS') {
      const after = afterReceipt(
        message,
        attempt,
        { providerId: read.providerId, status: 'DELIVERED', at: read.at },
        on,
        ctx.clock.now(),
      )
      if (after) await saveChanges(sql, [movedOn({ before: message, after: message }, after, attempt)])
    }
    await appendEvents(sql, [
      { ...messageEvent('message.read', message), at: ctx.clock.now(), data: { readAt: read.at } },
    ])
  })
}
