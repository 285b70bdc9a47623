import { passedBetween } from '../../core/messages/after-receipt.js'
import type { Message } from '../../core/messages/message.js'
import {
  afterEvidence,
  afterResult,
  type Evidence,
  type SendResult,
  unknownSince,
} from '../../core/messages/outcome.js'
import { describeTaken } from '../../core/messages/part.js'
import type { AttemptRef } from '../../drivers/contract.js'
import { findGroups } from '../../storage/groups/groups.js'
import { lockLine } from '../../storage/lines/leases.js'
import { listAttemptParts } from '../../storage/messages/attempt-parts.js'
import {
  type Attempt,
  countLookup,
  endAttempts,
  findAttempt,
  findAttemptsByRef,
  listOpenAttempts,
} from '../../storage/messages/attempts.js'
import { findMessagesById, lockMessages } from '../../storage/messages/messages.js'
import { forgetReceipts, takeParkedReceipts } from '../../storage/messages/receipts.js'
import type { Ctx } from '../ctx.js'
import { forDriver } from '../groups/groups.js'
import { saveChanges } from './changes.js'
import type { DispatchLine } from './dispatch-line.js'
import { applyParked } from './receipts.js'

/**
 * Marks the attempts that an earlier process left open on this line, and those of `refs`, as unknown: the carrier
 * will be asked about them. Returns how many.
 */
export async function recoverOpenAttempts(
  ctx: Ctx,
  on: DispatchLine,
  refs: readonly string[] = [],
): Promise<number> {
  const recovered = await ctx.db.tx(async (sql) => {
    const now = ctx.clock.now()
    const left = await listOpenAttempts(sql, on.line.id, on.lease.epoch, refs)
    if (left.length === 0) return 0
    const messages = await lockMessages(
      sql,
      left.map((attempt) => attempt.messageId),
    )
    // A receipt may have settled a message before it was locked.
    const open = left.filter((attempt) => messages.get(attempt.messageId)!.nextActionAt !== null)
    const result: SendResult = {
      outcome: 'unknown',
      code: 'interrupted',
      detail: 'The process stopped during the send',
    }
    await endAttempts(
      sql,
      open.map((attempt) => ({
        ...attempt,
        state: 'unknown' as const,
        endedAt: now,
        code: result.code,
        detail: result.detail,
      })),
    )
    await saveChanges(
      sql,
      open.map((attempt) => {
        const before = messages.get(attempt.messageId)!
        return { before, after: { ...afterResult(before, attempt, result, on, now), nextActionAt: now } }
      }),
    )
    return open.length
  })
  if (recovered > 0)
    ctx.log.warn(
      { line: on.line.id, messages: recovered },
      'sends were interrupted; asking the carrier about them',
    )
  return recovered
}

/** The message's attempt with an unknown outcome. */
export async function findUnresolved(ctx: Ctx, message: Message): Promise<Attempt | undefined> {
  if (message.status !== 'PENDING' || message.nextActionAt === null) return undefined
  const attempt = await findAttempt(ctx.db, message.id, message.attempts)
  return attempt?.state === 'unknown' ? attempt : undefined
}

/** The facts by which a driver looks up an attempt. */
export async function attemptRef(ctx: Ctx, attempt: Attempt): Promise<AttemptRef> {
  const message = (await findMessagesById(ctx.db, [attempt.messageId])).get(attempt.messageId)
  const group = message?.groupId
    ? (await findGroups(ctx.db, [message.groupId])).get(message.groupId)
    : undefined
  return {
    ref: attempt.ref,
    handle: message?.handle ?? '',
    to: group ? '' : (message?.contact ?? ''),
    group: group ? forDriver(group) : null,
    content: message?.content ?? '',
    mediaUrl: message?.mediaUrl ?? '',
    extra: message?.extra ?? null,
    service: attempt.service,
    wireAt: attempt.wireAt,
    unknownSince: unknownSince(attempt),
  }
}

/** Records the carrier's evidence about an unknown outcome. Returns when to look again, or null. */
export async function recordEvidence(
  ctx: Ctx,
  on: DispatchLine,
  attempt: Attempt,
  evidence: Evidence,
): Promise<number | null> {
  return ctx.db.tx(async (sql) => {
    const now = ctx.clock.now()
    await lockLine(sql, on.line.id)
    const before = (await lockMessages(sql, [attempt.messageId])).get(attempt.messageId)
    if (!before) return null
    const open = (await findAttemptsByRef(sql, [attempt.ref])).get(attempt.ref)
    if (open?.state !== 'unknown' || before.attempts !== attempt.n) return before.nextActionAt
    const verdict = afterEvidence(before, open, evidence, { ...on.line, services: on.services }, now)
    if (verdict.kind === 'wait') await countLookup(sql, attempt.ref)
    else {
      const state = { accepted: 'accepted', 'never-left': 'never_left', 'given-up': 'given_up' } as const
      const providerId = verdict.kind === 'accepted' ? verdict.providerId : null
      await endAttempts(sql, [{ ...open, state: state[verdict.kind], endedAt: now, providerId }])
    }
    const { message: after } = verdict
    if (verdict.kind === 'given-up' && after.error) {
      const parts = (await listAttemptParts(sql, [attempt.ref])).get(attempt.ref)
      if (parts) after.error = { ...after.error, detail: describeTaken(parts) }
    }
    const changes = [{ before, ...passedBetween(before, after, true) }]
    if (verdict.kind === 'accepted') {
      const parked = await takeParkedReceipts(sql, on.line.id, [verdict.providerId])
      await forgetReceipts(sql, on.line.id, applyParked(on, parked, { attempt }, changes, now).used)
    }
    await saveChanges(sql, changes)
    return changes[0]!.after.nextActionAt
  })
}
