import type { WebhookType } from './types.js'
import type { WebhookSchedule } from './webhook.js'

/** One entry of an account's webhook lists, as the client gave it. */
export interface WebhookEntry {
  url: string
  secret: string | null
  /** Lines whose events the webhook gets; null for all. */
  numbers: readonly string[] | null
  schedule: WebhookSchedule
  /** The entry as the client gave it and gets it back: a plain URL, or an object with all its keys. */
  given: string | Record<string, unknown>
}

/** A configured webhook. */
export interface ConfiguredWebhook extends WebhookEntry {
  id: string
  type: WebhookType
  position: number
  former: FormerSecret | null
}

export interface WebhookSettings {
  globalSecret: string | null
  /** The older place of the secret, at the root of the configuration. */
  legacySecret: string | null
  /** The account's own secret, which signs status callbacks; null before the first one. */
  signing: SigningSecret | null
  /** Unknown keys, returned unchanged. */
  extra: Record<string, unknown>
}

export interface SigningSecret {
  secret: string
  former: FormerSecret | null
}

/** A replaced secret, which also signs until `until`. */
export interface FormerSecret {
  secret: string
  until: number
}

/** The settings that a client gives. */
export type GivenSettings = Omit<WebhookSettings, 'signing'>

export interface WebhookConfig {
  settings: WebhookSettings
  /** Webhooks by type, each list in its order. */
  webhooks: readonly ConfiguredWebhook[]
}

export const NO_WEBHOOKS: WebhookConfig = {
  settings: { globalSecret: null, legacySecret: null, signing: null, extra: {} },
  webhooks: [],
}

const CHANGEOVER_MS = 24 * 3600_000

/** The signing secret of an entry: its own, otherwise the account's. */
export function secretOf(webhook: WebhookEntry, settings: WebhookSettings): string | null {
  return webhook.secret ?? settings.globalSecret ?? settings.legacySecret
}

type Lists = ReadonlyMap<WebhookType, readonly WebhookEntry[]>

/** Replaces all lists. A URL that stays in its list keeps its webhook and its waiting deliveries. */
export function replaceWebhooks(
  before: WebhookConfig,
  lists: Lists,
  settings: GivenSettings,
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
  return { settings: { ...settings, signing: before.settings.signing }, webhooks }
}

/** Replaces the account's own secret, or makes the first one. The previous secret signs beside it for a day. */
export function withSigningSecret(before: WebhookConfig, secret: string, now: number): WebhookConfig {
  const old = before.settings.signing
  const former = old && { secret: old.secret, until: now + CHANGEOVER_MS }
  return { ...before, settings: { ...before.settings, signing: { secret, former } } }
}

/**
 * The secrets that sign status callbacks, which have no entry of their own: the account's own secret, and the secret
 * that its webhooks share, so that one receiver can check both.
 */
export function callbackSecrets({ signing, ...settings }: WebhookSettings, now: number): string[] {
  if (!signing) return []
  const { secret, former } = signing
  const shared = settings.globalSecret ?? settings.legacySecret
  return [
    secret,
    ...(former && former.until > now ? [former.secret] : []),
    ...(shared === null ? [] : [shared]),
  ]
}

/** Whether deliveries carry the secret itself in a header, as older receivers expect. */
export function sendsSecret({ given }: Pick<WebhookEntry, 'given'>): boolean {
  return typeof given === 'string' || given.legacy_secret_header !== false
}

/** Appends entries to a list. An object replaces the entry with its URL; a plain URL keeps an existing entry. */
export function appendWebhooks(
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
 * A webhook whose secret was replaced, its own or the account's, keeps the previous secret for a day, so that its
 * receiver can change over.
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

/** Merges entries with equal URLs; the last one counts. */
function lastOfEach(entries: readonly WebhookEntry[]): WebhookEntry[] {
  return [...new Map(entries.map((entry) => [entry.url, entry])).values()]
}
