import type { Account } from '../../core/accounts/account.js'
import { AppError } from '../../core/errors.js'
import { topics } from '../../core/topics.js'
import {
  codeOf,
  type HostedWidget,
  pick,
  type Verification,
  type VerifyService,
  verificationEvent,
} from '../../core/verify/verification.js'
import type { Sql } from '../../storage/engine/db.js'
import { appendEvents } from '../../storage/events/events.js'
import {
  cancelVerification,
  cancelVerificationsOf,
  countPending,
  findHostedVerification,
  findVerification,
  findVerifyService,
  insertVerification,
  insertVerifyService,
  listVerifications,
  removeVerifyService,
  type VerificationPage,
} from '../../storage/verify/verifications.js'
import type { UsableLine } from '../accounts/directory.js'
import type { Ctx } from '../ctx.js'
import { expireVerificationsDue } from './ends.js'

export type NewVerifyService = Pick<
  VerifyService,
  'friendlyName' | 'codeLength' | 'ttlSeconds' | 'useCustomerLines'
>

export async function createVerifyService(
  ctx: Ctx,
  sql: Sql,
  account: Account,
  input: NewVerifyService,
): Promise<VerifyService> {
  const service = { ...input, sid: newSid(ctx, 'SV'), accountId: account.id, createdAt: ctx.clock.now() }
  await insertVerifyService(sql, service)
  return service
}

/** Pending verifications of the service are canceled; ended ones stay listed. */
export async function deleteVerifyService(ctx: Ctx, account: Account, sid: string): Promise<void> {
  await ctx.db.tx(async (sql) => {
    const now = ctx.clock.now()
    if (!(await removeVerifyService(sql, account.id, sid, now))) throw noService()
    const canceled = await cancelVerificationsOf(sql, sid, now)
    await appendEvents(sql, canceled.map(verificationEvent))
  })
}

export interface NewVerification {
  to: string
  hosted: (Omit<HostedWidget, 'sessionId' | 'brandName'> & { brandName: string | null }) | null
}

/** Creates a code that only `to` can answer, by texting it to the pool number. Sends no message. */
export async function startVerification(
  ctx: Ctx,
  sql: Sql,
  account: Account,
  serviceSid: string,
  lines: readonly UsableLine[],
  input: NewVerification,
): Promise<Verification> {
  const service = await findVerifyService(sql, account.id, serviceSid)
  if (!service) throw noService()
  const { line } = poolLine(service, lines, input.to)
  const now = ctx.clock.now()
  const verification: Verification = {
    sid: newSid(ctx, 'VR'),
    serviceSid,
    accountId: account.id,
    to: input.to,
    lineId: line.id,
    poolNumber: line.number,
    code: '',
    status: 'pending',
    createdAt: now,
    updatedAt: now,
    expiresAt: now + service.ttlSeconds * 1000,
    completedAt: null,
    hosted: input.hosted && {
      ...input.hosted,
      brandName: input.hosted.brandName ?? service.friendlyName,
      sessionId: `VH${ctx.random.bytes(16).toString('hex')}`,
    },
  }
  if ((await countPending(sql, verification, MAX_PENDING)) < MAX_PENDING) {
    for (let tries = 0; tries < CODE_TRIES; tries++) {
      verification.code = codeOf(ctx.random.below(10 ** service.codeLength), service.codeLength)
      if (await insertVerification(sql, verification)) return verification
    }
  }
  throw new AppError(
    'rate_limited',
    `Too many verifications of ${input.to} are pending; wait until some expire`,
    {
      retryAfterMs: service.ttlSeconds * 1000,
    },
  )
}

/**
 * Pending verifications of one person for one account on one line. A code is unique among the pending ones of all
 * accounts of a shared line, because one text must approve one verification. A hundredth of the shortest codes leaves
 * the other accounts theirs.
 */
const MAX_PENDING = 100

/** With half of all codes of a length in use, one in a million requests fails. */
const CODE_TRIES = 20

/**
 * The line that a code goes to: the shared line, or a dedicated one if the service says so or there is no shared
 * line.
 */
