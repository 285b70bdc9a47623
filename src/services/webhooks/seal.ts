import type { SealContext } from '../../core/accounts/seal.js'
import {
  type ConfiguredWebhook,
  NO_WEBHOOKS,
  type WebhookConfig,
  type WebhookSettings,
} from '../../core/webhooks/config.js'
import type { Sql } from '../../storage/engine/db.js'
import { readWebhookRows, type Sealed, type WebhookRow } from '../../storage/webhooks/webhooks.js'
import type { Platform } from '../ctx.js'

/** An account's configuration, unsealed. */
export async function openWebhooks(
  ctx: Pick<Platform, 'vault'>,
  sql: Sql,
  accountId: string,
): Promise<{ version: number; config: WebhookConfig }> {
  const rows = await readWebhookRows(sql, accountId)
  if (!rows) return { version: 0, config: NO_WEBHOOKS }
  const settings = rows.settings
    ? {
        ...NO_WEBHOOKS.settings,
        ...open<Partial<WebhookSettings>>(ctx, settingsPlace(accountId), rows.settings),
      }
    : NO_WEBHOOKS.settings
  const webhooks = rows.webhooks.map(
    ({ sealed, ...row }): ConfiguredWebhook => ({
      ...row,
      ...(sealed
        ? open<SealedPart>(ctx, webhookPlace(row), sealed)
        : { secret: null, former: null, given: row.url }),
    }),
  )
  return { version: rows.version, config: { settings, webhooks } }
}

type SealedPart = Pick<ConfiguredWebhook, 'secret' | 'former' | 'given'>

export function sealWebhook(
  ctx: Pick<Platform, 'vault'>,
  accountId: string,
  webhook: ConfiguredWebhook,
): WebhookRow {
  const { secret, former, given, ...row } = webhook
  const part: SealedPart = { secret, former, given }
  const isPlain = secret === null && former === null && typeof given === 'string'
  return {
    ...row,
    accountId,
    sealed: isPlain ? null : seal(ctx, webhookPlace({ ...row, accountId }), part),
  }
}

export function sealSettings(
  ctx: Pick<Platform, 'vault'>,
  accountId: string,
  settings: WebhookSettings,
): Sealed | null {
  const { globalSecret, legacySecret, signing, extra } = settings
  const isEmpty = !globalSecret && !legacySecret && !signing && Object.keys(extra).length === 0
  return isEmpty ? null : seal(ctx, settingsPlace(accountId), { globalSecret, legacySecret, signing, extra })
}

function seal({ vault }: Pick<Platform, 'vault'>, place: SealContext, value: object): Sealed {
  return { text: vault.seal(place, JSON.stringify(value)), kid: vault.kid }
}

function open<T>({ vault }: Pick<Platform, 'vault'>, place: SealContext, sealed: string): T {
  return JSON.parse(vault.open(place, sealed))
}

function webhookPlace({ id, accountId }: { id: string; accountId: string }): SealContext {
  return { table: 'webhook_endpoints', column: 'sealed', row: id, account: accountId }
}

function settingsPlace(accountId: string): SealContext {
  return { table: 'webhook_settings', column: 'sealed', row: accountId, account: accountId }
}
