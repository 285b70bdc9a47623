import { readEvent } from '../../core/events/message-events.js'
import { afterReceipt, passedBetween } from '../../core/messages/after-receipt.js'
import { type Message, mayAdvance, OUTCOME_UNKNOWN } from '../../core/messages/message.js'
import { optedOutError } from '../../core/messages/opted-out.js'
import { failMessage, type Receipt } from '../../core/messages/outcome.js'
import { partAfter, wholeReceipt } from '../../core/messages/part.js'
import type { Sql, Writes } from '../../storage/engine/db.js'
import { appendEvents } from '../../storage/events/events.js'
import { lockLine } from '../../storage/lines/leases.js'
import { isCurrent, requireCurrent } from '../../storage/lines/lines.js'
import {
  type AttemptPart,
  insertAttemptParts,
  saveAttemptParts,
} from '../../storage/messages/attempt-parts.js'
import { type Attempt, endAttempts, nameGivenUp, saveRead } from '../../storage/messages/attempts.js'
import { type Change, findMessagesById, lockMessages } from '../../storage/messages/messages.js'
import {
  forgetReceipts,
  listMatchedReceipts,
  type ParkedReceipt,
  parkReceipts,
  takeParkedReceipts,
} from '../../storage/messages/receipts.js'
import { findSends } from '../../storage/messages/sends.js'
import { findBlocked } from '../contacts/consent.js'
import type { Ctx } from '../ctx.js'
import { saveChanges, unlessChanged } from './changes.js'
import type { ReceiptLine } from './dispatch-line.js'
import { chosen, findCandidates, idsOf, type Match, mayConcern, overParts } from './receipt-match.js'

/**
 * Records receipts, in any order and number. A message only moves forward, with one event for each change. A receipt
 * without a known send is parked until its send has an id.
 */
export async function recordReceipts(ctx: Ctx, on: ReceiptLine, receipts: readonly Receipt[]): Promise<void> {
  ctx.failpoint('receipt.before_commit')
  const thorough = () =>
    ctx.db.tx(async (sql) => {
      await lockLine(sql, on.line.id)
      if (!(await isCurrent(sql, on.line))) return []
      const verdict = await judge(ctx, sql, lockMessages, on, receipts)
      await verdict.write(sql)
      return verdict.changes
    })
  const changes = await unlessChanged(async () => {
    const verdict = await judge(ctx, ctx.db, findMessagesById, on, receipts)
    // Parts of a send in doubt get their ids in turn, which needs the lock.
    if (verdict.isAboutDoubts) return thorough()
    await ctx.db.write((sql) => Promise.all([verdict.write(sql), requireCurrent(sql, [on.line])]))
    return verdict.changes
  }, thorough)
  ctx.failpoint('receipt.after_commit')
  ctx.traces?.receipts(changes)
  const driven = ctx.lines.get(on.line.id)
  for (const { before, after } of changes)
    if (before.nextActionAt !== null) driven?.recheck(after.id)
    else if (after.nextActionAt !== null) driven?.requeue(after.id)
}

