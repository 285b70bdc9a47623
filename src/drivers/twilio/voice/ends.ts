import type { CallOutcome } from '../../../core/calls/call.js'
import type { CallNews } from '../../../core/calls/carrier-call.js'
import { fromNational } from '../../../core/phone-number.js'
import { type Api, pagesOf } from '../api.js'
import { type CallRow, callRowOf, outcomeOf } from './fields.js'

/** Twilio calls a call completed that heard an error message, and no-answer if the caller left. */
const UNFORWARDED: Readonly<Partial<Record<CallOutcome, CallOutcome>>> = {
  COMPLETED: 'FAILED',
  NO_ANSWER: 'CANCELLED',
}

export type EndNews = CallNews & Required<Pick<CallNews, 'end'>>

/** How a call to the number ended; undefined while Twilio does not tell. */
export async function endOf(api: Api, number: string, row: CallRow): Promise<EndNews | undefined> {
  const own = outcomeOf(row.status)
  if (!own) return undefined
  const leg = await legOf(api, row)
  const outcome = leg ? outcomeOf(leg.status) : (UNFORWARDED[own] ?? own)
  if (!outcome) return undefined
  const at = leg?.endedAt ?? row.endedAt ?? row.startedAt
  const talked = outcome === 'COMPLETED' ? leg?.seconds : undefined
  return {
    providerId: row.sid,
    from: fromNational(row.from, number),
    startedAt: row.startedAt,
    end: { outcome, at },
    ...(leg ? { forwardedTo: leg.to } : {}),
    ...(talked === undefined ? {} : { answeredAt: at - talked * 1000 }),
  }
}

/** The call to the phone that the caller was forwarded to. */
async function legOf(api: Api, { sid }: CallRow): Promise<CallRow | undefined> {
  const query = new URLSearchParams({ ParentCallSid: sid, PageSize: '20' })
  for await (const { rows } of pagesOf(api, `Calls.json?${query}`, 'calls'))
    return rows.map(callRowOf).find((row) => row?.direction === 'outbound-dial')
  return undefined
}
