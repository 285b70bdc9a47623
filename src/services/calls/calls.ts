import { uuidOf } from '../../base/ids.js'
import { type Call, type CallOutcome, RING_MS, turnAwayCall } from '../../core/calls/call.js'
import { cutOff } from '../../core/calls/carrier-call.js'
import { callEvent } from '../../core/calls/event.js'
import { forwardingNumber } from '../../core/calls/forwarding.js'
import type { NewEvent } from '../../core/events/event.js'
import type { Line } from '../../core/lines/line.js'
import { findAccount } from '../../storage/accounts/accounts.js'
import { lockOpenCalls, saveCall } from '../../storage/calls/calls.js'
import { findForwardingNumbers, isBlocked } from '../../storage/calls/forwarding.js'
import { findContacts } from '../../storage/contacts/contacts.js'
import type { Sql } from '../../storage/engine/db.js'
import { findDriversEver, findLineByNumber } from '../../storage/lines/lines.js'
import type { Ctx } from '../ctx.js'
import { ownerOf } from '../messages/inbound/owner.js'

/**
 * The account and the destination of a call that reaches a line. Nothing is stored yet. The call is refused if its
 * account has blocked the caller or no number is set to ring.
 */
export async function routeCall(
  ctx: Ctx,
  sql: Sql,
  line: Line,
  network: string,
  caller: string,
): Promise<Call> {
  const now = ctx.clock.now()
  const accountId = (await ownerOf(sql, line, caller)) ?? null
  const numbers = accountId && (await findForwardingNumbers(sql, line.id, accountId))
  const forwardedTo = numbers ? forwardingNumber(numbers) : null
  const blocked = accountId !== null && (await isBlocked(sql, accountId, caller))
  const call: Call = {
    id: ctx.newId(),
    network,
    providerId: null,
    direction: 'inbound',
    lineId: line.id,
    lineNumber: line.number,
    accountId,
    caller,
    forwardedTo: blocked ? null : forwardedTo,
    state: 'ringing',
    outcome: null,
    voicemail: false,
    sentBy: null,
    createdAt: now,
    answeredAt: null,
    endedAt: null,
    dueAt: now + RING_MS,
  }
  return call.forwardedTo === null ? turnAwayCall(call, now) : call
}

/** The outcome of a call to a number that cannot ring. */
export async function deadEnd(sql: Sql, line: Line, call: Call): Promise<CallOutcome | undefined> {
  // A line cannot ring, and a call is forwarded once, so two lines cannot forward it to each other forever.
  if (await findLineByNumber(sql, line.network, call.forwardedTo!)) return 'FAILED'
  return call.forwardedTo === call.caller ? 'BUSY' : undefined
}

/** The event of an ended call, written at this time. Exactly the calls that reached an existing account have one. */
export async function callEvents(sql: Sql, calls: readonly Call[], now: number): Promise<NewEvent[]> {
  const events: NewEvent[] = []
  const ended = calls.filter(({ state }) => state === 'ended')
  const drivers = await findDriversEver(sql, [...new Set(ended.map(({ lineId }) => lineId))])
  for (const call of ended) {
    const account = await findAccount(sql, call.accountId!)
    if (!account) continue
    const called = call.forwardedTo!
    const contact = (await findContacts(sql, account.id, 'phone', [called])).get(called)
    const driver = drivers.get(call.lineId)
    events.push(callEvent(call, driver, account, companyIdOf(account), contact?.id ?? null, now))
  }
  return events
}

/** Accounts have short ids; this is the account's id where the interface promises a UUID. */
export function companyIdOf(account: { id: string }): string {
  return uuidOf(`account:${account.id}`)
}

/** Ends the calls of a removed line. */
export async function endCallsOf(sql: Sql, lineId: string, now: number): Promise<NewEvent[]> {
  const calls = (await lockOpenCalls(sql, lineId)).map((call) => cutOff(call, now))
  for (const call of calls) await saveCall(sql, call)
  return callEvents(sql, calls, now)
}
