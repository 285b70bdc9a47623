import { useQuery } from '@tanstack/react-query'
import { WEBHOOK_TYPES, WEBHOOKS, type WebhookType } from '../../../../src/core/webhooks/types'
import { api, encode } from '../../api/client'
import type { Phone } from '../../api/types'

export const TYPES = WEBHOOK_TYPES.map((value) => ({ value, label: WEBHOOKS[value].label }))

export const typeLabel = (type: WebhookType) => WEBHOOKS[type].label
export const mayHaveLines = (type: WebhookType) => WEBHOOKS[type].noLines === undefined

export interface WebhookInput {
  type: WebhookType
  url: string
  /** Empty: deliveries are not signed. */
  secret: string
  /** Empty: all lines. */
  numbers: string[]
  schedule: 'standard' | 'extended'
  /** Whether deliveries carry the secret itself, for older receivers. */
  showsSecret: boolean
}

export interface Webhook extends WebhookInput {
  /** The stored webhook: fields that the console does not know are kept when it changes. */
  stored: Config
}

type Config = Record<string, unknown>

/** Every webhook of the account, by type. */
export function useWebhooks() {
  return useQuery({
    queryKey: ['webhooks'],
    queryFn: async () => {
      const { webhooks } = await api.get<{ webhooks: Config }>('/api/account/webhooks')
      return WEBHOOK_TYPES.flatMap((type) => webhooksIn(type, webhooks[type]))
    },
  })
}

function webhooksIn(type: WebhookType, entries: unknown): Webhook[] {
  if (!Array.isArray(entries)) return []
  return entries.map((entry: string | Config) => {
    const stored = typeof entry === 'string' ? { url: entry } : entry
    return {
      type,
      url: String(stored.url),
      secret: typeof stored.secret === 'string' ? stored.secret : '',
      numbers: Array.isArray(stored.sendblue_numbers) ? stored.sendblue_numbers : [],
      schedule: stored.retry_schedule === 'extended' ? 'extended' : 'standard',
      showsSecret: stored.legacy_secret_header !== false,
      stored,
    }
  })
}

/** Adds the webhook. If the type already has a webhook with this URL, the server changes that one. */
export function saveWebhook(
  { type, url, secret, numbers, schedule, showsSecret }: WebhookInput,
  before?: Webhook,
) {
  const known = ['secret', 'sendblue_numbers', 'retry_schedule', 'legacy_secret_header']
  const rest = Object.fromEntries(
    Object.entries(before?.stored ?? {}).filter(([key]) => !known.includes(key)),
  )
  return api.post('/api/account/webhooks', {
    type,
    webhooks: [
      {
        ...rest,
        url,
        ...(secret ? { secret } : {}),
        ...(numbers.length > 0 ? { sendblue_numbers: numbers } : {}),
        ...(schedule === 'extended' ? { retry_schedule: schedule } : {}),
        ...(showsSecret ? {} : { legacy_secret_header: false }),
      },
    ],
  })
}

export function removeWebhook({ type, url }: WebhookInput) {
  return api.delete('/api/account/webhooks', { type, webhooks: [url] })
}

/** A random secret of visible ASCII characters. */
export function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(24))
  return `whsec_${btoa(String.fromCharCode(...bytes))
    .replaceAll('+', 'A')
    .replaceAll('/', 'B')}`
}

export const canTest = (type: WebhookType) => type === 'receive' || type === 'outbound'

/** Sends a message in the simulated world, to or from the line, so that the webhook gets its event. */
export async function testWebhook(type: WebhookType, line: string): Promise<void> {
  const { data } = await api.get<{ data: Phone[] }>('/sim/phones')
  const phone = data.find(({ power }) => power)?.number
  if (!phone) throw new Error('No virtual phone is switched on. Switch one on, then test the webhook again.')
  const content = 'A test of the webhook'
  if (type === 'receive') await api.post(`/sim/phones/${encode(phone)}/messages`, { to: line, content })
  else await api.post('/api/send-message', { from_number: line, number: phone, content })
}
