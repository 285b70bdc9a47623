import { type Account, networkOf } from '../../core/accounts/account.js'
import { AppError } from '../../core/errors.js'
import type { Row, Sql } from '../../storage/engine/db.js'
import { appendEvents } from '../../storage/events/events.js'
import {
  cancelDeliveries,
  deleteSnapshot,
  findSnapshot,
  insertSnapshot,
  listSnapshots,
  listWorldRows,
  readOneMoment,
  restoreLine,
  restoreRows,
  type SavedRows,
  type Snapshot,
  saveWorldRows,
  schemaOf,
} from '../../storage/sim/snapshots.js'
import { findWorldLines, skipFeed } from '../../storage/sim/world.js'
import {
  announceWebhooks,
  deleteWebhooksOf,
  lockWebhooks,
  saveWebhookSettings,
} from '../../storage/webhooks/webhooks.js'
import type { Ctx } from '../ctx.js'
import { announceNewWorld, clearWorld, type FencedWorld, requireSimulated } from './world.js'

const MAX_SNAPSHOTS = 50
const MAX_ROWS = 200_000

/** Saves an account's world under a name; one of the same name is replaced. */
export async function saveSnapshot(ctx: Ctx, account: Account, name: string): Promise<Snapshot> {
  // One after the other: two of the same name would replace each other.
  const save = async (sql: Sql) => {
    await readOneMoment(sql)
    const lines = requireSimulated(await findWorldLines(sql, account.id))
    await deleteSnapshot(sql, account.id, name)
    if ((await listSnapshots(sql, account.id)).length >= MAX_SNAPSHOTS)
      throw new AppError('conflict', `There are ${MAX_SNAPSHOTS} snapshots already; delete some first`)
    const id = ctx.newId()
    const scope = { accountId: account.id, network: networkOf(account), lines: lines.own }
    const rows = await saveWorldRows(sql, id, scope)
    if (rows > MAX_ROWS)
      throw new AppError('conflict', `The world has more than ${MAX_ROWS} rows, too many for a snapshot`)
    const snapshot: Snapshot = {
      id,
      accountId: account.id,
      name,
      schema: await schemaOf(sql),
      rows,
      createdAt: ctx.clock.now(),
    }
    await insertSnapshot(sql, snapshot)
    return snapshot
  }
  return ctx.db.lock(`snapshots ${account.id}`, () => ctx.db.tx(save))
}

/** A snapshot of this name that can be put back. */
export async function requireSnapshot(sql: Sql, account: Account, name: string): Promise<Snapshot> {
  const snapshot = await findSnapshot(sql, account.id, name)
  if (!snapshot) throw new AppError('not_found', `There is no snapshot ${name}`)
  if (snapshot.schema !== (await schemaOf(sql)))
    throw new AppError(
      'conflict',
      'This snapshot was saved by another version of Trunkline, whose tables were different. Make the world again and save it anew.',
    )
  return snapshot
}

/**
 * The world as it was when the snapshot was saved. What was under way then is taken up by the rules of a restart:
 * what waited is sent, of what was on the wire the carrier is asked. Webhooks that waited are called off.
 */
export async function loadSnapshot(
  ctx: Ctx,
  sql: Sql,
  world: FencedWorld,
  name: string,
  keep: { webhooks: boolean },
): Promise<Snapshot> {
  const { account } = world
  const snapshot = await requireSnapshot(sql, account, name)
  const saved = await listWorldRows(sql, snapshot.id)
  const kids = new Set(saved.flatMap(({ rows }) => rows.flatMap((row) => (row.kid as string | null) ?? [])))
  if ([...kids].some((kid) => !ctx.vault.kids.includes(kid)))
    throw new AppError(
      'conflict',
      'Secrets in this snapshot are sealed under a key that is gone: save it anew',
    )
  await clearWorld(sql, world)
  const rowsOf = (table: string) => saved.filter((one) => one.table === table).flatMap(({ rows }) => rows)
  const special = new Set(['webhook_endpoints', 'webhook_settings', 'lines'])
  for (const part of saved) if (!special.has(part.table)) await restoreRows(sql, part)
  for (const line of rowsOf('lines')) await restoreLine(sql, line)
  if (!keep.webhooks) await restoreWebhooks(sql, account.id, saved, rowsOf('webhook_settings')[0])
  const at = ctx.clock.now()
  await cancelDeliveries(sql, account.id, 'The world was loaded from a snapshot', at)
  const data = { snapshot: name }
  await appendEvents(sql, [{ accountId: account.id, type: 'world.reset', subject: account.id, at, data }])
  await skipFeed(sql, account.id)
  announceNewWorld(sql, account)
  return snapshot
}

async function restoreWebhooks(
  sql: Sql,
  accountId: string,
  saved: readonly SavedRows[],
  settings: Row | undefined,
): Promise<void> {
  await lockWebhooks(sql, accountId)
  await deleteWebhooksOf(sql, accountId)
  for (const part of saved) if (part.table === 'webhook_endpoints') await restoreRows(sql, part)
  const sealed = settings?.sealed ? { text: settings.sealed as string, kid: settings.kid as string } : null
  await saveWebhookSettings(sql, accountId, sealed)
  announceWebhooks(sql, accountId)
}
