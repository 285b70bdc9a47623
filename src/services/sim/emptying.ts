import type { Account, Emptying } from '../../core/accounts/account.js'
import { deleteMedia, listMediaOf } from '../../storage/media/media.js'
import { deleteWorldSlice, isLarge, slicedTables } from '../../storage/sim/slices.js'
import { HOLD_MS, holdLines, outlastTransactions, skipFeed } from '../../storage/sim/world.js'
import { hideAccounts, keepEmptying, markEmptying } from '../../storage/sim/worlds.js'
import { KEEP_MS } from '../accounts/directory.js'
import type { Ctx } from '../ctx.js'
import { linesChanged } from '../lines/lines.js'
import { announceNewWorld, surveyWorlds, untilFree } from './world.js'

const MEDIA_AT_ONCE = 50

/**
 * Empties large worlds in slices, with the writes of others between them; returns false, and does nothing, if they are
 * small enough for the transaction that follows. That transaction makes the new world, or none, and takes what is
 * left. Until then the accounts are marked: their requests wait, no process drives their lines, and after a crash
 * another process finishes the work.
 */
export async function emptyIfLarge(ctx: Ctx, accounts: readonly Account[], as: Emptying): Promise<boolean> {
  const worlds = await surveyWorlds(ctx, accounts)
  const scopes = worlds.map(({ scope }) => scope)
  const sizes = await Promise.all(scopes.map((scope) => isLarge(ctx.db, scope)))
  if (!sizes.includes(true) && accounts.every(({ emptying }) => emptying === null)) return false

  const ids = accounts.map(({ id }) => id)
  const lines = scopes.flatMap((scope) => scope.lines)
  const hold = (begins: boolean) =>
    untilFree(() =>
      ctx.db.tx(async (sql) => {
        if (!begins && !(await keepEmptying(sql, ids))) return
        await markEmptying(sql, ids, as)
        await holdLines(sql, lines)
        if (!begins) return
        if (as === 'removal') await hideAccounts(sql, ids, ctx.clock.now())
        for (const account of accounts) {
          await skipFeed(sql, account.id)
          announceNewWorld(sql, account)
        }
      }),
    )
  await hold(true)
  linesChanged(ctx, lines)
  if (ctx.db.engine === 'postgres') {
    // Other processes learn of the mark when their directory forgets the accounts.
    await new Promise((resolve) => setTimeout(resolve, KEEP_MS))
    await outlastTransactions(ctx.db)
  }
  let heldAt = Date.now()
  for (const scope of scopes) {
    for (const table of slicedTables(ctx.db)) {
      const next = () =>
        untilFree(() =>
          // A process that was paused finds the mark gone: the rows are those of the new world.
          ctx.db.tx(
            async (sql) => (await keepEmptying(sql, ids)) && (await deleteWorldSlice(sql, table, scope)),
          ),
        )
      while (await next()) {
        ctx.failpoint('world.after_slice')
        if (Date.now() - heldAt < HOLD_MS / 4) continue
        heldAt = Date.now()
        await hold(false)
      }
    }
    await emptyMedia(ctx, ids, scope.accountId)
  }
  return true
}

async function emptyMedia(ctx: Ctx, ids: readonly string[], accountId: string): Promise<void> {
  const media = await listMediaOf(ctx.db, accountId)
  for (let from = 0; from < media.length; from += MEDIA_AT_ONCE) {
    const names = media.slice(from, from + MEDIA_AT_ONCE)
    const isDone = await ctx.db.tx(async (sql) => {
      if (!(await keepEmptying(sql, ids))) return false
      await deleteMedia(sql, names)
      await ctx.blobs.drop(sql, names)
      return true
    })
    if (isDone) await ctx.blobs.dropped(names)
  }
}
