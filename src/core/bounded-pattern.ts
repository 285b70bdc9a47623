import { createContext, Script } from 'node:vm'
import { AppError } from './errors.js'

/** What a pattern may look at, and how long (a busy machine is no reason to refuse one): some take centuries. */
export const MAX_PATTERN_CHARS = 200
export const MAX_SEARCHED_CHARS = 2000
const MAX_MS = 500

/** Only here can it be stopped. Strings come in and one leaves: nothing of ours is in reach. */
const room = createContext(Object.create(null))
const search = new Script(`(() => {
  const wanted = new RegExp(pattern)
  return JSON.stringify(JSON.parse(texts).map((text) => {
    const found = wanted.exec(text)
    return found && { whole: found[0], group: found[1] ?? null, named: found.groups ?? {} }
  }))
})()`)

export interface Found {
  whole: string
  /** What the first group of the pattern caught, if it has one. */
  group: string | null
  /** What its groups with names caught. */
  named: Record<string, string | undefined>
}

/** Somebody's regular expression, to be looked for in several texts. Fails at once when it is none. */
export function boundedPattern(
  field: string,
  pattern: string,
  maxMs = MAX_MS,
): (texts: readonly string[]) => (Found | null)[] {
  if (pattern.length > MAX_PATTERN_CHARS)
    throw new AppError('invalid', `${field}: at most ${MAX_PATTERN_CHARS} characters`)
  try {
    new RegExp(pattern)
  } catch {
    throw new AppError('invalid', `${field}: is not a regular expression`)
  }
  return (texts) => {
    room.pattern = pattern
    room.texts = JSON.stringify(texts.map((text) => text.slice(0, MAX_SEARCHED_CHARS)))
    try {
      return JSON.parse(search.runInContext(room, { timeout: maxMs }))
    } catch {
      throw new AppError('invalid', `${field}: takes too long; use a simpler pattern`)
    }
  }
}
