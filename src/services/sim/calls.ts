import type { Account } from '../../core/accounts/account.js'
import { afterAction, type Call, type CallAction, type CallOutcome, endCall } from '../../core/calls/call.js'
import { AppError } from '../../core/errors.js'
import type { Line } from '../../core/lines/line.js'
import { servicesOf } from '../../core/sim/phone.js'
import { topics } from '../../core/topics.js'
import { findNextCallDue, insertCall, lockCall, lockDueCalls, saveCall } from '../../storage/calls/calls.js'
import type { Sql } from '../../storage/engine/db.js'
import { appendEvents } from '../../storage/events/events.js'
import { holdLine, listLinesOf } from '../../storage/lines/lines.js'
import { findPhone, listPhonesByEmail } from '../../storage/sim/phones.js'
import { callEvents, deadEnd, routeCall } from '../calls/calls.js'
import type { Ctx, Platform } from '../ctx.js'
import { setPhone } from './phones.js'

const AT_ONCE = 256

/** The voice side of the simulated network, and its directory of e-mail addresses. */
export function createCallNetwork(ctx: Platform) {
  return {
    /** Ends calls that were not answered in time, and returns when to check again. */
    async giveUpCalls(line: Line): Promise<number | undefined> {
      for (let count = AT_ONCE; count === AT_ONCE; ) {
        count = await ctx.db.tx(async (sql) => {
          const now = ctx.clock.now()
          const due = await lockDueCalls(sql, line.id, now, AT_ONCE)
          await saveEnds(
            ctx,
            sql,
            due.map((call) => endCall(call, 'NO_ANSWER', now)),
          )
          return due.length
        })
        if (count > 0) ctx.failpoint('call.after_end')
      }
      return findNextCallDue(ctx.db, line.id)
    },
    onCalls: (line: Line, handler: () => void) => ctx.wakes.on(topics.phoneCalls(line.id), handler),
    /** The number behind an e-mail address. */
    async servicesAt(network: string, email: string) {
      const phones = await listPhonesByEmail(ctx.db, network, email)
      return phones.some((phone) => servicesOf(phone).includes('iMessage')) ? (['iMessage'] as const) : []
    },
  }
}

/** A phone calls a line. */
export async function callFromPhone(
  ctx: Ctx,
  sql: Sql,
  account: Account,
  number: string,
  to: string,
): Promise<Call> {
  const network = account.id
  const line = (await listLinesOf(sql, account.id)).find((one) => one.number === to)
  if (line?.driver !== 'simulator' || !(await holdLine(sql, line.id))) {
    throw new AppError(
      'invalid',
      `to: ${to} is not a simulated line of this account. GET /api/lines lists the lines.`,
    )
  }
  const phone =
    (await findPhone(sql, network, number)) ?? (await setPhone(ctx, sql, network, number, {})).phone
  if (!phone.power)
    throw new AppError('invalid', `The phone ${number} is switched off; switch it on to call from it`)
  return putThrough(ctx, sql, line, await routeCall(ctx, sql, line, network, number))
}

/** The network accepts a call: it rings, or ends at once. */
export async function putThrough(ctx: Ctx, sql: Sql, line: Line, call: Call): Promise<Call> {
  const outcome = call.state === 'ringing' ? await immediateEnd(ctx, sql, line, call) : undefined
  const placed = outcome ? endCall(call, outcome, call.createdAt) : call
  await insertCall(sql, placed)
  announce(sql, placed)
  await appendEvents(sql, await callEvents(sql, [placed], placed.createdAt))
  return placed
}

/** The outcome of a call that ends before it rings. */
async function immediateEnd(ctx: Ctx, sql: Sql, line: Line, call: Call): Promise<CallOutcome | undefined> {
  const outcome = await deadEnd(sql, line, call)
  if (outcome) return outcome
  const forwardedTo = call.forwardedTo!
  // The phone that rings is one of the account that the call reaches.
  const network = call.accountId!
  const phone =
    (await findPhone(sql, network, forwardedTo)) ?? (await setPhone(ctx, sql, network, forwardedTo, {})).phone
  if (!phone.power) return 'FAILED'
  return phone.refuses ? 'BUSY' : undefined
}

/** A phone answers, refuses or ends a call. */
export async function actOnCall(
  ctx: Ctx,
  sql: Sql,
  account: Account,
  number: string,
  id: string,
  action: CallAction,
): Promise<Call> {
  const call = await lockCall(sql, id)
  const side = call?.caller === number && call.network === account.id ? 'caller' : 'forwarded'
  const seen = side === 'caller' || (call?.forwardedTo === number && call.accountId === account.id)
  if (!call || !seen || call.providerId !== null)
    throw new AppError('not_found', 'There is no such call on this phone')
  if (!(await findPhone(sql, account.id, number))?.power)
    throw new AppError('invalid', `The phone ${number} is switched off`)
  const after = afterAction(call, side, action, ctx.clock.now())
  await saveEnds(ctx, sql, [after])
  return after
}

/** Stores a call's new state, and its event if the call has ended. */
export async function saveEnds(ctx: Platform, sql: Sql, calls: readonly Call[]): Promise<void> {
  for (const call of calls) {
    await saveCall(sql, call)
    announce(sql, call)
  }
  await appendEvents(sql, await callEvents(sql, calls, ctx.clock.now()))
  if (calls.length > 0) ctx.failpoint('call.before_end')
}

/** The phones of both sides show the call. */
function announce(sql: Sql, { network, accountId }: Call): void {
  for (const account of new Set([network, accountId])) if (account) sql.announce(topics.screens, account)
}

/** Wakes the process that drives the line: there is a call to watch. */
export function wakeCalls(ctx: Ctx, call: Call): void {
  ctx.wakes.wake(topics.phoneCalls(call.lineId))
}
