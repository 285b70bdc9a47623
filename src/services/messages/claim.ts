import type { Group } from '../../core/groups/group.js'
import { dayOf } from '../../core/lines/pacing.js'
import { needsIMessage } from '../../core/messages/extra.js'
import { carriedOf, type Message, type Service } from '../../core/messages/message.js'
import type { SendStyle } from '../../core/messages/send-style.js'
import { serviceChain } from '../../core/messages/service.js'
import type { Outbound } from '../../drivers/contract.js'
import { sumByAccount } from '../../storage/accounts/budgets.js'
import { CommitUnknown, MissingValue, type Sql, UniqueViolation } from '../../storage/engine/db.js'
import { findGroups } from '../../storage/groups/groups.js'
import { countSends } from '../../storage/lines/days.js'
import { holdsLease } from '../../storage/lines/leases.js'
import {
  type Attempt,
  findNextAttempts,
  insertAttempts,
  listAttempts,
} from '../../storage/messages/attempts.js'
import { findMessagesByHandle } from '../../storage/messages/messages.js'
import type { Ctx } from '../ctx.js'
import { forDriver } from '../groups/groups.js'
import { type DispatchLine, LeaseLost } from './dispatch-line.js'
import { recoverOpenAttempts } from './outcomes.js'

export interface Claim {
  message: Message
  attempt: Attempt
  outbound: Outbound
}

/**
 * Commits one attempt for each message before its first byte leaves: from then on the message may be out. `reach`
 * holds the services by which the carrier can reach the recipient, by message. Leaves out messages that another transaction
 * has settled in the meantime.
 */
export async function claim(
  ctx: Ctx,
  on: DispatchLine,
  messages: readonly Message[],
  reach: ReadonlyMap<number, readonly Service[]>,
): Promise<Claim[]> {
  if (messages.length === 0) return []
  const now = ctx.clock.now()
  const groups = await findGroups(
    ctx.db,
    messages.flatMap((message) => message.groupId ?? []),
  )
  const targets = await replyTargets(ctx.db, messages)
  const claimed = messages.map((message): Claim => {
    const attempt: Attempt = {
      ref: ctx.newId(),
      messageId: message.id,
      n: message.attempts + 1,
      lineId: on.line.id,
      epoch: on.lease.epoch,
      service: chooseService(on, message, reach.get(message.id)),
      state: 'on_wire',
      wireAt: now,
      endedAt: null,
      providerId: null,
      lookups: 0,
      code: null,
      detail: null,
    }
    const group = groups.get(message.groupId ?? '')
    return { message, attempt, outbound: outboundOf(message, attempt, group, targets.get(message.id)) }
  })
  try {
    await ctx.db.write((sql) =>
      Promise.all([
        insertAttempts(
          sql,
          claimed.map((one) => one.attempt),
        ),
        on.daily && countSends(sql, on.line.id, dayOf(now), sendsOf(claimed)),
      ]),
    )
    on.daily?.count(now, sendsOf(claimed))
    for (const { message } of claimed) on.unsent.delete(message.id)
  } catch (error) {
    if (error instanceof CommitUnknown)
      for (const { message, attempt } of claimed) on.unsent.set(message.id, attempt.ref)
    if (error instanceof UniqueViolation) return besides(ctx, on, claimed, reach, error)
    if (!(error instanceof MissingValue)) throw error
    if (!(await holdsLease(ctx.db, on.lease))) throw new LeaseLost()
    if (messages.length === 1) return []
    const each = await Promise.all(messages.map((message) => claim(ctx, on, [message], reach)))
    return each.flat()
  }
  ctx.failpoint('dispatch.after_attempt')
  return claimed
}

/**
 * Some attempts are in the table already. An attempt of ours whose commit went unanswered has not left: it goes
 * now. Any other attempt was begun by the process that lost the line: its outcome is unknown.
 */
async function besides(
  ctx: Ctx,
  on: DispatchLine,
  wanted: readonly Claim[],
  reach: ReadonlyMap<number, readonly Service[]>,
  fault: UniqueViolation,
): Promise<Claim[]> {
  const messages = wanted.map(({ message }) => message)
  const there = await findNextAttempts(ctx.db, messages)
  const ours: Claim[] = []
  const questions: string[] = []
  for (const { message, outbound } of wanted) {
    const attempt = there.get(message.id)
    if (!attempt) continue
    if (attempt.state !== 'on_wire' || on.unsent.get(message.id) !== attempt.ref) questions.push(attempt.ref)
    else ours.push({ message, attempt, outbound: wireAs(outbound, message, attempt) })
  }
  const recovered = await recoverOpenAttempts(ctx, on, questions)
  // Nothing to adopt and nothing to recover: the next claim would fail the same way.
  if (ours.length + recovered === 0) throw fault
  on.daily?.count(ctx.clock.now(), sendsOf(ours))
  const rest = messages.filter(({ id }) => !there.has(id))
  const others = await claim(ctx, on, rest, reach)
  for (const id of there.keys()) on.unsent.delete(id)
  return [...ours, ...others]
}

/** The message's service, or a lesser one if the carrier knows that only that one reaches the recipient. */
export function chooseService(
  on: Pick<DispatchLine, 'services'>,
  message: Message,
  reachable: readonly Service[] | undefined,
): Service {
  if (!reachable || reachable.includes(message.service) || needsIMessage(message.extra))
    return message.service
  // Never a better one: it has refused the message before, whatever the carrier says about reach.
  const own = on.services.indexOf(message.service)
  const chain = serviceChain(on.services, reachable)
  return chain.find((service) => on.services.indexOf(service) > own) ?? message.service
}

/** Without spreads: they took 8 µs of each send. */
function outboundOf(
  message: Message,
  attempt: Attempt,
  group: Group | undefined,
  replyTo: Outbound['replyTo'] = null,
): Outbound {
  const outbound = carriedOf(message) as Outbound
  outbound.to = group ? '' : message.contact
  outbound.replyTo = replyTo
  outbound.group = group ? forDriver(group) : null
  return wireAs(outbound, message, attempt)
}

/** Sets the form in which the attempt puts the message on the wire. */
function wireAs(outbound: Outbound, { sendStyle }: Message, { ref, service }: Attempt): Outbound {
  outbound.ref = ref
  outbound.service = service
  outbound.sendStyle = service === 'iMessage' ? (sendStyle as SendStyle | '') : ''
  return outbound
}

/** What messages answer, by the id of the message. */
async function replyTargets(
  sql: Sql,
  messages: readonly Message[],
): Promise<Map<number, Outbound['replyTo']>> {
  const answers = messages.filter(({ replyTo }) => replyTo !== null)
  const targets = answers.map(({ replyTo }) => replyTarget(sql, replyTo!.handle, replyTo!.partIndex))
  const found = await Promise.all(targets)
  return new Map(answers.map(({ id }, i) => [id, found[i]!]))
}

async function replyTarget(sql: Sql, handle: string, partIndex: number | null) {
  const target = (await findMessagesByHandle(sql, [handle])).get(handle)
  if (!target) return null
  const providerId =
    target.providerId ?? (await listAttempts(sql, target.id)).find((a) => a.providerId)?.providerId
  return providerId ? { providerId, partIndex: partIndex ?? 0 } : null
}

/** The number of sends by account. */
function sendsOf(claims: readonly Claim[]): Map<string, number> {
  return sumByAccount(
    claims.map(({ message }) => message),
    () => 1,
  )
}
