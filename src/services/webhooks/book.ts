import { createBoundedMap } from '../../base/bounded-map.js'
import { topics } from '../../core/topics.js'
import type { WebhookConfig } from '../../core/webhooks/config.js'
import { callbackSecrets, secretOf, sendsSecret } from '../../core/webhooks/config.js'
import type { WebhookEndpoint } from '../../core/webhooks/webhook.js'
import type { Platform, WebhookBook } from '../ctx.js'
import { openWebhooks } from './seal.js'

/** Changes are announced. A process that missed the announcement uses the old configuration for at most this long. */
const KEEP_MS = 2000
const KEEP_ACCOUNTS = 10_000

interface Page {
  version: number
  endpoints: readonly WebhookEndpoint[]
  /** The secrets that sign status callbacks; empty before the first one. */
  callbackSecrets: readonly string[]
  /** When the next former secret expires. */
  until: number
}

export function createWebhookBook(ctx: Platform): WebhookBook {
  const pages = createBoundedMap<string, Promise<Page>>(KEEP_ACCOUNTS, KEEP_MS)
  ctx.wakes.on(topics.webhooks, (accountId) => pages.delete(accountId))

  const load = (accountId: string): Promise<Page> => {
    const page = readPage(ctx, accountId)
    const now = performance.now()
    pages.set(accountId, page, now)
    page.catch(() => {
      if (pages.get(accountId, now) === page) pages.delete(accountId)
    })
    return page
  }
  const read = async (accountId: string, version: number): Promise<Page> => {
    const page = await pages.get(accountId, performance.now())
    return page && page.version >= version && ctx.clock.now() < page.until ? page : load(accountId)
  }
  return {
    endpointsOf: async (accountId, version = 0) => (await read(accountId, version)).endpoints,
    callbackSecretsOf: async (accountId) => (await read(accountId, 0)).callbackSecrets,
  }
}

async function readPage(ctx: Platform, accountId: string): Promise<Page> {
  const { version, config } = await openWebhooks(ctx, ctx.db, accountId)
  const now = ctx.clock.now()
  const formers = [config.settings.signing, ...config.webhooks].map((one) => one?.former)
  const ends = formers.flatMap((former) => (former && former.until > now ? [former.until] : []))
  return {
    version,
    endpoints: endpointsAt(accountId, config, now),
    callbackSecrets: callbackSecrets(config.settings, now),
    until: Math.min(Number.POSITIVE_INFINITY, ...ends),
  }
}

function endpointsAt(accountId: string, config: WebhookConfig, now: number): WebhookEndpoint[] {
  return config.webhooks.map((webhook) => ({
    id: webhook.id,
    accountId,
    type: webhook.type,
    url: webhook.url,
    secret: secretOf(webhook, config.settings),
    formerSecret: webhook.former && webhook.former.until > now ? webhook.former.secret : null,
    sendsSecret: sendsSecret(webhook),
    numbers: webhook.numbers,
    schedule: webhook.schedule,
  }))
}
