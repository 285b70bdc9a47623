import { messageEvent } from '../core/event.js'
import type { Line } from '../core/line.js'
import type { Message, SendStyle, Service } from '../core/message.js'
import { type Evidence, afterAcceptance, afterEvidence, afterResult, type SendResult } from '../core/outcome.js'
import { serviceChain } from '../core/service.js'
import type { Ctx } from '../ctx.js'
import type { Outbound } from '../drivers/driver.js'
import {
  type Attempt,
  countLookup,
  endAttempts,
  findAttempt,
  findAttemptsByRef,
  insertAttempts,
  listAttempts,
  listOpenAttempts,
} from '../storage/attempts.js'
import type { Sql } from '../storage/db.js'
import { appendEvents } from '../storage/events.js'
import { holdsLease, type Lease } from '../storage/leases.js'
import { type Change, findMessage, lockMessages, saveMessages } from '../storage/messages.js'
import { takeParkedReceipts } from '../storage/receipts.js'
import { applyParked } from './receipts.js'

/** A line with what dispatch needs to know of it. */
export interface DispatchLine {
  line: Line
  services: readonly Service[]
  lease: Lease
}

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
 */
export async function claim(
  ctx: Ctx,
  on: DispatchLine,
  ids: readonly number[],
  reach: ReadonlyMap<string, readonly Service[]>,
): Promise<Claimed[]> {
  const claimed = await ctx.db.tx(async (sql) => {
    const [held, messages] = await Promise.all([holdsLease(sql, on.lease), lockMessages(sql, ids)])
    if (!held) throw new LeaseLost()
    const now = ctx.clock.now()
    const result: Claimed[] = []
    for (const message of messages.values()) {
      if (message.nextActionAt === null || message.nextActionAt > now) continue
      const service = chooseService(on, message, reach.get(message.contact))
      const attempt: Attempt = {
        ref: ctx.newId(),
        messageId: message.id,
        n: message.attempts + 1,
        lineId: on.line.id,
        epoch: on.lease.epoch,
        service,
        state: 'on_wire',
        wireAt: now,
        endedAt: null,
        providerId: null,
        lookups: 0,
        code: null,
        detail: null,
      }
      result.push({ message, attempt, outbound: await outboundOf(sql, message, attempt) })
    }
    await insertAttempts(sql, result.map((one) => one.attempt))
    return result
  })
  ctx.failpoint('dispatch.after_attempt')
  return claimed
}

/** The message's own service, unless the carrier knows it cannot reach the recipient and a lesser one can. */
function chooseService(on: DispatchLine, message: Message, reachable: readonly Service[] | undefined): Service {
  if (!reachable || reachable.includes(message.service)) return message.service
  const chain = serviceChain(on.services, reachable)
  return chain.find((service) => on.services.indexOf(service) >= 0) ?? message.service
}

async function outboundOf(sql: Sql, message: Message, attempt: Attempt): Promise<Outbound> {
  return {
    ref: attempt.ref,
    handle: message.handle,
    to: message.contact,
    service: attempt.service,
    content: message.content,
    mediaUrl: message.mediaUrl,
    sendStyle: attempt.service === 'iMessage' ? (message.sendStyle as SendStyle | '') : '',
    replyTo: message.replyTo ? await replyTarget(sql, message.replyTo.handle, message.replyTo.partIndex) : null,
  }
}

async function replyTarget(sql: Sql, handle: string, partIndex: number | null) {
  const target = await findMessage(sql, handle)
  if (!target) return null
  const providerId = target.providerId ?? (await listAttempts(sql, target.id)).find((a) => a.providerId)?.providerId
  return providerId ? { providerId, partIndex: partIndex ?? 0 } : null
}

export interface Ended {
  claimed: Claimed
  result: SendResult
}

