import { parseBound } from '../../base/time.js'
import { AppError } from '../errors.js'
import { SERVICES, type Service, type Status } from '../messages/message.js'
import { toE164 } from '../phone-number.js'

/** A message search. All conditions must hold. */
export interface Search {
  terms: Term[]
  /** Inclusive bounds of the time when a message was accepted or stored. */
  from?: number
  to?: number
}

export type Term = { not: boolean } & (
  | { by: 'text'; text: string }
  | { by: 'to' | 'from' | 'with' | 'line'; number: string }
  | { by: 'group'; group: string }
  | { by: 'status'; statuses: readonly Status[] }
  | { by: 'direction'; outbound: boolean }
  | { by: 'service'; service: Service }
  | { by: 'downgraded' }
  | { by: 'has'; what: Part }
)

const PARTS = ['media', 'reply', 'card', 'location', 'style', 'error'] as const
export type Part = (typeof PARTS)[number]

const STATUSES: Record<string, readonly Status[]> = {
  failed: ['ERROR', 'DECLINED'],
  error: ['ERROR', 'DECLINED'],
  scheduled: ['REGISTERED'],
  queued: ['REGISTERED', 'QUEUED'],
  pending: ['PENDING'],
  accepted: ['ACCEPTED'],
  sent: ['ACCEPTED', 'SENT'],
  delivered: ['DELIVERED', 'SUCCESS'],
  received: ['RECEIVED'],
}
const STATES = [...Object.keys(STATUSES), 'inbound', 'outbound', 'downgraded']
const FILTERS = ['to', 'from', 'with', 'line', 'group', 'is', 'has', 'service', 'text', 'after', 'before']

/** Maximum number of words in a search: each word costs time for every message that is read. */
const MAX_TERMS = 20
const SPAN = /^(\d{1,6})(s|m|h|d|w)$/
const UNITS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 }

/**
 * Parses a search: words and "phrases" of the text, filters like to:+1202 or is:failed, and a minus before excluded
 * terms. An error names the position in the query.
 */
export function parseSearch(query: string, now: number): Search {
  const search: Search = { terms: [] }
  for (const word of wordsOf(query)) {
    const { not, name, value, at } = word
    if (name === 'after' || name === 'before') {
      if (not)
        throw fault(at, `${name}: takes no minus; use ${name === 'after' ? 'before' : 'after'}: instead`)
      const time = timeOf(name, value, at, now)
      if (name === 'after') search.from = Math.max(search.from ?? 0, time)
      else search.to = Math.min(search.to ?? Number.MAX_SAFE_INTEGER, time)
    } else search.terms.push(termOf(word))
    if (search.terms.length > MAX_TERMS)
      throw fault(at, `A search has at most ${MAX_TERMS} words and filters`)
  }
  return search
}

interface Word {
  not: boolean
  /** Null for a word or phrase of the text. */
  name: string | null
  value: string
  /** Position in the query, from 1. */
  at: number
}

const FILTER = /^([A-Za-z_]+):/

function wordsOf(query: string): Word[] {
  const words: Word[] = []
  let i = 0
  while (i < query.length) {
    if (/\s/.test(query[i]!)) {
      i++
      continue
    }
    const at = i + 1
    const not = (query[i] === '-' || query[i] === '!') && /\S/.test(query[i + 1] ?? ' ')
    if (not) i++
    const name = FILTER.exec(query.slice(i))?.[1] ?? null
    if (name !== null) i += name.length + 1
    let value: string
    if (query[i] === '"') {
      const end = query.indexOf('"', i + 1)
      if (end < 0) throw fault(i + 1, 'This quotation mark is never closed')
      value = query.slice(i + 1, end)
      i = end + 1
    } else {
      value = /^\S*/.exec(query.slice(i))![0]
      i += value.length
    }
    if (name !== null && value === '')
      throw fault(at, `${name}: needs a value right after the colon, such as ${exampleOf(name)}`)
    if (value !== '') words.push({ not, name: name?.toLowerCase() ?? null, value, at })
  }
  return words
}

function termOf({ not, name, value, at }: Word): Term {
  const known = value.toLowerCase()
  switch (name) {
    case null:
    case 'text':
      return { not, by: 'text', text: known }
    case 'to':
    case 'from':
    case 'with':
    case 'line':
      return { not, by: name, number: numberOf(name, value, at) }
    case 'group':
      return { not, by: 'group', group: value }
    case 'service': {
      const service = SERVICES.find((one) => one.toLowerCase() === known)
      if (!service) throw fault(at, `Unknown value "${value}" for service:. Use ${SERVICES.join(', ')}`)
      return { not, by: 'service', service }
    }
    case 'has': {
      const what = PARTS.find((one) => one === known)
      if (!what) throw fault(at, `Unknown value "${value}" for has:. Use ${PARTS.join(', ')}`)
      return { not, by: 'has', what }
    }
    case 'is': {
      if (known === 'inbound' || known === 'outbound')
        return { not, by: 'direction', outbound: known === 'outbound' }
      if (known === 'downgraded') return { not, by: 'downgraded' }
      const statuses = Object.hasOwn(STATUSES, known) ? STATUSES[known] : undefined
      if (!statuses) throw fault(at, `Unknown value "${value}" for is:. Use ${STATES.join(', ')}`)
      return { not, by: 'status', statuses }
    }
    default:
      throw fault(
        at,
        `Unknown filter ${name}:. Use ${FILTERS.map((one) => `${one}:`).join(' ')}, or put quotation marks around a text with a colon`,
      )
  }
}

/** A whole number, the beginning of one with its plus, or some of its digits. */
function numberOf(name: string, value: string, at: number): string {
  const whole = toE164(value)
  if (whole) return whole
  if (/^[^\s@]+@[^\s@]*$/.test(value)) return value.toLowerCase()
  const digits = value.replace(/[\s().-]/g, '')
  if (!/^\+?\d{1,15}$/.test(digits))
    throw fault(at, `${name}: takes a number or a part of one, such as ${exampleOf(name)}`)
  return digits
}

function timeOf(name: string, value: string, at: number, now: number): number {
  const [, count, unit] = SPAN.exec(value.toLowerCase()) ?? []
  const time = unit ? now - Number(count) * UNITS[unit as keyof typeof UNITS] : parseBound(value)
  if (time === undefined)
    throw fault(at, `${name}: takes an age such as 10m, 2h or 7d, or a time such as 2026-01-31T09:30:00Z`)
  return time
}

function exampleOf(name: string): string {
  const values: Record<string, string> = {
    group: 'group:GROUP-ID',
    is: 'is:failed',
    has: 'has:media',
    service: 'service:sms',
    text: 'text:"your code"',
    after: 'after:10m',
    before: 'before:2h',
  }
  return values[name.toLowerCase()] ?? `${name}:+12025550101`
}

function fault(at: number, words: string): AppError {
  return new AppError('invalid', `q: ${words} (at character ${at})`)
}
