import { AppError } from '../../core/errors.js'
import { type Card, type CardChange, changedCard, EMPTY_CARD } from '../../core/lines/profile.js'
import { topics } from '../../core/topics.js'
import type { Profile } from '../../drivers/contract.js'
import type { Sql } from '../../storage/engine/db.js'
import {
  claimShare,
  findLastRequest,
  findShare,
  insertProfileRequest,
  lockProfile,
  type ProfileRequest,
  releaseShare,
  saveShared,
} from '../../storage/lines/profiles.js'
import type { UsableLine } from '../accounts/directory.js'
import type { Ctx } from '../ctx.js'
import { type Actor, requireLine } from '../messages/outbound.js'
import { ask } from './actions.js'

/** The name and photo that a line shows to others. */

export async function requireProfileLine(ctx: Ctx, actor: Actor, fromNumber: string): Promise<UsableLine> {
  const usable = await requireLine(ctx, actor, fromNumber)
  if (usable.line.kind === 'shared') {
    throw new AppError(
      'invalid',
      `fromNumber: ${fromNumber} is a shared line, whose name and photo are not yours to change or share. Use a dedicated line.`,
    )
  }
  if (!usable.capabilities.profile)
    throw new AppError('invalid', `fromNumber: ${fromNumber} has no name and photo, it is no Mac line`)
  return usable
}

/**
 * Stores a change; the process that drives the line carries it out and logs its outcome as an event. A request equal
 * to the last one, while that is still open, is the same request.
 */
export async function requestProfileChange(
  ctx: Ctx,
  sql: Sql,
  actor: Actor,
  from: UsableLine,
  change: CardChange,
): Promise<{ id: string; card: Card }> {
  await lockProfile(sql, from.line.id)
  const last = await findLastRequest(sql, from.line.id)
  if (last && last.doneAt === null && JSON.stringify(last.change) === JSON.stringify(change)) return last
  const now = ctx.clock.now()
  const request: ProfileRequest = {
    id: ctx.newId(),
    accountId: actor.account.id,
    lineId: from.line.id,
    lineNumber: from.line.number,
    change,
    card: changedCard(last?.card ?? EMPTY_CARD, change),
    operationId: null,
    attempts: 0,
    nextAt: now,
    requestedAt: now,
    doneAt: null,
    errorCode: null,
  }
  await insertProfileRequest(sql, request)
  return request
}

export function wakeProfile(ctx: Ctx, from: UsableLine): void {
  ctx.wakes.wake(topics.profile(from.line.id))
}

export function readProfile(ctx: Ctx, from: UsableLine): Promise<Profile> {
  return ask(ctx, from.line, 'profile', {})
}

/** A person who got name and photo does not get them again for a day. */
const SHARED_FOR_MS = 24 * 3_600_000
/** A share that has been open for longer was interrupted and may be requested again. */
const UNDER_WAY_MS = 60_000

/** Whether this request is the one that makes the line share its profile. */
export function claimProfileShare(ctx: Ctx, sql: Sql, from: UsableLine, to: string): Promise<boolean> {
  const now = ctx.clock.now()
  return claimShare(sql, from.line.id, to, now, now - SHARED_FOR_MS, now - UNDER_WAY_MS)
}

/**
 * Makes the line share its profile, unless that has happened in between. A failed share may be requested again at
 * once.
 */
export async function shareProfile(ctx: Ctx, from: UsableLine, accountId: string, to: string): Promise<void> {
  const { line } = from
  const share = await findShare(ctx.db, line.id, to)
  const now = ctx.clock.now()
  if (share?.sharedAt && share.sharedAt > now - SHARED_FOR_MS) return
  try {
    await ask(ctx, line, 'shareProfile', { accountId, to })
  } catch (error) {
    await releaseShare(ctx.db, line.id, to)
    throw error
  }
  await saveShared(ctx.db, line.id, to, now)
}
