import { randomBytes } from 'node:crypto'
import { callbackSecrets, type SigningSecret, withSigningSecret } from '../../core/webhooks/config.js'
import { KEY_PREFIX } from '../../core/webhooks/secret.js'
import type { Sql } from '../../storage/engine/db.js'
import type { Ctx } from '../ctx.js'
import { openWebhooks } from './seal.js'
import { changeWebhooks } from './webhooks.js'

/** The secrets that sign an account's status callbacks. The first callback makes the account's own. */
export async function callbackSecretsOf(ctx: Ctx, accountId: string): Promise<readonly string[]> {
  const known = await ctx.webhooks.callbackSecretsOf(accountId)
  if (known.length > 0) return known
  await readSigningSecret(ctx, accountId)
  // Not from the cache: another process may have made the secret just now.
  const { config } = await openWebhooks(ctx, ctx.db, accountId)
  return callbackSecrets(config.settings, ctx.clock.now())
}

/** The account's own secret; the first reader makes it. */
export async function readSigningSecret(ctx: Ctx, accountId: string): Promise<SigningSecret> {
  const { config } = await openWebhooks(ctx, ctx.db, accountId)
  if (config.settings.signing) return config.settings.signing
  await ctx.db.tx((sql) => replaceSigningSecret(ctx, sql, accountId, 'if absent'))
  return (await openWebhooks(ctx, ctx.db, accountId)).config.settings.signing!
}

/** Gives the account a new secret of its own. The previous one signs beside it for a day. */
export async function replaceSigningSecret(
  ctx: Ctx,
  sql: Sql,
  accountId: string,
  when: 'always' | 'if absent' = 'always',
): Promise<void> {
  const secret = KEY_PREFIX + randomBytes(32).toString('base64')
  await changeWebhooks(ctx, sql, accountId, (before) =>
    before.settings.signing && when === 'if absent'
      ? before
      : withSigningSecret(before, secret, ctx.clock.now()),
  )
}