/** The changes that receipts make, and how to write them. */
async function judge(
  ctx: Ctx,
  sql: Sql,
  find: typeof lockMessages,
  on: ReceiptLine,
  receipts: readonly Receipt[],
) {
  const now = ctx.clock.now()
  const candidates = await findCandidates(sql, on.line.id, receipts)
  const wanted = candidates.flatMap(({ sends }) => sends.map(({ attempt }) => attempt.messageId))
  const messages = await find(sql, [...new Set(wanted)])
  const matched: Match[] = []
  const waiting: Receipt[] = []
  for (const one of candidates) {
    const match = chosen(one, (id) => messages.get(id)?.contact ?? '')
    if (match) matched.push(match)
    else waiting.push(one.receipt)
  }
  const parts = await overParts(sql, matched)
  const changes = new Map<number, Change>()
  const proven: Attempt[] = []
  /** Late answers: the driver no longer doubts the send, so further receipts match by its id only. */
  const named: Pick<Attempt, 'ref' | 'providerId'>[] = []
  for (const { attempt, taken } of parts.partial) {
    const current = messages.get(attempt.messageId)
    if (current?.error?.reason !== OUTCOME_UNKNOWN) continue
    const after = { ...current, error: { ...current.error, detail: taken } }
    changes.set(attempt.messageId, { before: current, after })
  }
  for (const { attempt, receipt } of parts.matches) {
    const change = changes.get(attempt.messageId)
    const current = change?.after ?? messages.get(attempt.messageId)
    if (!current) continue
    const unchanged = change ?? { before: current, after: current }
    const moved = withReceipt(on, unchanged, attempt, receipt, now)
    if (moved === unchanged) continue
    changes.set(attempt.messageId, moved)
    if (moved.failed?.ref === attempt.ref) continue
    if (attempt.state === 'on_wire' || attempt.state === 'unknown') {
      proven.push({
        ...attempt,
        state: 'accepted',
        providerId: receipt.providerId ?? attempt.providerId,
        endedAt: now,
      })
    } else if (attempt.state === 'given_up' && receipt.providerId) {
      named.push({ ref: attempt.ref, providerId: receipt.providerId })
    }
  }
  await stopOptedOut(ctx, sql, [...changes.values()], now)
  return {
    changes: [...changes.values()],
    /** Receipts with a known send. */
    settled: receipts.filter((receipt) => !waiting.includes(receipt)),
    isAboutDoubts: matched.some(({ receipt }) => receipt.parts !== undefined),
    write: (writes: Writes, parking = true) =>
      Promise.all([
        parkReceipts(writes, on.line.id, (parking ? waiting : []).flatMap(parked), now),
        insertAttemptParts(writes, on.line.id, parts.added),
        saveAttemptParts(writes, parts.changed),
        endAttempts(writes, proven),
        nameGivenUp(writes, named),
        saveChanges(writes, [...changes.values()]),
      ]),
  }
}

/** Parks a receipt under each spelling of the id that its send may have. */
function parked(receipt: Receipt): ParkedReceipt[] {
  const { status, providerId: own, to = '' } = receipt
  return idsOf(receipt).map((providerId) => ({
    providerId,
    receipt: `${own} ${to}`,
    status,
    report: { ...receipt },
  }))
}

const UNANSWERED: ReadonlySet<string> = new Set(['unknown', 'given_up'])

/** The change of an answered send, with a receipt applied. */
export function withReceipt(
  on: Pick<ReceiptLine, 'services'>,
  change: Change,
  attempt: Attempt,
  receipt: Receipt,
  now: number,
): Change {
  const after = afterReceipt(change.after, attempt, receipt, on, now)
  if (!after) return change
  return receipt.tryNextService && after.nextActionAt !== null
    ? fallenBack(change, after, attempt, receipt, now)
    : movedOn(change, after, attempt)
}

/** The change with one more step. */
function movedOn(change: Change, to: Message, attempt: Attempt): Change {
  const { via, after } = passedBetween(change.after, to, !UNANSWERED.has(attempt.state))
  return { ...change, via: [...(change.via ?? []), change.after, ...via], after }
}

/** The change with one more step, to the next service. */
function fallenBack(change: Change, after: Message, attempt: Attempt, receipt: Receipt, now: number): Change {
  const { providerId = attempt.providerId, code = 'undelivered', detail = '' } = receipt
  const failed = { ref: attempt.ref, endedAt: now, providerId, code, detail }
  return { ...change, via: [...(change.via ?? []), change.after], after, failed }
}

