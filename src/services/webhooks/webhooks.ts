import { DEFAULT_LIMITS, overBudget } from '../../core/accounts/budgets.js'
import { AppError } from '../../core/errors.js'
import {
  appendWebhooks,
  type ConfiguredWebhook,
  type GivenSettings,
  keepFormer,
  NO_WEBHOOKS,
  replaceWebhooks,
  type WebhookConfig,
  type WebhookEntry,
} from '../../core/webhooks/config.js'
import type { WebhookType } from '../../core/webhooks/types.js'
import type { WebhookEndpoint } from '../../core/webhooks/webhook.js'
import { findLimitedAccount } from '../../storage/accounts/budgets.js'
import type { Sql } from '../../storage/engine/db.js'
import { appendEvents } from '../../storage/events/events.js'
import { listLinesOf } from '../../storage/lines/lines.js'
import { cancelInLane } from '../../storage/webhooks/deliveries.js'
import { insertFeed } from '../../storage/webhooks/feeds.js'
import {
  announceWebhooks,
  deleteWebhooks,
  findWebhooksVersion,
  lockWebhooks,
  saveWebhookSettings,
  saveWebhooks,
} from '../../storage/webhooks/webhooks.js'
import { txOf } from '../accounts/present.js'
import type { Ctx } from '../ctx.js'
import { type Actor, keepWithin } from '../messages/outbound.js'
import { openWebhooks, sealSettings, sealWebhook } from './seal.js'

/**
 * The endpoints of an account, from a cache. A caller that has read a version of the configuration from the database
 * asks for at least that version.
 */
export function endpointsOf(
  ctx: Ctx,
  accountId: string,
  version?: number,
): Promise<readonly WebhookEndpoint[]> {
  return ctx.webhooks.endpointsOf(accountId, version)
}

/**
 * Like `endpointsOf`, but never older than the database: for decisions that are final. A change by another process
 * may not have been announced here yet.
 */
export async function currentEndpointsOf(ctx: Ctx, accountId: string): Promise<readonly WebhookEndpoint[]> {
  return endpointsOf(ctx, accountId, await findWebhooksVersion(ctx.db, accountId))
}

/** The configuration that an actor may see: a token for some lines sees only webhooks for those lines alone. */
export async function readWebhooks(ctx: Ctx, actor: Actor): Promise<WebhookConfig> {
  const { config } = await openWebhooks(ctx, ctx.db, actor.account.id)
  if (!actor.numbers) return config
  return {
    settings: NO_WEBHOOKS.settings,
    webhooks: config.webhooks.filter((webhook) => isOwn(actor, webhook)),
  }
}

export async function setWebhooks(
  ctx: Ctx,
  accountId: string,
  lists: ReadonlyMap<WebhookType, readonly WebhookEntry[]>,
  settings: GivenSettings,
): Promise<void> {
  await txOf(ctx, accountId, (sql) =>
    changeWebhooks(ctx, sql, accountId, (before) => replaceWebhooks(before, lists, settings, ctx.newId)),
  )
}

export interface WebhookAddition {
  lists: ReadonlyMap<WebhookType, readonly WebhookEntry[]>
  /** Undefined leaves them unchanged. */
  globalSecret: string | undefined
  legacySecret: string | undefined
}

export async function addWebhooks(ctx: Ctx, sql: Sql, actor: Actor, added: WebhookAddition): Promise<void> {
  if (actor.numbers) keepToReceive(actor, added)
  const { lists, globalSecret, legacySecret } = added
  await changeWebhooks(ctx, sql, actor.account.id, (before) => {
    let after = before
    for (const [type, entries] of lists) {
      if (actor.numbers) refuseOthers(actor, before, type, entries)
      after = appendWebhooks(after, type, entries, ctx.newId)
    }
    const settings = {
      ...before.settings,
      ...(globalSecret === undefined ? {} : { globalSecret }),
      ...(legacySecret === undefined ? {} : { legacySecret }),
    }
    return { ...after, settings }
  })
}

/** Removes URLs from a list. An unknown URL is no error. */
export async function removeWebhooks(
  ctx: Ctx,
  actor: Actor,
  type: WebhookType,
  urls: readonly string[],
): Promise<void> {
  if (actor.numbers && type !== 'receive') throw receiveOnly()
  const isRemoved = (webhook: ConfiguredWebhook) =>
    webhook.type === type && urls.includes(webhook.url) && (!actor.numbers || isOwn(actor, webhook))
  await txOf(ctx, actor.account.id, (sql) =>
    changeWebhooks(ctx, sql, actor.account.id, (before) => ({
      ...before,
      webhooks: before.webhooks.filter((webhook) => !isRemoved(webhook)),
    })),
  )
}

