import { createContext, Script } from 'node:vm'
import { AppError } from './errors.js'

/** Limits of text length and time, because some patterns take exponential time. The time allows for a busy machine. */
const MAX_PATTERN_CHARS = 200
const MAX_SEARCHED_CHARS = 2000
const MAX_MS = 500

/** Runs in a VM context, where a pattern can be interrupted. Only strings go in and out. */
const room = createContext(Object.create(null))
const search = new Script(`(() => {
  const wanted = new RegExp(pattern)
  return JSON.stringify(JSON.parse(texts).map((text) => {
    const found = wanted.exec(text)
    return found && { whole: found[0], group: found[1] ?? null, named: found.groups ?? {} }
  }))
})()`)

export interface PatternMatch {
  whole: string
  /** Text of the pattern's first group, if it has one. */
  group: string | null
  /** Texts of the pattern's named groups. */
  named: Record<string, string | undefined>
}

/** A user's regular expression, to search several texts with. Throws if it is invalid. */
export function boundedPattern(
  field: string,
  pattern: string,
  maxMs = MAX_MS,
): (texts: readonly string[]) => (PatternMatch | null)[] {
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
