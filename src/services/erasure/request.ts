import type { Erasure } from '../../core/erasure/erasure.js'
import { hintOf } from '../../core/erasure/person.js'
import { AppError } from '../../core/errors.js'
import { topics } from '../../core/topics.js'
import { findAccount } from '../../storage/accounts/accounts.js'
import type { Sql } from '../../storage/engine/db.js'
import { findOpenErasure, findOwnerOf, insertErasure } from '../../storage/erasure/erasures.js'
import type { Ctx } from '../ctx.js'
import { FIRST_STEP } from './erasure.js'

/** Stores the request to erase a person, in one account or in all. The worker carries it out. */
export async function requestErasure(
  ctx: Ctx,
  sql: Sql,
  handle: string,
  accountId: string | null,
): Promise<Erasure> {
  if (accountId !== null && !(await findAccount(sql, accountId)))
    throw new AppError('not_found', `There is no account ${accountId}`)
  const owner = await findOwnerOf(sql, handle)
  if (owner)
    throw new AppError(
      'conflict',
      `person: this is the address of ${owner}, which is a setting. Remove or change that first.`,
    )
  const open = await findOpenErasure(sql, handle, accountId)
  if (open) throw new AppError('conflict', `person: the erasure ${open} is under way`)
  const now = ctx.clock.now()
  const erasure: Erasure = {
    id: ctx.newId(),
    accountId,
    person: handle,
    hint: hintOf(handle),
    state: 'running',
    step: FIRST_STEP,
    place: [],
    counts: {},
    requestedAt: now,
    dueAt: now,
    finishedAt: null,
  }
  await insertErasure(sql, erasure)
  sql.announce(topics.people)
  return erasure
}
