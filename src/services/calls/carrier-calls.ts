import { storable } from '../../base/storable.js'
import { type Call, endCall } from '../../core/calls/call.js'
import {
  afterNews,
  type CallNews,
  type CallRoute,
  cutOff,
  LOST_CALL_MS,
  routeOf,
} from '../../core/calls/carrier-call.js'
import type { Line } from '../../core/lines/line.js'
import { insertCarrierCall, lockCarrierCall, lockLostCalls, saveCall } from '../../storage/calls/calls.js'
import type { Sql } from '../../storage/engine/db.js'
import { appendEvents } from '../../storage/events/events.js'
import { holdLine, requireCurrent } from '../../storage/lines/lines.js'
import type { Ctx } from '../ctx.js'
import { callEvents, deadEnd, routeCall } from './calls.js'

const AT_ONCE = 256

/** Stores a carrier's report of a call, with the event if the call has ended, and returns where the call goes. */
export async function takeCall(ctx: Ctx, line: Line, report: CallNews): Promise<CallRoute> {
  const news = storable(report)
  const call = await ctx.db.tx(async (sql) => {
    const now = ctx.clock.now()
    const known = await lockCarrierCall(sql, line.id, news.providerId)
    if (known) return advance(sql, known, news, now)
    if (!(await holdLine(sql, line.id))) return undefined
    const first = await firstState(ctx, sql, line, news, now)
    if (await insertCarrierCall(sql, first)) {
      await appendEvents(sql, await callEvents(sql, [first], now))
      await requireCurrent(sql, [line])
      return first
    }
    // Another transaction has stored an earlier report in between.
    return advance(sql, (await lockCarrierCall(sql, line.id, news.providerId))!, news, now)
  })
  if (call?.state === 'ended') ctx.failpoint('call.after_end')
  return call ? routeOf(call) : { forwardTo: null }
}

async function advance(sql: Sql, known: Call, news: CallNews, now: number): Promise<Call> {
  const call = afterNews(known, news, now)
  if (call !== known) await save(sql, [call], now)
  return call
}

/** The call as the first report of it says. */
async function firstState(ctx: Ctx, sql: Sql, line: Line, news: CallNews, now: number): Promise<Call> {
  const routed = await routeCall(ctx, sql, line, line.network, news.from)
  const createdAt = Math.min(news.startedAt, now)
  const call: Call = {
    ...routed,
    providerId: news.providerId,
    createdAt,
    // No account has this row, so no erasure would find a number in it.
    caller: routed.accountId === null ? '' : routed.caller,
  }
  if (call.state === 'turned_away') return call
  const ringing = { ...call, dueAt: createdAt + LOST_CALL_MS }
  // The carrier did not ask where the call goes, so the call did not go there.
  if (news.end) return afterNews({ ...ringing, forwardedTo: news.forwardedTo ?? null }, news, now)
  const outcome = await deadEnd(sql, line, ringing)
  return outcome ? endCall(ringing, outcome, now) : afterNews(ringing, news, now)
}

/** Ends calls whose reports got lost. */
export async function endLostCalls(ctx: Ctx): Promise<void> {
  for (let count = AT_ONCE; count === AT_ONCE; ) {
    count = await ctx.db.tx(async (sql) => {
      const now = ctx.clock.now()
      const lost = await lockLostCalls(sql, now - LOST_CALL_MS, AT_ONCE)
      await save(
        sql,
        lost.map((call) => cutOff(call, now)),
        now,
      )
      return lost.length
    })
  }
}

async function save(sql: Sql, calls: readonly Call[], now: number): Promise<void> {
  for (const call of calls) await saveCall(sql, call)
  await appendEvents(sql, await callEvents(sql, calls, now))
}
