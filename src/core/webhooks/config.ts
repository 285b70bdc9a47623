import type { WebhookType } from './types.js'
import type { WebhookSchedule } from './webhook.js'

/** One entry of an account's lists, as somebody gave it. */
export interface WebhookEntry {
  url: string
  secret: string | null
  /** Lines whose events it gets; null for all. */
  numbers: readonly string[] | null
  schedule: WebhookSchedule
  /** As it came and as it is given back: a plain URL, or an object with everything that was in it. */
  given: string | Record<string, unknown>
}

/** An entry that an account has. */
export interface ConfiguredWebhook extends WebhookEntry {
  id: string
  type: WebhookType
  position: number
  /** The secret before this one, which signs beside it until then. */
  former: { secret: string; until: number } | null
}

export interface WebhookSettings {
  globalSecret: string | null
  /** The older place for it, at the root of the configuration. */
  legacySecret: string | null
  /** Keys that we do not know, to be given back as they came. */
  extra: Record<string, unknown>
}

export interface WebhookConfig {
  settings: WebhookSettings
  /** Type by type, each in its order. */
  webhooks: readonly ConfiguredWebhook[]
}

export const NO_WEBHOOKS: WebhookConfig = {
  settings: { globalSecret: null, legacySecret: null, extra: {} },
  webhooks: [],
}

export const MAX_ENTRIES = 100
const CHANGEOVER_MS = 24 * 3600_000

/** What an entry's deliveries are signed with: its own secret before the account's. */
export function secretOf(webhook: WebhookEntry, settings: WebhookSettings): string | null {
  return webhook.secret ?? settings.globalSecret ?? settings.legacySecret
}

type Lists = ReadonlyMap<WebhookType, readonly WebhookEntry[]>

/** Everything anew. A URL that stays in its list stays the same webhook: what waits for it goes on to it. */
export function replaced(
  before: WebhookConfig,
  lists: Lists,
  settings: WebhookSettings,
  newId: () => string,
): WebhookConfig {
  const webhooks = [...lists].flatMap(([type, entries]) =>
    lastOfEach(entries).map((entry, position) => ({
      ...entry,
      ...(found(before, type, entry.url) ?? fresh(newId)),
      type,
      position,
    })),
  )
  return { settings, webhooks }
}

/** With these at the end of a list. An object takes the place of what its URL had; a plain URL says nothing new of it. */
export function appended(
  before: WebhookConfig,
  type: WebhookType,
  entries: readonly WebhookEntry[],
  newId: () => string,
): WebhookConfig {
  const list = before.webhooks.filter((webhook) => webhook.type === type)
  let end = Math.max(-1, ...list.map(({ position }) => position))
  for (const entry of lastOfEach(entries)) {
    const at = list.findIndex(({ url }) => url === entry.url)
    const existing = list[at]
    if (!existing) list.push({ ...entry, ...fresh(newId), type, position: ++end })
    else if (typeof entry.given !== 'string') list[at] = { ...existing, ...entry }
  }
  return { ...before, webhooks: [...before.webhooks.filter((webhook) => webhook.type !== type), ...list] }
}

/**
 * A webhook whose secret was replaced keeps the former one for a day, so that its receiver can change over;
 * whether it was its own or the account's makes no difference.
 */
export function keepFormer(before: WebhookConfig, after: WebhookConfig, now: number): WebhookConfig {
  const known = new Map(before.webhooks.map((webhook) => [webhook.id, webhook]))
  const webhooks = after.webhooks.map((webhook) => {
    const earlier = known.get(webhook.id)
    const old = earlier ? secretOf(earlier, before.settings) : null
    const secret = secretOf(webhook, after.settings)
    const kept = webhook.former && webhook.former.until > now ? webhook.former : null
    if (secret === null) return { ...webhook, former: null }
    if (old !== null && old !== secret)
      return { ...webhook, former: { secret: old, until: now + CHANGEOVER_MS } }
    return { ...webhook, former: kept }
  })
  return { ...after, webhooks }
}

function found(config: WebhookConfig, type: WebhookType, url: string) {
  const webhook = config.webhooks.find((one) => one.type === type && one.url === url)
  return webhook && { id: webhook.id, former: webhook.former }
}

function fresh(newId: () => string) {
  return { id: newId(), former: null }
}

/** The same URL twice is one entry: the last word counts. */
function lastOfEach(entries: readonly WebhookEntry[]): WebhookEntry[] {
  return [...new Map(entries.map((entry) => [entry.url, entry])).values()]
}