/** Serialises the changes of an account's configuration, also between processes, so that none is lost. */
export async function changeWebhooks(
  ctx: Ctx,
  sql: Sql,
  accountId: string,
  next: (before: WebhookConfig) => WebhookConfig,
): Promise<void> {
  await lockWebhooks(sql, accountId)
  const { config: before } = await openWebhooks(ctx, sql, accountId)
  const now = ctx.clock.now()
  const after = keepFormer(before, next(before), now)
  await checkCounts(sql, accountId, after)
  await checkLines(sql, accountId, before, after)
  const known = new Map(before.webhooks.map((webhook) => [webhook.id, JSON.stringify(shape(webhook))]))
  const stay = new Set(after.webhooks.map(({ id }) => id))
  const changed = after.webhooks.filter((webhook) => known.get(webhook.id) !== JSON.stringify(shape(webhook)))
  await deleteWebhooks(
    sql,
    [...known.keys()].filter((id) => !stay.has(id)),
  )
  await saveWebhooks(
    sql,
    changed.map((webhook) => sealWebhook(ctx, accountId, webhook)),
    now,
  )
  await saveWebhookSettings(sql, accountId, sealSettings(ctx, accountId, after.settings))
  if (after.webhooks.length > 0) await insertFeed(sql, accountId)
  announceWebhooks(sql, accountId)
}

/** The fields that decide whether a webhook has changed. */
function shape({ id, position, numbers, schedule, secret, former, given }: ConfiguredWebhook) {
  return { id, position, numbers, schedule, secret, former, given }
}

async function checkCounts(sql: Sql, accountId: string, { webhooks }: WebhookConfig): Promise<void> {
  const counts = new Map<WebhookType, number>()
  for (const { type } of webhooks) counts.set(type, (counts.get(type) ?? 0) + 1)
  const { webhooks: limit } = (await findLimitedAccount(sql, accountId))?.limits ?? DEFAULT_LIMITS
  if (Math.max(...counts.values()) > limit) throw overBudget('webhooks', limit)
}

/** Lines must belong to the account. A line that an entry already had may be written back. */
async function checkLines(
  sql: Sql,
  accountId: string,
  before: WebhookConfig,
  after: WebhookConfig,
): Promise<void> {
  const known = new Map(before.webhooks.map(({ id, numbers }) => [id, numbers]))
  const fresh = after.webhooks.flatMap(({ id, numbers }) =>
    (numbers ?? []).filter((number) => !known.get(id)?.includes(number)),
  )
  if (fresh.length === 0) return
  const lines = new Set((await listLinesOf(sql, accountId)).map(({ number }) => number))
  const foreign = fresh.find((number) => !lines.has(number))
  if (foreign !== undefined)
    throw new AppError(
      'invalid',
      `sendblue_numbers: ${foreign} is not a line of this account. GET /api/lines lists the lines.`,
    )
}

/** Whether a webhook is only for lines of the token. */
function isOwn(actor: Actor, { type, numbers }: Pick<ConfiguredWebhook, 'type' | 'numbers'>): boolean {
  return type === 'receive' && numbers !== null && numbers.every((number) => actor.numbers!.has(number))
}

function receiveOnly(): AppError {
  return new AppError('forbidden', 'This token is confined to some lines: it manages receive webhooks only')
}

function keepToReceive(actor: Actor, { lists, globalSecret, legacySecret }: WebhookAddition): void {
  if ([...lists.keys()].some((type) => type !== 'receive')) throw receiveOnly()
  if (globalSecret !== undefined || legacySecret !== undefined)
    throw new AppError(
      'forbidden',
      'This token is confined to some lines: secrets of all webhooks are not its',
    )
  for (const { numbers } of [...lists.values()].flat())
    for (const number of numbers ?? []) keepWithin(actor, number)
}

/** A URL appears once in a list: a token may not change one that also serves other lines. */
function refuseOthers(
  actor: Actor,
  before: WebhookConfig,
  type: WebhookType,
  entries: readonly WebhookEntry[],
): void {
  const urls = new Set(entries.map(({ url }) => url))
  if (before.webhooks.some((one) => one.type === type && urls.has(one.url) && !isOwn(actor, one)))
    throw new AppError(
      'conflict',
      'This URL is a webhook of the account already, for more than the lines of this token. Use another one, with a query for example.',
    )
}

/** After a 410: removes the webhook and cancels its deliveries. */
export async function removeGoneEndpoint(ctx: Ctx, endpoint: WebhookEndpoint): Promise<void> {
  const { accountId, id, type } = endpoint
  await ctx.db.tx(async (sql) => {
    const now = ctx.clock.now()
    await lockWebhooks(sql, accountId)
    if ((await deleteWebhooks(sql, [id])) === 0) return
    await appendEvents(sql, [
      { accountId, type: 'webhook.removed', subject: id, at: now, data: { type, reason: 'gone' } },
    ])
    announceWebhooks(sql, accountId)
  })
  // Deliveries that a crash leaves here are canceled one by one when they are due.
  while (await ctx.db.tx((sql) => cancelInLane(sql, id, 'The webhook was removed', ctx.clock.now()))) {}
  ctx.log.info({ account: accountId, type }, 'a webhook answered 410 and was removed')
}
