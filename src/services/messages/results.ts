import { dayOf } from '../../core/lines/pacing.js'
import { hasFallenBack } from '../../core/messages/after-receipt.js'
import type { Message } from '../../core/messages/message.js'
import {
  afterAcceptance,
  afterResult,
  type Receipt,
  type SendResult,
  type TakenParts,
  withService,
} from '../../core/messages/outcome.js'
import { sumByAccount } from '../../storage/accounts/budgets.js'
import { countSends } from '../../storage/lines/days.js'
import { lockLine } from '../../storage/lines/leases.js'
import { isCurrent, requireCurrent } from '../../storage/lines/lines.js'
import { type AttemptPart, insertAttemptParts } from '../../storage/messages/attempt-parts.js'
import { type EndedAttempt, endAttempts, nameGivenUp } from '../../storage/messages/attempts.js'
import { type Change, lockMessages } from '../../storage/messages/messages.js'
import { forgetReceipts, listParkedReceipts, takeParkedReceipts } from '../../storage/messages/receipts.js'
import type { Ctx } from '../ctx.js'
import { saveChanges, unlessChanged } from './changes.js'
import type { Claim } from './claim.js'
import type { DispatchLine } from './dispatch-line.js'
import { mayConcern, saveTaken } from './receipt-match.js'
import { applyParked, withReceipt } from './receipts.js'

export interface ClaimResult {
  claimed: Claim
  result: SendResult
}

export interface RecordedResults {
  /** When each message needs attention again, or null. */
  next: (number | null)[]
  /** Receipts of other sends. */
  rest: Receipt[]
}

/**
 * Records the results of attempts together with the receipts that came with them. Usually no other transaction has
 * changed a message while it was on the wire; then everything is written without a query.
 */
export async function recordResults(
  ctx: Ctx,
  on: DispatchLine,
  ended: readonly ClaimResult[],
  receipts: readonly Receipt[] = [],
): Promise<RecordedResults> {
  ctx.failpoint('dispatch.before_result')
  const recorded = await unlessChanged(
    () => recordExpected(ctx, on, ended, receipts),
    () => recordAfterAll(ctx, on, ended, receipts),
  )
  for (const outcome of ['accepted', 'refused', 'never-left', 'unknown'] as const) {
    const n = ended.filter(({ result }) => result.outcome === outcome).length
    if (n > 0) ctx.metrics.outcomes.inc({ driver: on.line.driver, outcome }, n)
  }
  if (on.daily) on.daily.count(ctx.clock.now(), unsent(ended, ctx.clock.now()))
  countFinished(ctx, on, ended, recorded.next)
  ctx.failpoint('dispatch.after_result')
  return recorded
}

/** Takes the messages that need no further attempt out of their accounts' queues. */
function countFinished(
  ctx: Ctx,
  on: DispatchLine,
  ended: readonly ClaimResult[],
  next: readonly (number | null)[],
): void {
  const counts = new Map<string, number>()
  for (const [i, { claimed }] of ended.entries()) {
    const { accountId, status } = claimed.message
    if (next[i] === null && status === 'QUEUED') counts.set(accountId, (counts.get(accountId) ?? 0) + 1)
  }
  for (const [accountId, n] of counts) ctx.backlog.finish({ accountId, lineId: on.line.id }, n)
}

async function recordExpected(
  ctx: Ctx,
  on: DispatchLine,
  ended: readonly ClaimResult[],
  receipts: readonly Receipt[],
): Promise<RecordedResults> {
  const now = ctx.clock.now()
  const parked = await listParkedReceipts(ctx.db, on.line.id, acceptedIds(ended))
  if (parked.length > 0 || ended.some(({ result }) => takenIn(result)))
    return recordAfterAll(ctx, on, ended, receipts)
  const changes = ended.map(
    ({ claimed, result }): Change => ({
      before: claimed.message,
      after: afterResult(claimed.message, claimed.attempt, result, on, now),
    }),
  )
  const answered = ctx.traces && changes.map(({ after }) => after)
  const taken = new Map<string, number>()
  for (const [index, { result }] of ended.entries())
    if (result.outcome === 'accepted' && idsIn(result).length === 1) taken.set(result.providerId, index)
  const rest: Receipt[] = []
  for (const receipt of receipts) {
    const index = taken.get(receipt.providerId ?? '')
    if (index === undefined || !mayConcern(receipt, changes[index]!.before.contact)) rest.push(receipt)
    else changes[index] = withReceipt(on, changes[index]!, ended[index]!.claimed.attempt, receipt, now)
  }
  if (rest.length < receipts.length) ctx.failpoint('receipt.before_commit')
  await ctx.db.write((sql) =>
    Promise.all([
      endAttempts(sql, endings(ended, now)),
      insertAttemptParts(sql, on.line.id, partsOf(ended)),
      saveChanges(sql, changes),
      on.daily && countSends(sql, on.line.id, dayOf(now), unsent(ended, now)),
      requireCurrent(sql, [on.line]),
    ]),
  )
  if (rest.length < receipts.length) ctx.failpoint('receipt.after_commit')
  ctx.traces?.receipts(changes, answered)
  return { next: changes.map(({ after }) => after.nextActionAt), rest }
}

