import { SHORT_ID } from '../../base/ids.js'
import { type Account, ADMIN_OWNER } from '../../core/accounts/account.js'
import { overBudget } from '../../core/accounts/budgets.js'
import { AppError } from '../../core/errors.js'
import { findAccount } from '../../storage/accounts/accounts.js'
import { findLimitedAccount } from '../../storage/accounts/budgets.js'
import type { Sql } from '../../storage/engine/db.js'
import { deleteFrame, deleteWorld, findWorldLines, seizeWorld } from '../../storage/sim/world.js'
import {
  endEmptying,
  listEmptying,
  listRemovedOwners,
  listWorlds,
  lockAccounts,
  lockOwner,
} from '../../storage/sim/worlds.js'
import type { KeyPair } from '../accounts/accounts.js'
import { seedWorld } from '../accounts/default-world.js'
import type { Ctx } from '../ctx.js'
import { emptyIfLarge } from './emptying.js'
import {
  announceNewWorld,
  enterNewWorld,
  type FencedWorld,
  fenceWorlds,
  removeMedia,
  resetWorld,
  untilFree,
} from './world.js'

export interface World {
  account: Account
  keys: { live: KeyPair; test: KeyPair }
}

/**
 * Makes an account like the default world's, with its own keys and its own telephone network, so that its lines and
 * phones can have the default world's numbers.
 */
export async function createWorld(ctx: Ctx, sql: Sql, owner: string, name: string): Promise<World> {
  if (owner !== ADMIN_OWNER) {
    if (!(await lockOwner(sql, owner))) throw new AppError('unauthorized', 'Unauthorized')
    const limit = (await findLimitedAccount(sql, owner))?.limits.worlds ?? 0
    if ((await listWorlds(sql, owner)).length >= limit) throw overBudget('worlds', limit)
  }
  const email = `world-${ctx.random.text(SHORT_ID)}@trunkline.local`
  const { live, keys } = await seedWorld(ctx, sql, { email, name, owner })
  return { account: live, keys }
}

/** A world that the caller may remove: an account's own, any for an admin key. */
export async function requireWorld(sql: Sql, owner: string, id: string): Promise<Account> {
  const own = await listWorlds(sql, owner === ADMIN_OWNER ? undefined : owner)
  const world = own.find((one) => one.id === id)
  if (!world) throw noWorld(id)
  return world
}

/**
 * Deletes a world with everything in it, also while its messages are on the wire. Work that any process still does
 * for the world stores nothing after this.
 */
export async function removeWorld(ctx: Ctx, world: Account): Promise<void> {
  const twin = await findAccount(ctx.db, world.twinId)
  if (!twin) throw noWorld(world.id)
  await removeAccounts(ctx, [world, twin])
}

async function removeAccounts(ctx: Ctx, accounts: readonly Account[]): Promise<void> {
  const wasLarge = await emptyIfLarge(ctx, accounts, 'removal')
  try {
    while (!(await removeFenced(ctx, await fenceWorlds(ctx, accounts)))) {}
  } catch (error) {
    // Another process has finished the removal.
    if (!(wasLarge && error instanceof AppError && error.code === 'not_found')) throw error
  }
}

/** Resets the world of an account. `answer` runs in the transaction in which the new world begins. */
export async function renewWorld<T>(
  ctx: Ctx,
  account: Account,
  keep: { webhooks: boolean },
  answer: (begin: (sql: Sql) => Promise<void>) => Promise<T>,
): Promise<T> {
  const wasLarge = await emptyIfLarge(ctx, [account], keep.webhooks ? 'reset keeping webhooks' : 'reset')
  const worlds = await fenceWorlds(ctx, [account])
  let media: string[] = []
  try {
    return await untilFree(() =>
      answer(async (sql) => {
        // Without its mark, another process has begun the new world.
        if (wasLarge && !(await endEmptying(sql, account.id))) return
        media = await resetWorld(ctx, sql, worlds[0]!, keep)
      }),
    )
  } finally {
    await enterNewWorld(ctx, worlds, media)
  }
}

/** Finishes what a process that stopped has begun. `isOnlyProcess`: no other process can be at work. */
export async function finishEmptying(ctx: Ctx, isOnlyProcess: boolean): Promise<void> {
  const found = await listEmptying(ctx.db, isOnlyProcess)
  for (const account of found) {
    try {
      if (account.emptying !== 'removal') {
        const keep = { webhooks: account.emptying === 'reset keeping webhooks' }
        await renewWorld(ctx, account, keep, (begin) => ctx.db.tx(begin))
      } else if (account.world === 'live') {
        await removeAccounts(
          ctx,
          found.filter(({ id }) => id === account.id || id === account.twinId),
        )
      }
    } catch (error) {
      ctx.log.warn({ err: error, account: account.id }, 'a world could not be emptied; trying again')
    }
  }
}

/** Returns false, and removes nothing, if the world has a line that was not there when the world was fenced. */
async function removeFenced(ctx: Ctx, worlds: readonly FencedWorld[]): Promise<boolean> {
  const ids = worlds.map(({ account }) => account.id)
  let media: string[] = []
  const remove = async (sql: Sql) => {
    if (!(await lockAccounts(sql, ids))) throw noWorld(ids[0]!)
    media = []
    for (const { account, lines } of worlds) {
      const { own, joint } = await findWorldLines(sql, account.id)
      if (![...own, ...joint].every((id) => lines.includes(id))) return false
    }
    for (const { account, scope, lines } of worlds) {
      await seizeWorld(sql, scope, lines)
      await deleteWorld(sql, scope)
      media.push(...(await removeMedia(ctx, sql, account)))
      await deleteFrame(sql, scope)
      announceNewWorld(sql, account)
    }
    return true
  }
  try {
    return await untilFree(() => ctx.db.tx(remove))
  } finally {
    await enterNewWorld(ctx, worlds, media)
  }
}

/** Removes the worlds of an account that was removed. Fails, after the others, if a world refuses to be removed. */
export async function removeWorldsOf(ctx: Ctx, owner: string): Promise<void> {
  let refusal: unknown
  for (const world of await listWorlds(ctx.db, owner)) {
    await removeWorld(ctx, world).catch((error) => {
      // Another request or process has removed the world.
      if (!(error instanceof AppError && error.code === 'not_found')) refusal ??= error
    })
  }
  if (refusal) throw refusal
}

/** Removes the worlds that a crash between the removal of an account and of its worlds has left behind. */
export async function removeOrphanedWorlds(ctx: Ctx): Promise<void> {
  for (const owner of await listRemovedOwners(ctx.db))
    await removeWorldsOf(ctx, owner).catch((error) =>
      ctx.log.warn({ err: error, account: owner }, 'a removed account still has a world'),
    )
}

function noWorld(id: string): AppError {
  return new AppError('not_found', `There is no world ${id}. GET /sim/worlds lists them.`)
}
