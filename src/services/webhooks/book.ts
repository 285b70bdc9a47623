import { topics } from '../../core/topics.js'
import type { WebhookConfig } from '../../core/webhooks/config.js'
import { secretOf } from '../../core/webhooks/config.js'
import type { WebhookEndpoint } from '../../core/webhooks/webhook.js'
import type { Platform, WebhookBook } from '../ctx.js'
import { openWebhooks } from './seal.js'

/** A change is announced; this is how long a process that did not hear of it goes on with what it has. */
const KEEP_MS = 2000
const KEEP_ACCOUNTS = 10_000

interface Page {
  version: number
  endpoints: readonly WebhookEndpoint[]
  /** When the next former secret stops signing. */
  until: number
}

export function createWebhookBook(ctx: Platform): WebhookBook {
  const pages = new Map<string, { at: number; page: Promise<Page> }>()
  ctx.wakes.on(topics.webhooks, (accountId) => pages.delete(accountId))

  const load = (accountId: string): Promise<Page> => {
    if (pages.size >= KEEP_ACCOUNTS) pages.clear()
    const entry = { at: performance.now(), page: readPage(ctx, accountId) }
    pages.set(accountId, entry)
    entry.page.catch(() => {
      if (pages.get(accountId) === entry) pages.delete(accountId)
    })
    return entry.page
  }
  return {
    async endpointsOf(accountId, version = 0) {
      const kept = pages.get(accountId)
      if (kept && performance.now() - kept.at < KEEP_MS) {
        const page = await kept.page
        if (page.version >= version && ctx.clock.now() < page.until) return page.endpoints
      }
      return (await load(accountId)).endpoints
    },
  }
}

async function readPage(ctx: Platform, accountId: string): Promise<Page> {
  const { version, config } = await openWebhooks(ctx, ctx.db, accountId)
  const now = ctx.clock.now()
  const ends = config.webhooks.flatMap(({ former }) => (former && former.until > now ? [former.until] : []))
  return {
    version,
    endpoints: endpointsAt(accountId, config, now),
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
    numbers: webhook.numbers,
    schedule: webhook.schedule,
  }))
}