function poolLine(service: VerifyService, lines: readonly UsableLine[], to: string): UsableLine {
  const able = lines.filter(({ line }) => line.number !== to)
  const shared = able.filter(({ line }) => line.kind === 'shared')
  const own = able.filter(({ line }) => line.kind === 'dedicated')
  const pool = service.useCustomerLines ? own : shared.length > 0 ? shared : own
  const chosen = pick(pool, to)
  if (chosen) return chosen
  throw new AppError(
    'unprocessable',
    service.useCustomerLines
      ? 'use_customer_lines: this account has no dedicated line that codes could be texted to'
      : 'This account has no line that codes could be texted to',
  )
}

/** Wakes the timer of expiries after a verification was created. */
export function verificationStarted(ctx: Ctx): void {
  ctx.wakes.wake(topics.verifications)
}

/** A verification in its present state. */
export async function readVerification(
  ctx: Ctx,
  account: Account,
  serviceSid: string,
  sid: string,
): Promise<Verification> {
  const found = await current(ctx, () => findVerification(ctx.db, account.id, serviceSid, sid))
  if (!found) throw noVerification()
  return found
}

/** Whether its code can still be answered. */
export async function isPending(
  ctx: Ctx,
  sql: Sql,
  account: Account,
  serviceSid: string,
  sid: string,
): Promise<boolean> {
  const found = await findVerification(sql, account.id, serviceSid, sid)
  return found?.status === 'pending' && found.expiresAt > ctx.clock.now()
}

/** The verification of a widget's session, for the holder of its token. */
export async function readHosted(
  ctx: Ctx,
  sessionId: string,
  token: string,
): Promise<Verification & { hosted: HostedWidget }> {
  const found = ctx.vault.isSigned(HOSTED, sessionId, token)
    ? await current(ctx, () => findHostedVerification(ctx.db, sessionId))
    : undefined
  if (!found?.hosted) throw noSession()
  return { ...found, hosted: found.hosted }
}

const HOSTED = 'verify.hosted'

/** The token of a widget's session. It is computed and stored nowhere. */
export function hostedToken(ctx: Ctx, sessionId: string): string {
  return ctx.vault.sign(HOSTED, sessionId)
}

async function current(
  ctx: Ctx,
  find: () => Promise<Verification | undefined>,
): Promise<Verification | undefined> {
  const found = await find()
  if (found?.status !== 'pending' || found.expiresAt > ctx.clock.now()) return found
  await expireVerificationsDue(ctx)
  return find()
}

export async function readVerifications(
  ctx: Ctx,
  account: Account,
  page: VerificationPage,
): Promise<Verification[]> {
  await expireVerificationsDue(ctx)
  return listVerifications(ctx.db.aside(account.id), account.id, page)
}

/** Cancels a pending verification. Canceling twice is no error; canceling one that ended otherwise is. */
export async function cancel(
  ctx: Ctx,
  sql: Sql,
  account: Account,
  serviceSid: string,
  sid: string,
): Promise<Verification> {
  const now = ctx.clock.now()
  const found = await findVerification(sql, account.id, serviceSid, sid)
  if (!found) throw noVerification()
  const canceled = await cancelVerification(sql, sid, now)
  if (canceled) {
    await appendEvents(sql, [verificationEvent(canceled)])
    return canceled
  }
  const after = await findVerification(sql, account.id, serviceSid, sid)
  if (after?.status === 'canceled') return after
  throw new AppError(
    'conflict',
    `This verification is ${after?.status === 'pending' ? 'expired' : after?.status} and cannot be canceled`,
  )
}

function newSid(ctx: Ctx, prefix: string): string {
  return prefix + ctx.newId().replaceAll('-', '')
}

export function noService(): AppError {
  return new AppError('not_found', 'There is no verify service with this sid')
}

function noVerification(): AppError {
  return new AppError('not_found', 'There is no verification with this sid in this service')
}

export function noSession(): AppError {
  return new AppError('not_found', 'There is no such session')
}