/** Another transaction has judged an attempt, or a receipt was faster than the answer: lock and read first. */
async function recordAfterAll(
  ctx: Ctx,
  on: DispatchLine,
  ended: readonly ClaimResult[],
  receipts: readonly Receipt[],
): Promise<RecordedResults> {
  let changes: Change[] = []
  let answered: Message[] = []
  const next = await ctx.db.tx(async (sql) => {
    const now = ctx.clock.now()
    changes = []
    await lockLine(sql, on.line.id)
    // The message's world was deleted.
    if (!(await isCurrent(sql, on.line))) return ended.map(() => null)
    const [live, written, parked] = await Promise.all([
      lockMessages(
        sql,
        ended.map(({ claimed }) => claimed.message.id),
      ),
      endAttempts(sql, endings(ended, now)),
      takeParkedReceipts(sql, on.line.id, acceptedIds(ended)),
    ])
    const current = ended.map(({ claimed, result }, index) => {
      const before = live.get(claimed.message.id)
      // The database lost the message, and may have given its id to another one.
      if (before?.handle !== claimed.message.handle) {
        ctx.log.error({ message: claimed.message.handle }, 'a sent message is no longer in the database')
        return () => ({ nextActionAt: null })
      }
      // A late acceptance is still evidence; other late results are not.
      if (!written[index] && (result.outcome !== 'accepted' || hasFallenBack(before, claimed.attempt)))
        return () => before
      const change: Change = {
        before,
        after:
          written[index] || result.outcome !== 'accepted'
            ? afterResult(before, claimed.attempt, result, on, now)
            : afterAcceptance(before, withService(claimed.attempt, result.service), result.status, on, now),
      }
      changes.push(change)
      return () => change.after
    })
    answered = changes.map(({ after }) => after)
    for (const { claimed, result } of ended) {
      const ids = idsIn(result)
      const own = parked.filter(({ providerId }) => ids.includes(providerId))
      const partIds = ids.length > 1 ? ids : []
      const { parts, used } = applyParked(on, own, { attempt: claimed.attempt, partIds }, changes, now)
      await insertAttemptParts(sql, on.line.id, parts)
      await forgetReceipts(sql, on.line.id, used)
      const taken = takenIn(result)
      if (taken) await saveTaken(sql, claimed.attempt, taken)
    }
    await saveChanges(sql, changes)
    await nameGivenUp(sql, lateIds(ended.filter((_, index) => !written[index])))
    // A result that an earlier call recorded was counted then.
    const fresh = ended.filter((_, index) => written[index])
    if (on.daily) await countSends(sql, on.line.id, dayOf(now), unsent(fresh, now))
    return current.map((message) => message().nextActionAt)
  })
  ctx.traces?.receipts(changes, answered)
  return { next, rest: [...receipts] }
}

/** The carrier's ids of sends that were judged before their answer came: their receipts name nothing else. */
function lateIds(late: readonly ClaimResult[]): { ref: string; providerId: string }[] {
  return late.flatMap(({ claimed, result }) =>
    result.outcome === 'accepted' ? { ref: claimed.attempt.ref, providerId: result.providerId } : [],
  )
}

/** Today's sends that did not go out, or go out by another service, as negative numbers by account. */
function unsent(ended: readonly ClaimResult[], now: number): Map<string, number> {
  const back = ended.filter(
    ({ claimed, result }) =>
      dayOf(claimed.attempt.wireAt) === dayOf(now) &&
      (result.outcome === 'never-left' || (result.outcome === 'refused' && result.tryNextService)),
  )
  return sumByAccount(
    back.map(({ claimed }) => claimed.message),
    () => -1,
  )
}

function acceptedIds(ended: readonly ClaimResult[]): string[] {
  return ended.flatMap(({ result }) => idsIn(result).filter((id) => id !== ''))
}

function takenIn(result: SendResult): TakenParts | undefined {
  return result.outcome === 'unknown' ? result.parts : undefined
}

/** The carrier's ids of the send: one, or one for each part. */
function idsIn(result: SendResult): readonly string[] {
  if (result.outcome !== 'accepted') return []
  return result.partIds && result.partIds.length > 1 ? result.partIds : [result.providerId]
}

function partsOf(ended: readonly ClaimResult[]): AttemptPart[] {
  return ended.flatMap(({ claimed, result }) => {
    const ids = idsIn(result)
    return ids.length < 2
      ? []
      : ids.map((providerId, i) => ({
          ref: claimed.attempt.ref,
          n: i + 1,
          providerId,
          status: 'SENT' as const,
          detail: null,
        }))
  })
}

function endings(ended: readonly ClaimResult[], now: number): EndedAttempt[] {
  return ended.map(({ claimed, result }) => ({
    ref: claimed.attempt.ref,
    state: result.outcome === 'never-left' ? 'never_left' : result.outcome,
    endedAt: now,
    providerId: result.outcome === 'accepted' ? result.providerId : null,
    code: result.outcome === 'accepted' ? null : result.code,
    detail: result.outcome === 'accepted' ? null : result.detail,
  }))
}
