import { boundedPattern } from '../../../core/bounded-pattern.js'
import type { ReceiptReader } from './receipt-text.js'

/** Time limit of one match, so that a slow pattern does not block other lines. */
const MAX_MS = 100

/**
 * Reads receipts with the line's own pattern, which has groups named id, stat and err. A pattern that takes too
 * long is dropped for good, and `onTooSlow` is called.
 */
export function patternReader(pattern: string, onTooSlow: () => void): ReceiptReader {
  let search: ReturnType<typeof boundedPattern> | undefined = boundedPattern(
    'receipt_pattern',
    pattern,
    MAX_MS,
  )
  return (text) => {
    if (!search) return undefined
    try {
      const named = search([text])[0]?.named
      if (!named?.id) return undefined
      const { id, stat, err } = named
      return { id: id.slice(0, 65), ...(stat ? { stat: stat.toUpperCase() } : {}), ...(err ? { err } : {}) }
    } catch {
      search = undefined
      onTooSlow()
      return undefined
    }
  }
}