/** Records what became of attempts. Answers when each message needs something done again, if ever. */
export async function recordResults(ctx: Ctx, on: DispatchLine, ended: readonly Ended[]): Promise<(number | null)[]> {
  ctx.failpoint('dispatch.before_result')
  const next = await ctx.db.tx(async (sql) => {
    const now = ctx.clock.now()
    const [live, written, parked] = await Promise.all([
      lockMessages(sql, ended.map(({ claimed }) => claimed.message.id)),
      endAttempts(
        sql,
        ended.map(({ claimed, result }) => ({
          ref: claimed.attempt.ref,
          state: result.outcome === 'never-left' ? ('never_left' as const) : result.outcome,
          endedAt: now,
          providerId: result.outcome === 'accepted' ? result.providerId : null,
          code: result.outcome === 'accepted' ? null : result.code,
          detail: result.outcome === 'accepted' ? null : result.detail,
        })),
      ),
      takeParkedReceipts(
        sql,
        on.line.id,
        ended.flatMap(({ result }) => (result.outcome === 'accepted' ? result.providerId : [])),
      ),
    ])
    const changes: Change[] = []
    const current = ended.map(({ claimed, result }, index) => {
      const before = live.get(claimed.message.id)!
      // Somebody judged this attempt meanwhile. An acceptance is still evidence; anything else came too late.
      if (!written[index] && result.outcome !== 'accepted') return before
      const after = written[index]
        ? afterResult(before, claimed.attempt, result, on, now)
        : afterAcceptance(before, claimed.attempt, (result as { status: Message['status'] }).status, on, now)
      changes.push({ before, after })
      return after
    })
    for (const receipt of parked) applyParked(on, receipt, ended.find(({ result }) => result.outcome === 'accepted' && result.providerId === receipt.providerId)!.claimed.attempt, changes, now)
    await saveChanges(sql, changes)
    return current.map((message) => message.nextActionAt)
  })
  for (const { result } of ended) ctx.metrics.outcomes.inc({ driver: on.line.driver, outcome: result.outcome })
  ctx.failpoint('dispatch.after_result')
  return next
}

/** Writes changed messages with an event for each change of status. */
export async function saveChanges(sql: Sql, changes: readonly Change[]): Promise<void> {
  const visible = changes.filter(({ before, after }) => before.status !== after.status)
  await Promise.all([
    appendEvents(sql, visible.map(({ after }) => messageEvent('message.updated', after))),
    saveMessages(sql, changes),
  ])
}

/**
 * Attempts that a former driver of this line left open, a crashed process among them: whether they went out is
 * unknown, and from now on they are questions to the carrier.
 */
export async function recoverOpenAttempts(ctx: Ctx, on: DispatchLine): Promise<number> {
  return ctx.db.tx(async (sql) => {
    const now = ctx.clock.now()
    const open = await listOpenAttempts(sql, on.line.id, on.lease.epoch)
    if (open.length === 0) return 0
    const messages = await lockMessages(sql, open.map((attempt) => attempt.messageId))
    const result: SendResult = { outcome: 'unknown', code: 'interrupted', detail: 'The process stopped during the send' }
    await endAttempts(
      sql,
      open.map((attempt) => ({ ...attempt, state: 'unknown' as const, endedAt: now, code: result.code, detail: result.detail })),
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
}

/** The attempt whose outcome is the question about this message, if there is one. */
export async function findUnresolved(ctx: Ctx, message: Message): Promise<Attempt | undefined> {
  if (message.status !== 'PENDING' || message.nextActionAt === null) return undefined
  const attempt = await findAttempt(ctx.db, message.id, message.attempts)
  return attempt?.state === 'unknown' ? attempt : undefined
}

/** Records what the carrier said about an attempt of unknown outcome. Answers when to look again, if ever. */
export async function recordEvidence(
  ctx: Ctx,
  on: DispatchLine,
  attempt: Attempt,
  evidence: Evidence,
): Promise<number | null> {
  return ctx.db.tx(async (sql) => {
    const now = ctx.clock.now()
    const before = (await lockMessages(sql, [attempt.messageId])).get(attempt.messageId)!
    const open = (await findAttemptsByRef(sql, [attempt.ref])).get(attempt.ref)
    if (open?.state !== 'unknown' || before.attempts !== attempt.n) return before.nextActionAt
    const verdict = afterEvidence(before, open, evidence, { ...on.line, services: on.services }, now)
    if (verdict.kind === 'wait') await countLookup(sql, attempt.ref)
    else {
      const state = { accepted: 'accepted', 'never-left': 'never_left', 'given-up': 'given_up' } as const
      const providerId = verdict.kind === 'accepted' ? verdict.providerId : null
      await endAttempts(sql, [{ ...open, state: state[verdict.kind], endedAt: now, providerId }])
    }
    const changes = [{ before, after: verdict.message }]
    if (verdict.kind === 'accepted') {
      for (const receipt of await takeParkedReceipts(sql, on.line.id, [verdict.providerId])) {
        applyParked(on, receipt, attempt, changes, now)
      }
    }
    await saveChanges(sql, changes)
    return changes[0]!.after.nextActionAt
  })
}
