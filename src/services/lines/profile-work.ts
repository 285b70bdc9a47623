import { AppError } from '../../core/errors.js'
import type { NewEvent } from '../../core/events/event.js'
import { LineFault } from '../../core/lines/fault.js'
import type { Line } from '../../core/lines/line.js'
import { backoffMs, MAX_ATTEMPTS } from '../../core/messages/retry.js'
import type { Profile } from '../../drivers/contract.js'
import { findAccount } from '../../storage/accounts/accounts.js'
import type { Sql } from '../../storage/engine/db.js'
import { appendEvents } from '../../storage/events/events.js'
import { holdsLease, type Lease } from '../../storage/lines/leases.js'
import {
  endRequest,
  findOpenRequest,
  listLostRequests,
  type ProfileRequest,
  saveTry,
} from '../../storage/lines/profiles.js'
import type { Ctx, DrivenLine } from '../ctx.js'
import { checkPhoto } from './profile-photo.js'

type Result = { profile: Profile } | { errorCode: string; errorMessage: string }

/**
 * Carries out the requests about a line's profile, oldest first. A request stays open until its outcome and event are
 * stored together; repeating it after a crash changes nothing. Returns the time of the next try.
 */
export async function performProfileRequests(
  ctx: Ctx,
  on: { line: Line; lease: Lease; act: DrivenLine['act'] },
  isStopping: () => boolean,
): Promise<number | undefined> {
  while (!isStopping()) {
    const request = await findOpenRequest(ctx.db, on.line.id)
    if (!request) return undefined
    const now = ctx.clock.now()
    if (request.nextAt > now) return request.nextAt
    const operationId = request.operationId ?? ctx.newId()
    const tried = { ...request, operationId, attempts: request.attempts + 1 }
    // Before the call to the carrier: a crash counts as a try, and the operation keeps its id.
    await saveTry(ctx.db, request.id, operationId, tried.attempts, now + backoffMs(tried.attempts))
    ctx.failpoint('profile.before_change')
    const result = await change(ctx, on.act, tried)
    ctx.failpoint('profile.after_change')
    if (result) await ctx.db.tx((sql) => conclude(ctx, sql, on.lease, tried, result))
    ctx.failpoint('profile.after_end')
  }
  return undefined
}

/** Calls the carrier. Undefined: it could not be reached and is tried again. */
async function change(
  ctx: Ctx,
  act: DrivenLine['act'],
  request: ProfileRequest,
): Promise<Result | undefined> {
  try {
    if (request.change.photoUrl) await checkPhoto(ctx, request.change.photoUrl)
    return { profile: await inTime(ctx, act('setProfile', request.change)) }
  } catch (error) {
    if (error instanceof AppError) return { errorCode: 'photo_unusable', errorMessage: error.message }
    if (!(error instanceof LineFault)) throw error
    if (error.code === 'unreachable' && request.attempts < MAX_ATTEMPTS) return undefined
    return { errorCode: error.code, errorMessage: error.message }
  }
}

function inTime<T>(ctx: Ctx, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = ctx.clock.after(ctx.config.wireTimeoutMs, () =>
      reject(new LineFault('unreachable', 'The carrier did not answer in time')),
    )
    work.then(resolve, reject).finally(cancel)
  })
}

/** Stores the outcome of a request and its event, unless this process has lost the line. */
async function conclude(
  ctx: Ctx,
  sql: Sql,
  lease: Lease | null,
  request: ProfileRequest,
  result: Result,
): Promise<void> {
  if (lease && !(await holdsLease(sql, lease))) return
  const at = ctx.clock.now()
  const errorCode = 'errorCode' in result ? result.errorCode : null
  if (!(await endRequest(sql, request.id, at, errorCode))) return
  const account = await findAccount(sql, request.accountId)
  if (account) await appendEvents(sql, [profileEvent(request, account.email, result, at)])
}

/** The event's id follows from the request, so every delivery of it has the same id. */
function profileEvent(request: ProfileRequest, accountEmail: string, result: Result, at: number): NewEvent {
  const status = 'profile' in result ? 'completed' : 'failed'
  return {
    accountId: request.accountId,
    type: `contact_profile.${status}`,
    subject: request.id,
    at,
    data: {
      eventId: `contact_profile:${request.id}:${status}`,
      requestId: request.id,
      operationId: request.operationId,
      accountEmail,
      fromNumber: request.lineNumber,
      status,
      profile:
        'profile' in result ? { ...result.profile, publishRecordPresent: result.profile.hasProfile } : null,
      errorCode: 'errorCode' in result ? result.errorCode : null,
      errorMessage: 'errorCode' in result ? result.errorMessage : null,
      requestedAt: request.requestedAt,
      observedAt: at,
    },
  }
}

const AT_ONCE = 100

/** Ends the requests of removed lines. */
export async function failLostProfileRequests(ctx: Ctx): Promise<void> {
  for (;;) {
    const lost = await listLostRequests(ctx.db, AT_ONCE)
    const gone = {
      errorCode: 'line_removed',
      errorMessage: 'The line was removed before its profile changed',
    }
    for (const request of lost) await ctx.db.tx((sql) => conclude(ctx, sql, null, request, gone))
    if (lost.length < AT_ONCE) return
  }
}
