import { parseUrl } from '../../base/parse-url.js'

/** One setting of a driver, read from the driver's schema, for forms, command line options and validation errors. */
export interface Setting {
  name: string
  /** For people: the schema's `title`, or the name as words. */
  label: string
  kind: 'text' | 'whole' | 'number' | 'switch' | 'choice' | 'list' | 'other'
  description: string
  isRequired: boolean
  /** Kept sealed and never shown again. */
  isSecret: boolean
  /** A text of several lines, such as a certificate. */
  isLong: boolean
  /** The values of a choice, or of the items of a list. */
  choices: readonly string[]
  /** The first of the schema's `examples`. */
  example?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  pattern?: string
}

export interface SettingsSchema {
  properties: Record<string, object>
  required?: string[]
}

/** One fault in given settings, in words for the user. */
export interface SettingFault {
  name: string
  words: string
}

/** Shown in place of a secret. When a client sends it back, the stored secret stays. */
export const KEPT = '(kept)'

interface Property {
  type?: string
  title?: string
  description?: string
  examples?: unknown[]
  secret?: boolean
  destination?: boolean
  anyOf?: { const?: unknown }[]
  enum?: unknown[]
  items?: Property
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  pattern?: string
}

/** Texts that may be longer than this many characters do not fit on one line of a form. */
const SHORT_LENGTH = 5000

export function settingsIn({ properties, required = [] }: SettingsSchema): Setting[] {
  return Object.entries(properties as Record<string, Property>).map(([name, property]) => {
    const { minimum, maximum, minLength, maxLength, minItems, pattern } = property
    return {
      name,
      label: property.title ?? labelOf(name),
      kind: kindOf(property),
      description: property.description ?? '',
      example: property.examples?.[0]?.toString(),
      isRequired: required.includes(name),
      isSecret: property.secret === true,
      isLong: property.type === 'string' && (maxLength ?? 0) > SHORT_LENGTH,
      choices: choicesOf(property.type === 'array' ? (property.items ?? {}) : property),
      ...{ minimum, maximum, minLength, maxLength, minItems, pattern },
    }
  })
}

export function secretNames(schema: SettingsSchema): string[] {
  return settingsIn(schema)
    .filter(({ isSecret }) => isSecret)
    .map(({ name }) => name)
}

/**
 * Where a line's secrets are sent: the settings that the driver marks with `destination`, or all its texts if it marks
 * none. Of a URL only scheme, host and port count.
 */
export function destinationOf(schema: SettingsSchema, config: Record<string, unknown>): string {
  const properties = Object.entries(schema.properties as Record<string, Property>)
  const marked = properties.filter(([, { destination }]) => destination)
  const texts = properties.filter(([, one]) => !one.secret && kindOf(one) === 'text')
  return (marked.length > 0 ? marked : texts)
    .map(([name]) => config[name])
    .map((value) => (typeof value === 'string' ? (originOf(value) ?? value.toLowerCase()) : (value ?? '')))
    .filter((value) => value !== '')
    .join(marked.length > 0 ? ':' : ', ')
}

function originOf(text: string): string | undefined {
  return /^https?:/i.test(text) ? parseUrl(text)?.origin : undefined
}

function labelOf(name: string): string {
  const words = name.replaceAll('_', ' ').replace(/ ms$/, ' (ms)')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function kindOf(property: Property): Setting['kind'] {
  if (choicesOf(property).length > 0) return 'choice'
  switch (property.type) {
    case 'string':
      return 'text'
    case 'integer':
      return 'whole'
    case 'number':
      return 'number'
    case 'boolean':
      return 'switch'
    case 'array':
      return kindOf(property.items ?? {}) === 'choice' || property.items?.type === 'string' ? 'list' : 'other'
    default:
      return 'other'
  }
}

function choicesOf({ anyOf, enum: values }: Property): string[] {
  const all = values ?? anyOf?.map((one) => one.const) ?? []
  return all.every((value) => typeof value === 'string') ? (all as string[]) : []
}

/** Describes the values that the setting accepts. */
export function demandOf(setting: Setting): string {
  const { kind, choices, minLength = 0, maxLength, pattern } = setting
  const range = rangeOf(setting)
  switch (kind) {
    case 'whole':
      return `must be a whole number${range}`
    case 'number':
      return `must be a number${range}`
    case 'switch':
      return 'must be true or false'
    case 'choice':
      return `must be one of ${choices.join(', ')}`
    case 'list':
      return `must be a list${choices.length > 0 ? ` of ${choices.join(', ')}` : ' of texts'}${setting.minItems ? ', and not empty' : ''}`
    case 'text': {
      const size =
        maxLength === undefined
          ? minLength > 0
            ? ` of at least ${minLength} character${minLength > 1 ? 's' : ''}`
            : ''
          : ` of ${minLength > 0 ? `${minLength} to` : 'at most'} ${maxLength} characters`
      return `must be text${size}${pattern ? ` that fits ${pattern}` : ''}`
    }
    default:
      return 'is not what this setting takes'
  }
}

function rangeOf({ minimum, maximum }: Setting): string {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`
  if (minimum !== undefined) return `, ${minimum} or more`
  return maximum === undefined ? '' : `, ${maximum} or less`
}

const SHOWN_NAME = 40

/** Faults in the names: unknown settings, and missing required settings. */
export function nameFaults(settings: readonly Setting[], given: Record<string, unknown>): SettingFault[] {
  const names = settings.map(({ name }) => name)
  const unknown = Object.keys(given)
    .filter((name) => !names.includes(name))
    .map((name) => {
      const meant = names.find((known) => isNear(known, name))
      const words = meant ? `there is no such setting; is ${meant} meant?` : 'there is no such setting'
      return { name: name.slice(0, SHOWN_NAME), words }
    })
  const missing = settings
    .filter(({ name, isRequired }) => isRequired && given[name] === undefined)
    .map(({ name }) => ({ name, words: 'is required' }))
  return [...unknown, ...missing]
}

/** Whether two names differ only in case and separators, in two swapped letters, or in one letter more or less. */
function isNear(known: string, given: string): boolean {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
  const [a, b] = [plain(known), plain(given.slice(0, SHOWN_NAME))]
  if (a === b) return true
  if (Math.abs(a.length - b.length) > 1 || a.length < 3) return false
  const sorted = (text: string) => [...text].sort().join('')
  if (sorted(a) === sorted(b)) return true
  const [long, short] = a.length > b.length ? [a, b] : [b, a]
  return [...long].some((_, i) => long.slice(0, i) + long.slice(i + 1) === short)
}

/** Removes secrets from a text that others will read. */
export function hideSecrets(text: string, secrets: Iterable<unknown>): string {
  let shown = text
  for (const secret of secrets) {
    // Removing shorter secrets would destroy ordinary words.
    if (typeof secret !== 'string' || secret.length < 3) continue
    for (const form of new Set([secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]))
      shown = shown.replaceAll(form, KEPT)
  }
  return shown
}
