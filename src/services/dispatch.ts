import type { Group } from '../core/group.js'
import type { Message, SendStyle, Service } from '../core/message.js'
import { needsIMessage } from '../core/message-extra.js'
import { afterAcceptance, afterResult, type SendResult } from '../core/outcome.js'
import { dayOf } from '../core/pacing.js'
import { serviceChain } from '../core/service.js'
import type { Ctx } from '../ctx.js'
import type { Outbound } from '../drivers/driver.js'
import {
  type Attempt,
  type EndedAttempt,
  endAttempts,
  insertAttempts,
  listAttempts,
} from '../storage/attempts.js'
import { MissingValue, type Sql, UniqueViolation } from '../storage/db.js'
import { requireMessages } from '../storage/fences.js'
import { findGroups } from '../storage/groups.js'
import { holdsLease, lockLine } from '../storage/leases.js'
import { countSends } from '../storage/line-days.js'
import { isCurrent, requireCurrent } from '../storage/lines.js'
import { type Change, findMessagesByHandle, lockMessages } from '../storage/messages.js'
import { listParkedReceipts, takeParkedReceipts } from '../storage/receipts.js'
import { saveChanges, unlessChanged } from './changes.js'
import type { DispatchLine } from './dispatch-line.js'
import { forDriver } from './groups.js'
import { recoverOpenAttempts } from './outcomes.js'
import { applyParked } from './receipts.js'

export interface Claimed {
  message: Message
  attempt: Attempt
  outbound: Outbound
}

/** The process no longer drives the line: another has taken it over. */
export class LeaseLost extends Error {}

/**
 * Commits one attempt per message, before the first byte leaves. Whatever happens from here on, the attempt is
 * there to say that the message may be out. `reach` is what the carrier knows of each recipient's services.
 * A message that somebody settled in this very moment is left out.
 */
export async function claim(
  ctx: Ctx,
  on: DispatchLine,
  messages: readonly Message[],
  reach: ReadonlyMap<string, readonly Service[]>,
): Promise<Claimed[]> {
  if (messages.length === 0) return []
  const now = ctx.clock.now()
  const groups = await findGroups(
    ctx.db,
    messages.flatMap((message) => message.groupId ?? []),
  )
  const claimed = await Promise.all(
    messages.map(async (message): Promise<Claimed> => {
      const attempt: Attempt = {
        ref: ctx.newId(),
        messageId: message.id,
        n: message.attempts + 1,
        lineId: on.line.id,
        epoch: on.lease.epoch,
        service: chooseService(on, message, reach.get(message.contact)),
        state: 'on_wire',
        wireAt: now,
        endedAt: null,
        providerId: null,
        lookups: 0,
        code: null,
        detail: null,
      }
      const group = groups.get(message.groupId ?? '')
      return { message, attempt, outbound: await outboundOf(ctx, message, attempt, group) }
    }),
  )
  try {
    await ctx.db.write((sql) =>
      Promise.all([
        insertAttempts(
          sql,
          claimed.map((one) => one.attempt),
        ),
        on.daily && countSends(sql, on.line.id, dayOf(now), claimed.length),
      ]),
    )
    on.daily?.count(now, claimed.length)
  } catch (error) {
    if (error instanceof UniqueViolation) {
      // The line's former driver started this very attempt while it lost the line: its outcome is the question.
      await recoverOpenAttempts(ctx, on)
      return []
    }
    if (!(error instanceof MissingValue)) throw error
    if (!(await holdsLease(ctx.db, on.lease))) throw new LeaseLost()
    if (messages.length === 1) return []
    const each = await Promise.all(messages.map((message) => claim(ctx, on, [message], reach)))
    return each.flat()
  }
  ctx.failpoint('dispatch.after_attempt')
  return claimed
}

/** The message's own service, unless the carrier knows it cannot reach the recipient and a lesser one can. */
function chooseService(
  on: DispatchLine,
  message: Message,
  reachable: readonly Service[] | undefined,
): Service {
  if (!reachable || reachable.includes(message.service) || needsIMessage(message.extra))
    return message.service
  // Never back to a better one: that has refused the message, whatever the carrier says it can reach.
  const own = on.services.indexOf(message.service)
  const chain = serviceChain(on.services, reachable)
  return chain.find((service) => on.services.indexOf(service) > own) ?? message.service
}

async function outboundOf(
  ctx: Ctx,
  message: Message,
  attempt: Attempt,
  group: Group | undefined,
): Promise<Outbound> {
  return {
    ref: attempt.ref,
    handle: message.handle,
    to: group ? '' : message.contact,
    service: attempt.service,
    content: message.content,
    mediaUrl: message.mediaUrl,
    sendStyle: attempt.service === 'iMessage' ? (message.sendStyle as SendStyle | '') : '',
    replyTo: message.replyTo
      ? await replyTarget(ctx.db, message.replyTo.handle, message.replyTo.partIndex)
      : null,
    group: group ? forDriver(group) : null,
    extra: message.extra,
    run: message.run,
  }
}

async function replyTarget(sql: Sql, handle: string, partIndex: number | null) {
  const target = (await findMessagesByHandle(sql, [handle])).get(handle)
  if (!target) return null
  const providerId =
    target.providerId ?? (await listAttempts(sql, target.id)).find((a) => a.providerId)?.providerId
  return providerId ? { providerId, partIndex: partIndex ?? 0 } : null
}