/** Ends messages that would go on to another service, but whose recipient has opted out since. */
async function stopOptedOut(ctx: Ctx, sql: Sql, changes: readonly Change[], now: number): Promise<void> {
  const going = changes.filter(
    ({ failed, after }) => failed && after.nextActionAt !== null && !after.optedOut,
  )
  if (going.length === 0) return
  const isBlocked = await findBlocked(
    ctx,
    sql,
    going.map(({ after }) => after),
  )
  for (const change of going)
    if (isBlocked(change.after))
      change.after = { ...failMessage(change.after, now, optedOutError(change.after)), optedOut: true }
}

/**
 * Applies parked receipts on top of the send's result. Returns the state of its parts, and the receipts that were
 * the send's.
 */
export function applyParked(
  on: ReceiptLine,
  parked: readonly ParkedReceipt[],
  sent: { attempt: Attempt; partIds?: readonly string[] },
  changes: Change[],
  now: number,
): { parts: AttemptPart[]; used: string[] } {
  const { attempt, partIds = [] } = sent
  const change = changes.find(({ after }) => after.id === attempt.messageId)
  const reports = parked.map((one) => ({ ...one, report: one.report as unknown as Receipt }))
  const ours = reports.filter(({ report }) => change && mayConcern(report, change.after.contact))
  const parts = partIds.map((providerId, i): AttemptPart => {
    const fresh: AttemptPart = { ref: attempt.ref, n: i + 1, providerId, status: 'SENT', detail: null }
    const own = ours.filter((one) => one.providerId === providerId)
    return own.reduce((part, { report }) => partAfter(part, report), fresh)
  })
  const receipts = parts.length > 0 ? [wholeReceipt(parts, now)] : ours.map(({ report }) => report)
  for (const receipt of receipts)
    if (change && receipt) Object.assign(change, withReceipt(on, change, attempt, receipt, now))
  return { parts, used: ours.map(({ receipt }) => receipt) }
}

/**
 * Matches parked receipts again. Two processes may overlap on a line for a moment; then a receipt can be parked
 * while its send gets the id, and neither transaction sees the other.
 */
export async function rematchParked(ctx: Ctx, on: ReceiptLine): Promise<void> {
  if ((await listMatchedReceipts(ctx.db, on.line.id)).length === 0) return
  await ctx.db.tx(async (sql) => {
    await lockLine(sql, on.line.id)
    const parked = await takeParkedReceipts(sql, on.line.id, await listMatchedReceipts(sql, on.line.id))
    const keys = new Map(parked.map(({ receipt, report }) => [report as unknown as Receipt, receipt]))
    const verdict = await judge(ctx, sql, lockMessages, on, [...keys.keys()])
    await verdict.write(sql, false)
    await forgetReceipts(
      sql,
      on.line.id,
      verdict.settled.map((receipt) => keys.get(receipt)!),
    )
  })
}

/** A read receipt is one event, never a status. */
export async function recordRead(
  ctx: Ctx,
  on: ReceiptLine,
  read: { providerId: string; at: number },
): Promise<void> {
  await ctx.db.tx(async (sql) => {
    const attempt = (await findSends(sql, on.line.id, [read.providerId])).get(read.providerId)
    const message = attempt && (await lockMessages(sql, [attempt.messageId])).get(attempt.messageId)
    if (!message) return
    const isFirst = await saveRead(sql, attempt.ref, read.at)
    // A read message has been delivered, even if its delivery receipt was lost.
    if (mayAdvance(message, 'DELIVERED') && message.service !== 'SMS') {
      const { providerId, at } = read
      const receipt: Receipt = { providerId, status: 'DELIVERED', at }
      const parts = await overParts(sql, [{ receipt, attempt, isLoose: false, partId: providerId }])
      const change = { before: message, after: message }
      const [whole] = parts.matches
      const moved = whole ? withReceipt(on, change, attempt, whole.receipt, ctx.clock.now()) : change
      await saveAttemptParts(sql, parts.changed)
      if (moved !== change) await saveChanges(sql, [moved])
    }
    if (isFirst) await appendEvents(sql, [readEvent(message, read.at, ctx.clock.now())])
  })
}
