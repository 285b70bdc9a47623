/** A person by one address: a phone number in E.164, or an e-mail address of iMessage in small letters. */
export interface Person {
  handle: string
  /** Stands in the place of the address where it was the whole value, such as a member of a group. */
  mark: string
}

/** Stands in the place of an address inside a longer text. */
export const ERASED = '[erased]'

const MARK = /^erased-[\w-]{22}$/

/** Whether this is the mark of an erased person in the place of an address. */
export function isMark(handle: string): boolean {
  return MARK.test(handle)
}

export function markOf(token: string): string {
  return `erased-${token.slice(0, 22)}`
}

const isEmail = (handle: string) => handle.includes('@')
const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Every form of the address in stored texts: with and without its plus, and as a part of a URL. */
export function patternOf(handle: string): RegExp {
  if (!isEmail(handle)) return new RegExp(`(?<!\\d)(?:\\+|%2B)?${handle.slice(1)}(?!\\d)`, 'gi')
  const [local, domain] = handle.split('@') as [string, string]
  return new RegExp(`(?<![\\w.+-])${escaped(local)}(?:@|%40)${escaped(domain)}(?![\\w-]|\\.\\w)`, 'gi')
}

/** A pattern for SQL's like, in small letters. It also matches other texts. */
export function likeOf(handle: string): string {
  return isEmail(handle) ? `%${handle.replace('@', '%')}%` : `%${handle.slice(1)}%`
}

/** The part of the address that may be kept, so that people recognise the request. */
export function hintOf(handle: string): string {
  return isEmail(handle) ? 'an e-mail address' : `…${handle.slice(-4)}`
}

/** Replaces the address in a text, also in the strings and names of a JSON text, which stays JSON. */
export function replaceIn(text: string, person: Person): string {
  const pattern = patternOf(person.handle)
  if (!pattern.test(text)) return text
  pattern.lastIndex = 0
  const replaced = (value: string) =>
    value.replace(pattern, (found) => (found.length === value.length ? person.mark : ERASED))
  if (!/^\s*[{[]/.test(text)) return replaced(text)
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return replaced(text)
  }
  return JSON.stringify(replaceDeep(json, replaced))
}

function replaceDeep(value: unknown, replaced: (text: string) => string): unknown {
  if (typeof value === 'string') return replaced(value)
  if (typeof value === 'number') {
    const text = replaced(String(value))
    return text === String(value) ? value : text
  }
  if (Array.isArray(value)) return value.map((one) => replaceDeep(one, replaced))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [replaced(name), replaceDeep(one, replaced)]),
  )
}
