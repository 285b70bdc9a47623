import { overBudget } from '../../core/accounts/budgets.js'
import { AppError } from '../../core/errors.js'
import { urlFault } from '../../core/url.js'
import type { GivenSettings, WebhookEntry } from '../../core/webhooks/config.js'
import { secretFault } from '../../core/webhooks/secret.js'
import { isWebhookType, WEBHOOK_TYPES, WEBHOOKS, type WebhookType } from '../../core/webhooks/types.js'
import type { WebhookSchedule } from '../../core/webhooks/webhook.js'
import type { Ctx } from '../../services/ctx.js'
import type { WebhookAddition } from '../../services/webhooks/webhooks.js'
import type { AccountPrincipal as Actor } from '../http/auth.js'
import { requirePhone } from '../http/fields.js'
import { SCHEDULES } from './wire.js'

/** Maximum characters of JSON in unknown keys of an entry and of the root. */
const MAX_UNKNOWN = { entry: 4096, root: 16_384 }

export function readType(value: unknown): WebhookType {
  if (value === undefined) return 'receive'
  if (!isWebhookType(value)) throw new AppError('invalid', `type: must be one of ${WEBHOOK_TYPES.join(', ')}`)
  return value
}

function readSecret(field: string, value: unknown): string | undefined {
  if (value === undefined) return undefined
  const fault = secretFault(value)
  if (fault) throw new AppError('invalid', `${field}: ${fault}`)
  return value as string
}

/** A list of entries. `field` is its path in the body. */
function readEntries(
  ctx: Ctx,
  actor: Actor,
  type: WebhookType,
  field: string,
  value: unknown,
): WebhookEntry[] {
  if (!Array.isArray(value)) throw noList()
  const { webhooks: limit } = actor.account.limits
  if (value.length > limit) throw overBudget('webhooks', limit)
  return value.map((entry, i) => readEntry(ctx, actor, type, `${field}.${i}`, entry))
}

/** The body of a POST: a list for one type, or an object of lists by type, which some clients send to every method. */
export function readAddition(ctx: Ctx, actor: Actor, body: Record<string, unknown>): WebhookAddition {
  const { globalSecret, secret, ...byType } = isObject(body.webhooks) ? withoutNulls(body.webhooks) : {}
  const types = Object.keys(byType)
  let lists: Map<WebhookType, WebhookEntry[]>
  if (types.length > 0 && types.every(isWebhookType)) {
    lists = new Map(
      types.map((type) => [type, readEntries(ctx, actor, type, `webhooks.${type}`, byType[type])]),
    )
  } else {
    const type = readType(body.type)
    lists = new Map([[type, readEntries(ctx, actor, type, 'webhooks', body.webhooks)]])
  }
  return {
    lists,
    globalSecret: readSecret('globalSecret', globalSecret ?? body.globalSecret),
    legacySecret: readSecret('secret', secret ?? body.secret),
  }
}

/** The URLs to remove, given as URLs or as entries. */
export function readUrls(value: unknown): string[] {
  if (!Array.isArray(value)) throw noList()
  return value.map((entry, i) => {
    const found = isObject(entry) ? entry.url : entry
    if (typeof found !== 'string') throw notAnEntry(`webhooks.${i}`)
    return found
  })
}

/** The body of a PUT: lists, secrets and unknown keys. */
export function readConfig(
  ctx: Ctx,
  actor: Actor,
  body: Record<string, unknown>,
): { lists: Map<WebhookType, WebhookEntry[]>; settings: GivenSettings } {
  if (!isObject(body.webhooks)) throw noList()
  const given = withoutNulls(body.webhooks)
  const { globalSecret, secret, ...rest } = given
  const extra = Object.fromEntries(Object.entries(rest).filter(([key]) => !isWebhookType(key)))
  limitUnknown('webhooks', extra, MAX_UNKNOWN.root)
  const settings = {
    globalSecret: readSecret('webhooks.globalSecret', globalSecret ?? body.globalSecret) ?? null,
    legacySecret: readSecret('webhooks.secret', secret ?? body.secret) ?? null,
    extra,
  }
  const lists = new Map(
    WEBHOOK_TYPES.map((type) => [type, readEntries(ctx, actor, type, `webhooks.${type}`, given[type] ?? [])]),
  )
  return { lists, settings }
}

function readEntry(ctx: Ctx, actor: Actor, type: WebhookType, field: string, value: unknown): WebhookEntry {
  if (typeof value === 'string') {
    checkTarget(ctx, field, value)
    const numbers = actor.numbers && [...actor.numbers]
    const given = numbers ? { url: value, sendblue_numbers: numbers } : value
    return { url: value, secret: null, numbers, schedule: 'standard', given }
  }
  if (!isObject(value) || typeof value.url !== 'string') throw notAnEntry(field)
  const entry = withoutNulls(value)
  const { url, secret, sendblue_numbers, retry_schedule, legacy_secret_header: isShown, ...unknown } = entry
  checkTarget(ctx, `${field}.url`, url as string)
  limitUnknown(field, unknown, MAX_UNKNOWN.entry)
  const numbers = readNumbers(type, `${field}.sendblue_numbers`, sendblue_numbers)
  if (actor.numbers && !numbers)
    throw new AppError(
      'invalid',
      `${field}.sendblue_numbers: required for a token confined to some lines; name lines of the token`,
    )
  if (retry_schedule !== undefined && !SCHEDULES.includes(retry_schedule as WebhookSchedule))
    throw new AppError('invalid', `${field}.retry_schedule: must be one of ${SCHEDULES.join(', ')}`)
  if (isShown !== undefined && typeof isShown !== 'boolean')
    throw new AppError('invalid', `${field}.legacy_secret_header: must be true or false`)
  return {
    url: url as string,
    secret: readSecret(`${field}.secret`, secret) ?? null,
    numbers,
    schedule: (retry_schedule as WebhookSchedule | undefined) ?? 'standard',
    given: numbers ? { ...entry, sendblue_numbers: numbers } : entry,
  }
}

function readNumbers(type: WebhookType, field: string, value: unknown): string[] | null {
  if (value === undefined) return null
  const { noLines } = WEBHOOKS[type]
  if (noLines) throw new AppError('invalid', `${field}: ${noLines}; omit it`)
  if (!Array.isArray(value) || value.length === 0 || value.length > 1000)
    throw new AppError('invalid', `${field}: must be a list of lines in E.164; omit it for all lines`)
  const numbers = value.map((number, i) => {
    if (typeof number !== 'string') throw new AppError('invalid', `${field}.${i}: must be a phone number`)
    return requirePhone(`${field}.${i}`, number)
  })
  return [...new Set(numbers)]
}

/** Refuses a URL that could never be called. Every connection checks the resolved address again. */
function checkTarget(ctx: Ctx, field: string, url: string): void {
  const fault = urlFault(url, ctx.urlRules)
  if (fault) throw new AppError('invalid', `${field}: ${fault}`)
}

function limitUnknown(field: string, unknown: Record<string, unknown>, limit: number): void {
  if (JSON.stringify(unknown).length > limit)
    throw new AppError('invalid', `${field}: unknown keys may have at most ${limit} characters of JSON`)
}

/** The words that the interface specifies. */
function noList(): AppError {
  return new AppError('invalid', 'Missing or invalid webhooks array')
}

function notAnEntry(field: string): AppError {
  return new AppError('invalid', `${field}: must be a URL, or an object with a url`)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Null counts as absent. */
function withoutNulls(value: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== null))
}
