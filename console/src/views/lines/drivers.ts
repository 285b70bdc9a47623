import { useQuery } from '@tanstack/react-query'
import { ApiError, api } from '../../api/client'

/** A carrier that lines can use, as GET /admin/drivers has it. */
export interface Driver {
  kind: string
  title: string
  settings: { properties: Record<string, Property>; required?: string[] }
  can_test: boolean
}

interface Property {
  type?: string
  description?: string
  secret?: boolean
  anyOf?: { const?: unknown }[]
  items?: Property
  maxLength?: number
}

export interface Setting {
  name: string
  label: string
  description: string
  kind: 'text' | 'long' | 'secret' | 'number' | 'switch' | 'choice' | 'list'
  choices: string[]
  isRequired: boolean
}

/** What a form has of settings: everything is text, and empty is what was not given. */
export type Draft = Record<string, string>
export type Faults = Record<string, string>

/** Stands for a secret that is stored. */
export const KEPT = '(kept)'
const LONG = 5000

export function useDrivers() {
  return useQuery({
    queryKey: ['drivers'],
    queryFn: () => api.get<{ data: Driver[] }>('/admin/drivers'),
    staleTime: Number.POSITIVE_INFINITY,
  })
}

export function settingsOf({ settings }: Driver): Setting[] {
  return Object.entries(settings.properties).flatMap(([name, property]) => {
    const kind = kindOf(property)
    if (!kind) return []
    return {
      name,
      kind,
      label: labelOf(name),
      description: property.description ?? '',
      choices: choicesOf(property),
      isRequired: settings.required?.includes(name) ?? false,
    }
  })
}

function kindOf(property: Property): Setting['kind'] | undefined {
  if (property.secret) return 'secret'
  if (choicesOf(property).length > 0) return 'choice'
  switch (property.type) {
    case 'string':
      return (property.maxLength ?? 0) > LONG ? 'long' : 'text'
    case 'integer':
    case 'number':
      return 'number'
    case 'boolean':
      return 'switch'
    case 'array':
      return 'list'
    default:
      return undefined
  }
}

function choicesOf({ anyOf = [] }: Property): string[] {
  const values = anyOf.map((one) => one.const)
  return values.every((value) => typeof value === 'string') ? (values as string[]) : []
}

const SPOKEN: Record<string, string> = {
  tls: 'TLS',
  ca: 'CA',
  url: 'URL',
  ton: 'TON',
  npi: 'NPI',
  id: 'ID',
  ids: 'IDs',
}

function labelOf(name: string): string {
  const words = name
    .split('_')
    .map((word) => SPOKEN[word] ?? (word === 'ms' ? '(ms)' : word))
    .join(' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

export function draftOf(driver: Driver, config: Record<string, unknown>): Draft {
  const draft: Draft = {}
  for (const { name, kind } of settingsOf(driver)) {
    const value = config[name]
    if (value === undefined || kind === 'secret') draft[name] = ''
    else if (kind === 'switch') draft[name] = value ? 'yes' : 'no'
    else draft[name] = Array.isArray(value) ? value.join(', ') : String(value)
  }
  return draft
}

/** As the server takes it: what the form does not know stays, and so does a secret that nobody typed. */
export function configOf(
  driver: Driver,
  draft: Draft,
  before: Record<string, unknown> = {},
): Record<string, unknown> {
  const config = { ...before }
  for (const { name, kind } of settingsOf(driver)) {
    const text = draft[name] ?? ''
    if (kind === 'secret' && text === '') continue
    if (text.trim() === '' && kind !== 'secret') delete config[name]
    else config[name] = readValue(kind, text)
  }
  return config
}

function readValue(kind: Setting['kind'], text: string): unknown {
  switch (kind) {
    case 'number':
      // What is no number goes as it is, so that the server says what it must be.
      return Number.isNaN(Number(text)) ? text : Number(text)
    case 'switch':
      return text === 'yes'
    case 'list':
      return text
        .split(',')
        .map((one) => one.trim())
        .filter(Boolean)
    case 'long':
    case 'secret':
      return text
    default:
      return text.trim()
  }
}

/** What the server says of single fields, by their names; undefined when it says nothing of the kind. */
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
