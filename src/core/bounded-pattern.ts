import { type PatternMatch, searchApart } from '../base/pattern-thread.js'
import { AppError } from './errors.js'

const MAX_PATTERN_CHARS = 200
/** Characters of a text that are searched. */
export const MAX_SEARCHED_CHARS = 2000
/** A sensible pattern takes less than a millisecond; the rest is for a busy machine. */
const MAX_MS = 1000

export type BoundedSearch = (texts: readonly string[]) => Promise<(PatternMatch | null)[]>

/**
 * A user's regular expression, to search several texts with. Throws if it is invalid; the search rejects if it takes
 * too long. Searches of different owners take turns. `names` are the named groups to return.
 */
export function boundedPattern(
  owner: string,
  field: string,
  pattern: string,
  names: readonly string[] = [],
): BoundedSearch {
  if (pattern.length > MAX_PATTERN_CHARS)
    throw new AppError('invalid', `${field}: at most ${MAX_PATTERN_CHARS} characters`)
  try {
    new RegExp(pattern)
  } catch {
    throw new AppError('invalid', `${field}: is not a regular expression`)
  }
  return async (texts) => {
    const searched = texts.map((text) => text.slice(0, MAX_SEARCHED_CHARS))
    const found = await searchApart(owner, { pattern, texts: searched, names, maxMs: MAX_MS })
    if (!found) throw new AppError('invalid', `${field}: takes too long; use a simpler pattern`)
    return found
  }
}
