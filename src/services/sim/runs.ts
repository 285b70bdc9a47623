import { type Account, networkOf } from '../../core/accounts/account.js'
import type { Sql } from '../../storage/engine/db.js'
import { countRunArriving, deleteRunMessages, deleteRunPhones } from '../../storage/sim/runs.js'
import { findWorldLines, outlastTransactions, type WorldScope } from '../../storage/sim/world.js'
import type { Ctx } from '../ctx.js'
import { requireSimulated } from './world.js'

/** What a phone of the run has just sent may reach its line first; machine time. */
const ARRIVING_MS = 500
const LOOK_AGAIN_MS = 2

/** Removes a test run's messages. Whatever is under way with them finds them gone. */
export async function beginRunReset(ctx: Ctx, account: Account, run: string): Promise<WorldScope> {
  const lines = requireSimulated(await findWorldLines(ctx.db, account.id))
  const scope = { accountId: account.id, network: networkOf(account), lines: lines.own }
  for (const deadline = Date.now() + ARRIVING_MS; Date.now() < deadline; ) {
    if ((await countRunArriving(ctx.db, scope, run, ctx.clock.now())) === 0) break
    await new Promise((done) => setTimeout(done, LOOK_AGAIN_MS))
  }
  await ctx.db.tx((sql) => deleteRunMessages(sql, account.id, run))
  await outlastTransactions(ctx.db)
  return scope
}

/** Then nothing can come to its phones any more: they go, too. */
export async function endRunReset(sql: Sql, scope: WorldScope, run: string): Promise<void> {
  // What came meanwhile.
  await deleteRunMessages(sql, scope.accountId, run)
  await deleteRunPhones(sql, scope, run)
}
