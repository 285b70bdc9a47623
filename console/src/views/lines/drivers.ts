import { useQuery } from '@tanstack/react-query'
import { type Setting, settingsIn } from '../../../../src/core/lines/settings'
import { ApiError, api } from '../../api/client'
import type { Driver } from '../../api/types'

/** The settings as a form has them: everything is text, and empty if not given. */
export type Draft = Record<string, string>
export type Faults = Record<string, string>

export function useDrivers() {
  return useQuery({
    queryKey: ['drivers'],
    queryFn: () => api.get<{ data: Driver[] }>('/admin/drivers'),
    staleTime: Number.POSITIVE_INFINITY,
  })
}

/** The settings that a form can show. */
export function settingsOf({ settings }: Driver): Setting[] {
  return settingsIn(settings).filter(({ kind }) => kind !== 'other')
}

export function draftOf(driver: Driver, config: Record<string, unknown>): Draft {
  const draft: Draft = {}
  for (const { name, kind, isSecret } of settingsOf(driver)) {
    const value = config[name]
    if (value === undefined || isSecret) draft[name] = ''
    else if (kind === 'switch') draft[name] = value ? 'yes' : 'no'
    else draft[name] = Array.isArray(value) ? value.join(', ') : String(value)
  }
  return draft
}

/** The settings for the server. A setting that the form does not have, or a secret that nobody typed, stays. */
export function configOf(
  driver: Driver,
  draft: Draft,
  before: Record<string, unknown> = {},
): Record<string, unknown> {
  const config = { ...before }
  for (const setting of settingsOf(driver)) {
    const { name, isSecret } = setting
    const text = draft[name] ?? ''
    if (isSecret && text === '') continue
    if (text.trim() === '' && !isSecret) delete config[name]
    else config[name] = readValue(setting, text)
  }
  return config
}

function readValue({ kind, isSecret, isLong }: Setting, text: string): unknown {
  switch (kind) {
    case 'whole':
    case 'number':
      // A text that is not a number goes as it is, so that the server says what it must be.
      return Number.isNaN(Number(text)) ? text : Number(text)
    case 'switch':
      return text === 'yes'
    case 'list':
      return text
        .split(',')
        .map((one) => one.trim())
        .filter(Boolean)
    default:
      return isSecret || isLong ? text : text.trim()
  }
}

/** The server's complaints about single fields, by their names; undefined when there are none. */
export function faultsOf(error: unknown): Faults | undefined {
  if (!(error instanceof ApiError) || error.status !== 400) return undefined
  const faults: Faults = {}
  for (const { field, message } of error.details) faults[field.replace(/^config\./, '')] = sentence(message)
  const [, field, words] = /^(?:missing required parameter: )?(\w+): (.*)$/s.exec(error.message) ?? []
  if (error.details.length === 0 && field && words) faults[field] = sentence(words)
  return Object.keys(faults).length > 0 ? faults : undefined
}

function sentence(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}
