import { useQuery } from '@tanstack/react-query'
import { WEBHOOK_TYPES, WEBHOOKS, type WebhookType } from '../../../../src/core/webhooks/types'
import { api } from '../../api/client'

export const TYPES = WEBHOOK_TYPES.map((value) => ({ value, label: WEBHOOKS[value].label }))

export const typeLabel = (type: WebhookType) => WEBHOOKS[type].label
export const mayHaveLines = (type: WebhookType) => WEBHOOKS[type].noLines === undefined

export interface Hook {
  type: WebhookType
  url: string
  secret: string | null
  numbers: string[] | null
  schedule: 'standard' | 'extended'
  /** As it was given, so that what the console does not know stays. */
  given: Record<string, unknown>
}

type Config = Record<string, unknown>

/** Every webhook of the account, type by type. */
export function useHooks() {
  return useQuery({
    queryKey: ['webhooks'],
    queryFn: async () => {
      const { webhooks } = await api.get<{ webhooks: Config }>('/api/account/webhooks')
      return WEBHOOK_TYPES.flatMap((type) => hooksIn(type, webhooks[type]))
    },
  })
}

function hooksIn(type: WebhookType, entries: unknown): Hook[] {
  if (!Array.isArray(entries)) return []
  return entries.map((entry: string | Config) => {
    const given = typeof entry === 'string' ? { url: entry } : entry
    return {
      type,
      url: String(given.url),
      secret: typeof given.secret === 'string' ? given.secret : null,
      numbers: Array.isArray(given.sendblue_numbers) ? (given.sendblue_numbers as string[]) : null,
      schedule: given.retry_schedule === 'extended' ? 'extended' : 'standard',
      given,
    }
  })
}

export type HookInput = Pick<Hook, 'type' | 'url' | 'secret' | 'numbers' | 'schedule'>

/** The same URL in the same type is the same webhook: it is changed. */
export function saveHook(hook: HookInput, before?: Hook) {
  const { secret: _, sendblue_numbers: __, retry_schedule: ___, ...rest } = before?.given ?? {}
  return api.post('/api/account/webhooks', {
    type: hook.type,
    webhooks: [
      {
        ...rest,
        url: hook.url,
        ...(hook.secret ? { secret: hook.secret } : {}),
        ...(hook.numbers?.length ? { sendblue_numbers: hook.numbers } : {}),
        ...(hook.schedule === 'extended' ? { retry_schedule: 'extended' } : {}),
      },
    ],
  })
}

export function removeHook({ type, url }: Pick<Hook, 'type' | 'url'>) {
  return api.delete('/api/account/webhooks', { type, webhooks: [url] })
}

/** Visible ASCII, hard to guess. */
export function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(24))
  return `whsec_${btoa(String.fromCharCode(...bytes))
    .replaceAll('+', 'A')
    .replaceAll('/', 'B')}`
}

/** Makes something really happen in the simulated world that this kind of webhook is told of. */
export async function causeEvent(type: string, line: string): Promise<void> {
  const { data } = await api.get<{ data: { number: string; power?: boolean }[] }>('/sim/phones')
  const phone = data.find((one) => one.power !== false)?.number
  if (!phone) throw new Error('There is no phone in this world that is switched on')
  const content = 'A test of the webhook'
  if (type === 'receive')
    await api.post(`/sim/phones/${encodeURIComponent(phone)}/messages`, { to: line, content })
  else await api.post('/api/send-message', { from_number: line, number: phone, content })
}

export const canCause = (type: string) => type === 'receive' || type === 'outbound'
