import type { Account } from '../../core/accounts/account.js'
import { AppError } from '../../core/errors.js'
import { DEFAULT_SETTINGS } from '../../core/lines/line.js'
import { topics } from '../../core/topics.js'
import { RowsLocked, type Sql } from '../../storage/engine/db.js'
import { appendEvents } from '../../storage/events/events.js'
import { findLineEver, saveLine } from '../../storage/lines/lines.js'
import { deleteMedia, listMediaOf } from '../../storage/media/media.js'
import {
  deleteWorld,
  findWorldLines,
  freeLines,
  holdLines,
  outlastTransactions,
  reviveLine,
  seizeWorld,
  skipFeed,
  type WorldScope,
} from '../../storage/sim/world.js'
import {
  announceWebhooks,
  deleteWebhooksOf,
  lockWebhooks,
  saveWebhookSettings,
} from '../../storage/webhooks/webhooks.js'
import { DEFAULT_WORLD } from '../accounts/default-world.js'
import type { Ctx } from '../ctx.js'
import { linesChanged } from '../lines/lines.js'
import { seedPhones } from './first-phones.js'

/** A simulated world that is about to be begun anew. */
export interface FencedWorld {
  account: Account
  scope: WorldScope
  /** All of its lines, those that others use among them. */
  lines: readonly string[]
}

const TRIES = 50
const PAUSE_MS = 5

/** Repeats `work` while other transactions of PostgreSQL hold rows that it needs: see `seizeWorld`. */
export async function untilFree<T>(work: () => Promise<T>): Promise<T> {
  for (let left = TRIES; ; left--) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof RowsLocked) || left === 1) throw error
      await new Promise((done) => setTimeout(done, PAUSE_MS))
    }
  }
}

function requireSimulated<L extends { simulated: boolean }>(lines: L): L {
  if (!lines.simulated)
    throw new AppError(
      'conflict',
      'This account has or had a line that is not simulated, and what went over it happened. Use a test key, whose world is always simulated.',
    )
  return lines
}

/** Finds the lines of these accounts' worlds. Refuses an account that has or had a line that is not simulated. */
export function surveyWorlds(ctx: Ctx, accounts: readonly Account[]): Promise<FencedWorld[]> {
  return Promise.all(
    accounts.map(async (account): Promise<FencedWorld> => {
      const { own, joint } = requireSimulated(await findWorldLines(ctx.db, account.id))
      const scope = { accountId: account.id, lines: own }
      return { account, lines: [...own, ...joint], scope }
    }),
  )
}

/**
 * After this, work in progress on the lines of these accounts stores nothing any more, and no process drives the lines
 * until the transaction that follows has fenced them again.
 */
export async function fenceWorlds(ctx: Ctx, accounts: readonly Account[]): Promise<FencedWorld[]> {
  const worlds = await surveyWorlds(ctx, accounts)
  // On SQLite the one transaction that follows is fence enough.
  if (ctx.db.engine === 'postgres') {
    const lines = worlds.flatMap((world) => world.lines)
    await untilFree(() => ctx.db.tx((sql) => holdLines(sql, lines)))
    await outlastTransactions(ctx.db)
  }
  return worlds
}

/** The world as it began. Answers the media that is gone with it, whose bytes go after the commit. */
export async function resetWorld(
  ctx: Ctx,
  sql: Sql,
  { account, scope, lines }: FencedWorld,
  keep: { webhooks: boolean },
): Promise<string[]> {
  await seizeWorld(sql, scope, lines)
  await deleteWorld(sql, scope)
  const media = await removeMedia(ctx, sql, account)
  if (!keep.webhooks) await removeWebhooks(sql, account.id)
  await freeLines(sql, scope.lines)
  await seedAgain(ctx, sql, account, scope)
  const at = ctx.clock.now()
  await appendEvents(sql, [{ accountId: account.id, type: 'world.reset', subject: account.id, at, data: {} }])
  await skipFeed(sql, account.id)
  announceNewWorld(sql, account)
  return media
}

export async function removeMedia(ctx: Ctx, sql: Sql, account: Account): Promise<string[]> {
  const media = await listMediaOf(sql, account.id)
  await deleteMedia(sql, media)
  await ctx.blobs.drop(sql, media)
  return media
}

export function announceNewWorld(sql: Sql, account: Account): void {
  sql.announce(topics.resets, account.id)
  // The next message, hold, part or verification that is due may be another one now.
  for (const topic of [topics.holds, topics.schedule, topics.verifications, topics.parts]) sql.announce(topic)
  sql.announce(topics.faults, account.id)
  sql.announce(topics.access)
}

/** Afterwards, however that went. Resolves when the lines are driven in the world that there is now. */
export async function enterNewWorld(
  ctx: Ctx,
  worlds: readonly FencedWorld[],
  media: readonly string[],
): Promise<void> {
  linesChanged(
    ctx,
    worlds.flatMap(({ lines }) => lines),
  )
  await Promise.all([ctx.lines.tended(), ctx.holds.load(), ctx.blobs.dropped(media)])
}

async function removeWebhooks(sql: Sql, accountId: string): Promise<void> {
  await lockWebhooks(sql, accountId)
  await deleteWebhooksOf(sql, accountId)
  await saveWebhookSettings(sql, accountId, null)
  announceWebhooks(sql, accountId)
}

/** The account has its first phones, and the lines of the default world are as they were made. */
async function seedAgain(ctx: Ctx, sql: Sql, account: Account, { lines }: WorldScope): Promise<void> {
  await seedPhones(ctx, sql, account)
  if (account.owner === null && account.email !== DEFAULT_WORLD.email) return
  const seeded: readonly string[] = [DEFAULT_WORLD.line, DEFAULT_WORLD.sharedLine]
  for (const id of lines) {
    const line = await findLineEver(sql, id)
    if (!line || !seeded.includes(line.number)) continue
    await reviveLine(sql, id)
    await saveLine(sql, { ...line, ...DEFAULT_SETTINGS, config: {}, ...ctx.seed })
  }
}