export interface Ended {
  claimed: Claimed
  result: SendResult
}

/**
 * Records what became of attempts. Answers when each message needs something done again, if ever. As a rule
 * nothing has happened to a message while it was on the wire: then the result is written without a question.
 */
export async function recordResults(
  ctx: Ctx,
  on: DispatchLine,
  ended: readonly Ended[],
): Promise<(number | null)[]> {
  ctx.failpoint('dispatch.before_result')
  const next = await unlessChanged(
    () => recordExpected(ctx, on, ended),
    () => recordAfterAll(ctx, on, ended),
  )
  for (const outcome of ['accepted', 'refused', 'never-left', 'unknown'] as const) {
    const n = ended.filter(({ result }) => result.outcome === outcome).length
    if (n > 0) ctx.metrics.outcomes.inc({ driver: on.line.driver, outcome }, n)
  }
  if (on.daily) on.daily.count(ctx.clock.now(), -unsent(ended, ctx.clock.now()))
  ctx.failpoint('dispatch.after_result')
  return next
}

async function recordExpected(
  ctx: Ctx,
  on: DispatchLine,
  ended: readonly Ended[],
): Promise<(number | null)[]> {
  const now = ctx.clock.now()
  const parked = await listParkedReceipts(ctx.db, on.line.id, acceptedIds(ended))
  if (parked.length > 0) return recordAfterAll(ctx, on, ended)
  const changes = ended.map(({ claimed, result }) => ({
    before: claimed.message,
    after: afterResult(claimed.message, claimed.attempt, result, on, now),
  }))
  await ctx.db.write((sql) =>
    Promise.all([
      endAttempts(sql, endings(ended, now)),
      saveChanges(sql, changes),
      on.daily && countSends(sql, on.line.id, dayOf(now), -unsent(ended, now)),
      requireMessages(
        sql,
        changes.map(({ before }) => before.id),
      ),
      requireCurrent(sql, [on.line]),
    ]),
  )
  for (const [index, { claimed, result }] of ended.entries()) {
    if (result.outcome !== 'accepted') continue
    const message = { ...changes[index]!.after, version: claimed.message.version + 1 }
    on.recent.add(result.providerId, { attempt: { ...claimed.attempt, state: 'accepted' }, message })
  }
  return changes.map(({ after }) => after.nextActionAt)
}

/** Somebody judged an attempt meanwhile, or a receipt overtook its answer: look first, under lock. */
async function recordAfterAll(
  ctx: Ctx,
  on: DispatchLine,
  ended: readonly Ended[],
): Promise<(number | null)[]> {
  return ctx.db.tx(async (sql) => {
    const now = ctx.clock.now()
    await lockLine(sql, on.line.id)
    // Of another world: nothing of it is left.
    if (!(await isCurrent(sql, on.line))) return ended.map(() => null)
    const [live, written, parked] = await Promise.all([
      lockMessages(
        sql,
        ended.map(({ claimed }) => claimed.message.id),
      ),
      endAttempts(sql, endings(ended, now)),
      takeParkedReceipts(sql, on.line.id, acceptedIds(ended)),
    ])
    const changes: Change[] = []
    const current = ended.map(({ claimed, result }, index) => {
      const before = live.get(claimed.message.id)
      // It was removed with its test run.
      if (!before) return () => ({ nextActionAt: null })
      // An acceptance is evidence even when it comes too late for its attempt; nothing else is.
      if (!written[index] && result.outcome !== 'accepted') return () => before
      const change: Change = {
        before,
        after:
          written[index] || result.outcome !== 'accepted'
            ? afterResult(before, claimed.attempt, result, on, now)
            : afterAcceptance(before, claimed.attempt, result.status, on, now),
      }
      changes.push(change)
      return () => change.after
    })
    for (const receipt of parked) {
      const { claimed } = ended.find(
        ({ result }) => result.outcome === 'accepted' && result.providerId === receipt.providerId,
      )!
      applyParked(on, receipt, claimed.attempt, changes, now)
    }
    await saveChanges(sql, changes)
    if (on.daily) await countSends(sql, on.line.id, dayOf(now), -unsent(ended, now))
    return current.map((message) => message().nextActionAt)
  })
}

/** What did not go out, or goes out by another service, does not count for the day. */
function unsent(ended: readonly Ended[], now: number): number {
  return ended.filter(
    ({ claimed, result }) =>
      dayOf(claimed.attempt.wireAt) === dayOf(now) &&
      (result.outcome === 'never-left' || (result.outcome === 'refused' && result.tryNextService)),
  ).length
}

function acceptedIds(ended: readonly Ended[]): string[] {
  return ended.flatMap(({ result }) => (result.outcome === 'accepted' ? result.providerId : []))
}

function endings(ended: readonly Ended[], now: number): EndedAttempt[] {
  return ended.map(({ claimed, result }) => ({
    ref: claimed.attempt.ref,
    state: result.outcome === 'never-left' ? 'never_left' : result.outcome,
    endedAt: now,
    providerId: result.outcome === 'accepted' ? result.providerId : null,
    code: result.outcome === 'accepted' ? null : result.code,
    detail: result.outcome === 'accepted' ? null : result.detail,
  }))
}
