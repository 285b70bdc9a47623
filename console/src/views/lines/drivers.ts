import { useState } from 'react'
import { type Setting, settingsIn } from '../../../../src/core/lines/settings'
import { ApiError } from '../../api/client'
import { useData } from '../../api/queries'
import type { Driver } from '../../api/types'
import { capitalize } from '../../ui/badge'

/** The settings in a form: every value is a text, and empty if it is not set. */
export type Draft = Record<string, string>

export function useDrivers() {
  return useData<Driver[]>(['drivers'], '/admin/drivers', { staleTime: Number.POSITIVE_INFINITY })
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

/** The settings for the server. Settings that the form does not show, and secrets left empty, keep their value. */
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
      // Send other text unchanged: the server's error says what is allowed.
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

export type FieldErrors = ReturnType<typeof useFieldErrors>

/** The server's errors about single fields. `failed` takes them from a response. */
export function useFieldErrors() {
  const [errors, setErrors] = useState<Record<string, string>>({})
  const failed = (error: unknown) => {
    const found = fieldErrorsOf(error)
    setErrors(found)
    return Object.keys(found).length > 0
  }
  return { errors, clear: () => setErrors({}), failed }
}

function fieldErrorsOf(error: unknown): Record<string, string> {
  if (!(error instanceof ApiError) || error.status !== 400) return {}
  const [, field, message] = /^(?:missing required parameter: )?(\w+): (.*)$/s.exec(error.message) ?? []
  const details = error.details.length > 0 || !field || !message ? error.details : [{ field, message }]
  return Object.fromEntries(
    details.map(({ field: name, message: text }) => [name.replace(/^config\./, ''), capitalize(text)]),
  )
}
